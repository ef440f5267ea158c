"""The wire format of Google's generateContent: its addresses, headers and model list.

Requests are built in `google_request`, answers read in `google_stream`.
"""

from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.core.ports import ChatRequest
from skales.providers.catalog import ProviderEntry
from skales.providers.formats.google_request import build_body, concede
from skales.providers.formats.google_stream import GoogleReader
from skales.providers.formats.wire import AnswerContext, AnswerReader, ListedModel

_PAGE = "/models?pageSize=1000"
_PREFIX = "models/"


class GoogleFormat(Struct, frozen=True):
    """See WireFormat."""

    models_path: str = _PAGE

    def chat_path(self, model: str) -> str:
        """The model's own address; ids may be typed as Google's list spells them, with `models/`."""
        name = model if model.startswith("tunedModels/") else _PREFIX + model.removeprefix(_PREFIX)
        return f"/{quote(name)}:streamGenerateContent?alt=sse"

    def headers(self, key: str) -> Mapping[str, str]:
        """The key in Google's own header; in the address it would end up in logs."""
        return {"x-goog-api-key": key} if key else {}

    def build_body(self, entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:  # noqa: ARG002 - no quirks
        """The body of a streaming request."""
        return build_body(request, conceded)

    def concede(self, body: JsonObject, refusal: str) -> str:
        """The optional field that a refusal is about."""
        return concede(body, refusal)

    def open_reader(self, context: AnswerContext) -> AnswerReader:
        """A reader for one response."""
        return GoogleReader(context)

    def read_models(self, answer: JsonValue) -> list[ListedModel]:
        """The models under `models` that chat, without their prefix."""
        found: dict[str, ListedModel] = {}
        for row in map(as_object, as_list(as_object(answer).get("models"))):
            name = as_text(row.get("name")).removeprefix(_PREFIX)
            methods = row.get("supportedGenerationMethods")
            if name and (methods is None or "generateContent" in as_list(methods)):
                found.setdefault(name, ListedModel(name, max(as_int(row.get("inputTokenLimit")), 0)))
        return list(found.values())

    def next_page(self, answer: JsonValue) -> str:
        """The path of the page after this one."""
        token = as_text(as_object(answer).get("nextPageToken"))
        return f"{_PAGE}&pageToken={quote(token, safe='')}" if token else ""
