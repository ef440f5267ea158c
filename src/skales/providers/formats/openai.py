"""The wire format of OpenAI's chat completions, which most endpoints speak: its addresses, headers and model list.

Requests are built in `openai_request`, answers read in `openai_stream`.
"""

from collections.abc import Mapping

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.core.ports import ChatRequest
from skales.providers.catalog import ProviderEntry
from skales.providers.formats.openai_request import build_body, concede
from skales.providers.formats.openai_stream import OpenAIReader
from skales.providers.formats.wire import AnswerContext, AnswerReader, ListedModel

# How endpoints spell the context window in their model list; the format itself has no field for it.
_WINDOW_NAMES = ("context_length", "max_model_len", "context_window", "max_context_length", "n_ctx")


class OpenAIFormat(Struct, frozen=True):
    """See WireFormat."""

    models_path: str = "/models"

    def chat_path(self, model: str) -> str:  # noqa: ARG002 - the body names the model
        """The same for every model."""
        return "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        """A bearer token, or nothing."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def build_body(self, entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
        """The body of a streaming chat request."""
        return build_body(entry, request, conceded)

    def concede(self, body: JsonObject, refusal: str) -> str:
        """The optional field that a refusal names."""
        return concede(body, refusal)

    def open_reader(self, context: AnswerContext) -> AnswerReader:
        """A reader for one response."""
        return OpenAIReader(context)

    def read_models(self, answer: JsonValue) -> list[ListedModel]:
        """The list under `data`, under `models`, or the answer itself."""
        table = as_object(answer)
        rows = as_list(table.get("data")) or as_list(table.get("models")) or as_list(answer)
        found: dict[str, ListedModel] = {}
        for row in rows:
            model = _read_model(row)
            if model.id:
                found.setdefault(model.id, model)
        return list(found.values())

    def next_page(self, answer: JsonValue) -> str:  # noqa: ARG002 - the format knows no pages
        """Never another one."""
        return ""


def _read_model(row: JsonValue) -> ListedModel:
    if isinstance(row, str):
        return ListedModel(row)
    fields = as_object(row)
    name = as_text(fields.get("id")) or as_text(fields.get("model")) or as_text(fields.get("name"))
    places = (fields, as_object(fields.get("meta")))
    windows = (as_int(place.get(spelling)) for place in places for spelling in _WINDOW_NAMES)
    return ListedModel(name, next((window for window in windows if window > 0), 0))
