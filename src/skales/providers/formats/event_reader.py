"""The frame of reading an answer that comes as JSON events, whole or cut, for the formats that share it.

What an event means, and what a finished answer consists of, is the business of each format. Chat completions have a
reader of their own, since their imitators keep to no frame.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from skales.core.errors import ProviderError
from skales.core.json import JsonObject, JsonValue
from skales.core.ports import FinishReason, ProviderEvent, ReasoningPiece, TextPiece
from skales.providers.complaints import find_error
from skales.providers.faults import cut_fault, stream_fault
from skales.providers.formats.chunks import find_stray_error, parse_body, parse_event
from skales.providers.formats.surrogates import HalfJoiner
from skales.providers.formats.wire import AnswerContext
from skales.providers.sse import ServerEvent


class EventReader(ABC):
    """State of one answer; see AnswerReader."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._text = HalfJoiner()
        self._thinking = HalfJoiner()
        self._reason: FinishReason | None = None
        self._has_events = False
        self._is_ending = False
        self.is_done = False

    @abstractmethod
    def _read_chunk(self, chunk: JsonObject) -> Iterator[ProviderEvent]:
        """What one object of the stream adds. Raises ProviderError for an error in it."""

    @abstractmethod
    def _read_whole(self, answer: JsonObject, stray: str) -> Iterator[ProviderEvent]:
        """An answer that was not streamed. Raises ProviderError when it is none."""

    @abstractmethod
    def _conclude(self) -> Iterator[ProviderEvent]:
        """Everything that only a whole answer gives, ending with Finished."""

    @property
    def has_reason(self) -> bool:
        """Whether the model said why it stopped."""
        return self._reason is not None

    def feed(self, event: ServerEvent) -> Iterator[ProviderEvent]:
        """What one event of the stream adds."""
        chunks = parse_event(event.data, self._context.peer, is_last=self._is_ending)
        if event.name == "error" and not any(map(find_error, chunks)):
            raise self._failure(chunks[0] if chunks else event.data)
        for chunk in chunks:
            yield from self._read_chunk(chunk)

    def flush(self) -> Iterator[ProviderEvent]:
        """Half a character that nothing followed."""
        if thought := self._thinking.finish():
            yield ReasoningPiece(thought)
        if text := self._text.finish():
            yield TextPiece(text)

    def finish(self, tail: Sequence[ServerEvent], stray: str) -> Iterator[ProviderEvent]:
        """What the end of the body adds; tool calls come only here, so that none of a broken answer is run."""
        self._is_ending = True
        for event in tail:
            yield from self.feed(event)
        if not self._has_events:
            for answer in parse_body(stray, self._context.peer):
                yield from self._read_whole(answer, stray)
        elif stray and not self.has_reason and (error := find_stray_error(stray)):
            raise self._failure(error)
        yield from self.flush()
        if not self.has_reason and not self.is_done:
            raise cut_fault(self._context.peer)
        yield from self._conclude()

    def _show_text(self, text: str) -> Iterator[ProviderEvent]:
        if whole := self._text.feed(text):
            yield TextPiece(whole)

    def _show_thought(self, text: str) -> Iterator[ProviderEvent]:
        if whole := self._thinking.feed(text):
            yield ReasoningPiece(whole)

    def _failure(self, error: JsonValue) -> ProviderError:
        return stream_fault(self._context.peer, error, self._context.now_ms())
