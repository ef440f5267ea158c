"""The wire format of Anthropic's Messages API: its addresses, headers and model list.

Requests are built in `anthropic_request`, answers read in `anthropic_stream`.
"""

from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.core.ports import ChatRequest
from skales.providers.catalog import ProviderEntry
from skales.providers.formats.anthropic_request import build_body, concede
from skales.providers.formats.anthropic_stream import AnthropicReader
from skales.providers.formats.wire import AnswerContext, AnswerReader, ListedModel

# For entries that name none.
_USUAL_VERSION = "2023-06-01"
_PAGE = "/models?limit=1000"


class AnthropicFormat(Struct, frozen=True):
    """See WireFormat. `version` is that of the API, which an entry of the catalogue may name."""

    models_path: str = _PAGE
    version: str = _USUAL_VERSION

    def chat_path(self, model: str) -> str:  # noqa: ARG002 - the body names the model
        """The same for every model."""
        return "/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        """The key in Anthropic's own header, and the version of the API."""
        version = {"anthropic-version": self.version}
        return {**version, "x-api-key": key} if key else version

    def build_body(self, entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
        """The body of a streaming request."""
        return build_body(entry, request, conceded)

    def concede(self, body: JsonObject, refusal: str) -> str:
        """The optional field that a refusal names."""
        return concede(body, refusal)

    def open_reader(self, context: AnswerContext) -> AnswerReader:
        """A reader for one response."""
        return AnthropicReader(context)

    def read_models(self, answer: JsonValue) -> list[ListedModel]:
        """The models under `data` that still answer."""
        rows = [as_object(row) for row in as_list(as_object(answer).get("data"))]
        found: dict[str, ListedModel] = {}
        for row in rows:
            name = as_text(row.get("id"))
            if name and row.get("lifecycle") != "retired":
                found.setdefault(name, ListedModel(name, max(as_int(row.get("max_input_tokens")), 0)))
        return list(found.values())

    def next_page(self, answer: JsonValue) -> str:
        """The path of the page after this one."""
        table = as_object(answer)
        last = as_text(table.get("last_id"))
        return f"{_PAGE}&after_id={quote(last, safe='')}" if table.get("has_more") is True and last else ""
