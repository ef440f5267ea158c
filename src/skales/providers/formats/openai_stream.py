"""Reads an answer in the format of OpenAI's chat completions, streamed or whole, with the habits of its many imitators.

Spec: providers.md, "Rules"; orchestrator.md, "Tool-call hardening".
"""

import json
import logging
from collections.abc import Iterator, Sequence

from skales.core.errors import ProviderError
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text, parse_json
from skales.core.message import Usage
from skales.core.ports import CallReady, Finished, FinishReason, ProviderEvent, ReasoningPiece, UsageCounted
from skales.core.tool import ToolCall
from skales.providers.arguments import parse_arguments
from skales.providers.complaints import find_error
from skales.providers.faults import broken_chunk_fault, cut_fault, no_stream_fault, stream_fault
from skales.providers.formats.chunks import ChoicePicker
from skales.providers.formats.openai_calls import AssembledCall, CallAssembler, is_whole_object
from skales.providers.formats.surrogates import HalfJoiner, join_halves
from skales.providers.formats.thinking import ThinkingSplitter
from skales.providers.formats.wire import AnswerContext
from skales.providers.sse import ServerEvent
from skales.providers.toolnames import map_wire_names

_log = logging.getLogger(__name__)

_DONE = "[DONE]"
# `json.loads` asks five questions about its options for each piece.
_DECODER = json.JSONDecoder()
# Reasons that are not here mean a normal end: every imitator has its own word for it.
_REASONS = {
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
    "content_filtered": FinishReason.FILTERED,
    "safety": FinishReason.FILTERED,
    "sensitive": FinishReason.FILTERED,
    "blacklist": FinishReason.FILTERED,
}
# Where imitators put what a model thinks: as text under one of these names, or in parts.
_REASONING_TEXTS = ("reasoning_content", "reasoning", "thinking")
_REASONING = frozenset({*_REASONING_TEXTS, "reasoning_details"})
_CUT_CALL = (
    "The answer ended before the arguments of this call were complete. "
    "Send the call again, with shorter arguments when they are long."
)


class OpenAIReader:
    """State of one answer; see AnswerReader."""

    def __init__(self, context: AnswerContext) -> None:
        request = context.request
        used = [call for message in request.messages for call in message.tool_calls]
        self._context = context
        self._names = map_wire_names([*(tool.name for tool in request.tools), *(call.name for call in used)])
        self._taken_ids = {call.id for call in used}
        self._choices = ChoicePicker()
        self._calls = CallAssembler(frozenset(self._names))
        self._thinking = ThinkingSplitter()
        self._text = HalfJoiner()
        self._reasoning = HalfJoiner()
        self._reason: FinishReason | None = None
        self._usage: Usage | None = None
        self._is_refusal = False
        self._has_chunks = False
        self._is_ending = False
        self.is_done = False

    @property
    def has_reason(self) -> bool:
        """Whether a finish reason came."""
        return self._reason is not None

    def feed(self, event: ServerEvent) -> Iterator[ProviderEvent]:
        """What one event of the stream adds."""
        if event.data.strip(' "\n') == _DONE:
            self.is_done = True
            return
        chunks = self._parse(event.data)
        if event.name == "error":
            raise self._failure(next(filter(None, map(find_error, chunks)), chunks[0] if chunks else event.data))
        for chunk in chunks:
            yield from self._read_chunk(chunk)

    def flush(self) -> Iterator[ProviderEvent]:
        """Text that was held back because it might have been the start of a tag."""
        yield from self._thinking.feed(self._text.finish())
        yield from self._thinking.finish()

    def finish(self, tail: Sequence[ServerEvent], stray: str) -> Iterator[ProviderEvent]:
        """What the end of the body adds; tool calls come only here, so that none of a broken answer is run."""
        self._is_ending = True
        for event in tail:
            yield from self.feed(event)
        if not self._has_chunks:
            yield from self._read_whole(stray)
        elif stray and self._reason is None:
            self._raise_stray_error(stray)
        yield from self.flush()
        if self._reason is None and not self.is_done:
            raise cut_fault(self._context.peer)
        calls = self._finish_calls()
        yield from (CallReady(call) for call in calls)
        if self._usage is not None:
            yield UsageCounted(self._usage)
        yield Finished(self._final_reason(has_calls=bool(calls)))

    # --- chunks ---

    def _parse(self, data: str) -> Sequence[JsonObject]:
        """The JSON objects of one event: one, except when the blank line between two events is missing."""
        try:
            value, end = _DECODER.raw_decode(data)
        except (ValueError, RecursionError):
            return self._parse_lines(data)
        if end != len(data) and data[end:].strip():
            return self._parse_lines(data)
        if isinstance(value, dict):
            return (value,)
        for item in as_list(value):
            if find_error(as_object(item)):
                raise self._failure(item)
        return ()

    def _parse_lines(self, data: str) -> Sequence[JsonObject]:
        lines = [line for line in data.split("\n") if line.strip()]
        try:
            return [as_object(parse_json(line)) for line in lines]
        except ValueError as error:
            if not data.lstrip().startswith("{"):
                _log.debug("skipped an event that is no JSON: %.80r", data)
                return ()
            if self._is_ending:
                return ()
            raise broken_chunk_fault(self._context.peer) from error

    def _read_chunk(self, chunk: JsonObject) -> Iterator[ProviderEvent]:
        self._has_chunks = True
        choice = self._choices.pick(chunk.get("choices"))
        self._read_usage(chunk, choice)
        delta = choice.get("delta")
        yield from self._read_delta(as_object(choice.get("message") if delta is None else delta))
        reason = as_text(choice.get("finish_reason"))
        # Text beside an error was still said; the error is what counts.
        if error := find_error(chunk) or choice.get("error"):
            raise self._failure(error)
        if reason == "error":
            raise self._failure(choice)
        if reason:
            self._reason = _REASONS.get(reason.lower(), FinishReason.STOP)

    def _read_delta(self, delta: JsonObject) -> Iterator[ProviderEvent]:
        if not _REASONING.isdisjoint(delta):
            yield from self._reason_pieces(_find_reasoning(delta))
        content = delta.get("content")
        if isinstance(content, str):
            yield from self._text_pieces(content)
        else:
            for part in as_list(content):
                yield from self._read_part(as_object(part))
        if refusal := as_text(delta.get("refusal")):
            self._is_refusal = True
            yield from self._text_pieces(refusal)
        if calls := as_list(delta.get("tool_calls")):
            self._calls.feed(calls)
        elif call := as_object(delta.get("function_call")):
            self._calls.feed([{"function": call}])

    def _read_part(self, part: JsonObject) -> Iterator[ProviderEvent]:
        """One part of a content list: text, thinking, or something that is no text."""
        if part.get("type") in ("thinking", "reasoning"):
            yield from self._reason_pieces(_join_texts(part.get("thinking") or part.get("text")))
        else:
            yield from self._text_pieces(as_text(part.get("text")) or as_text(part.get("refusal")))

    def _text_pieces(self, text: str) -> Sequence[ProviderEvent]:
        return self._thinking.feed(self._text.feed(text)) if text else ()

    def _reason_pieces(self, text: str) -> Iterator[ProviderEvent]:
        if text and (whole := self._reasoning.feed(text)):
            yield ReasoningPiece(whole)

    def _read_usage(self, chunk: JsonObject, choice: JsonObject) -> None:
        told = chunk.get("usage") or choice.get("usage")
        if not told and "x_groq" in chunk:
            told = as_object(chunk["x_groq"]).get("usage")
        if counted := as_object(told):
            details = as_object(counted.get("prompt_tokens_details"))
            cached = (
                details.get("cached_tokens") or counted.get("prompt_cache_hit_tokens") or counted.get("cached_tokens")
            )
            self._usage = Usage(
                as_int(counted.get("prompt_tokens")), as_int(counted.get("completion_tokens")), as_int(cached)
            )

    # --- the end ---

    def _read_whole(self, stray: str) -> Iterator[ProviderEvent]:
        """A body that is no event stream: a whole answer, an error, or something else entirely."""
        if not stray:
            return
        try:
            value = parse_json(stray)
        except ValueError as error:
            raise no_stream_fault(self._context.peer, stray) from error
        for item in (value,) if isinstance(value, dict) else as_list(value):
            answer = as_object(item)
            if not answer.get("choices") and not find_error(answer):
                raise no_stream_fault(self._context.peer, stray)
            yield from self._read_chunk(answer)
        # The JSON is whole, so the answer is, whether or not it says why it ends.
        self.is_done = self._has_chunks

    def _raise_stray_error(self, stray: str) -> None:
        try:
            value = as_object(parse_json(stray))
        except ValueError:
            _log.debug("skipped text outside the event stream: %.80r", stray)
            return
        if error := find_error(value):
            raise self._failure(error)

    def _finish_calls(self) -> list[ToolCall]:
        calls = self._calls.finish()
        is_cut = self._reason in (None, FinishReason.LENGTH, FinishReason.FILTERED)
        return [self._finish_call(call, is_cut=is_cut and call is calls[-1]) for call in calls]

    def _finish_call(self, call: AssembledCall, *, is_cut: bool) -> ToolCall:
        raw = join_halves(call.arguments)
        arguments, problem = parse_arguments(raw)
        if is_cut and not problem and not is_whole_object(raw) and (raw.strip() or self._reason is not None):
            arguments, problem = {}, _CUT_CALL
        if not call.name:
            arguments, problem = {}, "The call names no tool. Send it again with the name of a tool."
        name = self._names.get(call.name, call.name) or "unnamed_tool"
        return ToolCall(self._unique_id(call.id), name, arguments, problem, raw)

    def _unique_id(self, wanted: str) -> str:
        """The endpoint's id, or a new one when there is none or it was used before in this conversation."""
        call_id = wanted
        while not call_id or call_id in self._taken_ids:
            call_id = f"call_{self._context.ids.token(16)}"
        self._taken_ids.add(call_id)
        return call_id

    def _final_reason(self, *, has_calls: bool) -> FinishReason:
        """The reason, made consistent with what came: endpoints say `stop` beside calls and `tool_calls` without."""
        match self._reason:
            case FinishReason.LENGTH | FinishReason.FILTERED:
                return self._reason
            case _ if has_calls:
                return FinishReason.TOOL_CALLS
            case _:
                return FinishReason.FILTERED if self._is_refusal else FinishReason.STOP

    def _failure(self, error: JsonValue) -> ProviderError:
        return stream_fault(self._context.peer, error, self._context.now_ms())


def _find_reasoning(delta: JsonObject) -> str:
    """Thinking under whichever name; endpoints that send it under two send the same text twice."""
    for name in _REASONING_TEXTS:
        if text := as_text(delta.get(name)):
            return text
    return _join_texts(delta.get("reasoning_details"))


def _join_texts(value: JsonValue) -> str:
    """Text that may be a string or a list of parts."""
    if isinstance(value, str):
        return value
    parts = [as_object(part) for part in as_list(value)]
    return "".join(as_text(part.get("text")) or as_text(part.get("summary")) for part in parts)
