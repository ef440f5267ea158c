"""Reads an answer in the format of Anthropic's Messages API, streamed or whole.

Thinking is signed block by block, so the blocks are kept as they came and handed out once, with the finished answer.
Spec: https://platform.claude.com/docs/en/build-with-claude/streaming
"""

import json
from collections.abc import Iterator

from msgspec import Struct, field

from skales.core.json import JsonObject, as_int, as_list, as_object, as_text
from skales.core.message import Usage
from skales.core.ports import (
    CallReady,
    Finished,
    FinishReason,
    NativeBlocks,
    ProviderEvent,
    ReasoningPiece,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import ToolCall
from skales.providers.arguments import parse_arguments
from skales.providers.complaints import find_error
from skales.providers.faults import no_stream_fault
from skales.providers.formats.calls import CUT_CALL, CallMaker
from skales.providers.formats.event_reader import EventReader
from skales.providers.formats.openai_calls import is_whole_object
from skales.providers.formats.surrogates import join_halves
from skales.providers.formats.wire import AnswerContext

FORMAT = "anthropic"

# Reasons that are not here mean a normal end.
_REASONS = {
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.FILTERED,
}
_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
# Which field of a block a delta adds to.
_GROWS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
}
_PLAIN = frozenset({"text", "tool_use"})


class _Block(Struct):
    """A content block while it streams: how it began, and what was added to its fields."""

    start: JsonObject
    added: dict[str, list[str]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return as_text(self.start.get("type"))

    def whole(self, name: str) -> str:
        return join_halves("".join([as_text(self.start.get(name)), *self.added.get(name, ())]))

    def arguments_text(self) -> str:
        """The arguments as the model wrote them; endpoints that do not stream them begin the block with them."""
        given = self.start.get("input")
        return self.whole("partial_json") or (json.dumps(given, ensure_ascii=False) if given else "")


class AnthropicReader(EventReader):
    """State of one answer; see AnswerReader."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._maker = CallMaker(context)
        self._blocks: dict[int, _Block] = {}
        self._open: dict[int, int] = {}
        self._thinking_number: int | None = None
        self._counts: dict[str, int] = {}

    # --- events ---

    def _read_chunk(self, chunk: JsonObject) -> Iterator[ProviderEvent]:
        if error := find_error(chunk):
            raise self._failure(error)
        self._has_events = True
        match chunk.get("type"):
            case "message_start":
                self._count(as_object(as_object(chunk.get("message")).get("usage")))
            case "content_block_start":
                yield from self._start_block(as_int(chunk.get("index")), as_object(chunk.get("content_block")))
            case "content_block_delta":
                yield from self._grow_block(as_int(chunk.get("index")), as_object(chunk.get("delta")))
            case "message_delta":
                self._count(as_object(chunk.get("usage")))
                self._read_reason(as_object(chunk.get("delta")))
            case "message_stop":
                self.is_done = True
            case _:
                # Pings, ends of blocks, and kinds of events that are added over time.
                pass

    def _start_block(self, index: int, start: JsonObject) -> Iterator[ProviderEvent]:
        """A block begins. Its number is ours, since some imitators give all the same index."""
        number = self._open[index] = len(self._blocks)
        self._blocks[number] = _Block(start)
        yield from self._show(number, "text", as_text(start.get("text")))
        yield from self._show(number, "thinking", as_text(start.get("thinking")))

    def _grow_block(self, index: int, delta: JsonObject) -> Iterator[ProviderEvent]:
        if (grown := _GROWS.get(as_text(delta.get("type")))) is None:
            return
        kind, name = grown
        given = delta.get(name)
        piece = json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else as_text(given)
        # Some imitators send no start of a block.
        number = self._open.setdefault(index, len(self._blocks))
        block = self._blocks.setdefault(number, _Block({"type": kind}))
        block.added.setdefault(name, []).append(piece)
        yield from self._show(number, name, piece)

    def _show(self, number: int, name: str, piece: str) -> Iterator[ProviderEvent]:
        if name == "text" and (text := self._text.feed(piece)):
            yield TextPiece(text)
        elif name == "thinking" and (thought := self._thinking.feed(piece)):
            if self._thinking_number not in (None, number):
                thought = f"\n\n{thought}"
            self._thinking_number = number
            yield ReasoningPiece(thought)

    def _read_reason(self, delta: JsonObject) -> None:
        if reason := as_text(delta.get("stop_reason")):
            self._reason = _REASONS.get(reason, FinishReason.STOP)

    def _count(self, usage: JsonObject) -> None:
        """Counts are totals; a later one that is missing or null leaves the earlier one."""
        self._counts.update({name: as_int(usage[name]) for name in _COUNTS if usage.get(name) is not None})

    def _read_whole(self, answer: JsonObject, stray: str) -> Iterator[ProviderEvent]:
        """An answer that was not streamed."""
        if not find_error(answer) and not isinstance(answer.get("content"), list):
            raise no_stream_fault(self._context.peer, stray)
        yield from self._read_chunk({**answer, "type": "message"})
        for index, block in enumerate(as_list(answer.get("content"))):
            yield from self._start_block(index, as_object(block))
        self._count(as_object(answer.get("usage")))
        self._read_reason(answer)
        self.is_done = True

    # --- the end ---

    def _conclude(self) -> Iterator[ProviderEvent]:
        calls = {index: self._finish_call(index) for index in self._blocks if self._blocks[index].kind == "tool_use"}
        yield from (CallReady(call) for call in calls.values())
        reason = self._final_reason(has_calls=bool(calls))
        if reason in (FinishReason.STOP, FinishReason.TOOL_CALLS):
            blocks = [block for index in self._blocks if (block := self._finish_block(index, calls.get(index)))]
            if any(as_text(block.get("type")) not in _PLAIN for block in blocks):
                yield NativeBlocks(FORMAT, tuple(blocks))
        if self._counts:
            yield UsageCounted(self._usage())
        yield Finished(reason)

    def _finish_call(self, index: int) -> ToolCall:
        block = self._blocks[index]
        raw = block.arguments_text()
        arguments, problem = parse_arguments(raw)
        may_be_cut = self._reason in (FinishReason.LENGTH, FinishReason.FILTERED) and index == list(self._blocks)[-1]
        if may_be_cut and not is_whole_object(raw):
            arguments, problem = {}, CUT_CALL
        return self._maker.make(
            as_text(block.start.get("id")), as_text(block.start.get("name")), arguments, problem, raw
        )

    def _finish_block(self, index: int, call: ToolCall | None) -> JsonObject:
        """The block as it goes back; empty for what the endpoint would refuse: blank text, unsigned thinking."""
        block = self._blocks[index]
        match block.kind:
            case "tool_use" if call is not None:
                return {**block.start, "input": call.arguments}
            case "text":
                text = block.whole("text")
                return {**block.start, "text": text} if text.strip() else {}
            case "thinking":
                signature = block.whole("signature")
                thinking = block.whole("thinking")
                return {**block.start, "thinking": thinking, "signature": signature} if signature else {}
            case _:
                return block.start

    def _final_reason(self, *, has_calls: bool) -> FinishReason:
        """The reason, made consistent with what came."""
        match self._reason:
            case FinishReason.LENGTH | FinishReason.FILTERED:
                return self._reason
            case _:
                return FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP

    def _usage(self) -> Usage:
        """Anthropic counts what it read from and wrote to its cache beside the input; for us it is part of it."""
        count = self._counts.get
        cached = count("cache_read_input_tokens", 0)
        sent = count("input_tokens", 0) + cached + count("cache_creation_input_tokens", 0)
        return Usage(sent, count("output_tokens", 0), cached)
