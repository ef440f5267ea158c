"""What a wire format must do: build a request, read an answer. Connections, retries and statuses are not its business.

A new format is one module with these functions and a line in `provider.ADAPTERS`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue
from skales.core.ports import ChatRequest, ProviderEvent
from skales.providers.catalog import ProviderEntry
from skales.providers.faults import Peer
from skales.providers.sse import ServerEvent


class AnswerContext(Struct, frozen=True, kw_only=True):
    """What reading one answer needs to know: the question, who is asked, and where new call ids come from."""

    request: ChatRequest
    peer: Peer
    ids: IdSource
    now_ms: Callable[[], int]


class ListedModel(Struct, frozen=True):
    """A model an endpoint offers; `context_tokens` is 0 when it does not say."""

    id: str
    context_tokens: int = 0


class AnswerReader(Protocol):
    """Turns the events of one response into provider events."""

    @property
    def has_reason(self) -> bool:
        """Whether the model said why it stopped; only bookkeeping may follow."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether the terminator came; nothing may follow."""
        ...

    def feed(self, event: ServerEvent) -> Iterator[ProviderEvent]:
        """What this event adds. Raises ProviderError for an error or a damaged event, after what came before it."""
        ...

    def flush(self) -> Iterator[ProviderEvent]:
        """Text that was held back, for an answer that goes no further."""
        ...

    def finish(self, tail: Sequence[ServerEvent], stray: str) -> Iterator[ProviderEvent]:
        """What the end of the body adds, ending with Finished. Raises ProviderError when the answer is not whole.

        `tail` is what an unfinished last event held, `stray` what stood outside the event stream.
        """
        ...


class WireFormat(Protocol):
    """The shape of requests and answers of one family of endpoints."""

    @property
    def models_path(self) -> str:
        """Where the model list is, below the base URL."""
        ...

    def chat_path(self, model: str) -> str:
        """Where requests to a model go, below the base URL."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """Headers that carry the key; none for an empty one."""
        ...

    def build_body(self, entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
        """The request body without the fields that were conceded."""
        ...

    def concede(self, body: JsonObject, refusal: str) -> str:
        """The optional field of the body that the endpoint's refusal is about; empty when it is about none."""
        ...

    def open_reader(self, context: AnswerContext) -> AnswerReader:
        """A reader for one response."""
        ...

    def read_models(self, answer: JsonValue) -> list[ListedModel]:
        """The models in the answer of `models_path`, in its order, each once."""
        ...

    def next_page(self, answer: JsonValue) -> str:
        """Where the list goes on after this answer, below the base URL; empty at its end."""
        ...
