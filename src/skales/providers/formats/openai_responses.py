"""The wire format of OpenAI's Responses, which a ChatGPT sign-in speaks: its addresses, headers and model list.

Requests are built in `openai_responses_request`, answers read in `openai_responses_stream`.
"""

import base64
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from skales.core.json import JsonObject, JsonValue, as_object, as_text, parse_json
from skales.core.ports import ChatRequest
from skales.providers.catalog import ProviderEntry
from skales.providers.formats.openai import OpenAIFormat
from skales.providers.formats.openai_responses_request import build_body, concede
from skales.providers.formats.openai_responses_stream import ResponsesReader
from skales.providers.formats.wire import AnswerContext, AnswerReader, ListedModel


class ResponsesFormat(Struct, frozen=True):
    """See WireFormat. `prefix` stands between the base URL and the paths of the format.

    A token may say which account it is for; `account_header` repeats what stands under `account_claim` in it.
    """

    prefix: str = ""
    account_header: str = ""
    account_claim: tuple[str, ...] = field(default=())

    @property
    def models_path(self) -> str:
        """Where the model list is."""
        return f"{self.prefix}/models"

    def chat_path(self, model: str) -> str:  # noqa: ARG002 - the body names the model
        """The same for every model."""
        return f"{self.prefix}/responses"

    def headers(self, key: str) -> Mapping[str, str]:
        """A bearer token, or nothing."""
        account = read_claim(key, self.account_claim) if self.account_header else ""
        named = {self.account_header: account} if account else {}
        return {"Authorization": f"Bearer {key}", **named} if key else {}

    def build_body(self, entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:  # noqa: ARG002 - no quirks
        """The body of a streaming request."""
        return build_body(request, conceded)

    def concede(self, body: JsonObject, refusal: str) -> str:
        """What of the body a refusal is about."""
        return concede(body, refusal)

    def open_reader(self, context: AnswerContext) -> AnswerReader:
        """A reader for one response."""
        return ResponsesReader(context)

    def read_models(self, answer: JsonValue) -> list[ListedModel]:
        """As in chat completions, whose list it is."""
        return OpenAIFormat().read_models(answer)

    def next_page(self, answer: JsonValue) -> str:  # noqa: ARG002 - the format knows no pages
        """Never another one."""
        return ""


def read_claim(token: str, path: Sequence[str]) -> str:
    """A text inside a JSON Web Token, which is read and not verified: it goes back to where it came from.

    Empty for a token of another kind.
    """
    _, _, rest = token.partition(".")
    payload = rest.partition(".")[0]
    try:
        value: JsonValue = parse_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode("utf-8"))
    except ValueError:
        return ""
    for name in path:
        value = as_object(value).get(name)
    text = as_text(value)
    # It becomes a header.
    return text if text.isascii() and text.isprintable() else ""
