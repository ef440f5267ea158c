"""Reads an answer in the format of Google's generateContent, streamed or whole.

A thought signature belongs to the part it came on, also when that part is empty, so the parts are kept as they came and
handed out once, with the finished answer. Spec: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import json
import re
from collections.abc import Iterator, Mapping

from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.core.message import Usage
from skales.core.ports import (
    CallReady,
    Finished,
    FinishReason,
    NativeBlocks,
    ProviderEvent,
    UsageCounted,
)
from skales.core.tool import ToolCall, ToolSpec
from skales.providers.arguments import parse_arguments
from skales.providers.complaints import find_error
from skales.providers.faults import no_stream_fault
from skales.providers.formats.calls import CallMaker
from skales.providers.formats.chunks import ChoicePicker
from skales.providers.formats.event_reader import EventReader
from skales.providers.formats.google_schema import translate_parameters
from skales.providers.formats.surrogates import join_halves
from skales.providers.formats.wire import AnswerContext
from skales.providers.toolnames import to_wire_name

FORMAT = "google"

# A normal end, or one of these; words that Google adds later count as a normal end when something was said.
_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "CONTINUATION": FinishReason.LENGTH,
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT"), FinishReason.FILTERED),
    **dict.fromkeys(("SPII", "ESCALATION", "MODEL_ARMOR", "IMAGE_SAFETY"), FinishReason.FILTERED),
    **dict.fromkeys(("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), FinishReason.FILTERED),
}
# The model broke off; asking again usually helps.
_BROKEN = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE"}
)
_LEGAL_START = re.compile(r"[A-Za-z_]")


def spell_name(name: str) -> str:
    """A tool's name as it goes out: as for others, but never with a digit or a dash in front."""
    return to_wire_name(name if _LEGAL_START.match(name) else f"_.{name}")


class GoogleReader(EventReader):
    """State of one answer; see AnswerReader."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._maker = CallMaker(context, spell_name)
        self._tools: Mapping[str, ToolSpec] = {tool.name: tool for tool in reversed(context.request.tools)}
        self._candidates = ChoicePicker()
        self._parts: list[dict[str, JsonValue]] = []
        self._word = ""
        self._said = ""
        self._usage: Usage | None = None

    # --- chunks ---

    def _read_chunk(self, chunk: JsonObject) -> Iterator[ProviderEvent]:
        self._has_events = True
        candidate = self._candidates.pick(chunk.get("candidates"))
        for part in as_list(as_object(candidate.get("content")).get("parts")):
            yield from self._read_part(_tidy_part(as_object(part)))
        # Text beside an error was still said; the error is what counts.
        if error := find_error(chunk):
            raise self._failure(error)
        if usage := as_object(chunk.get("usageMetadata")):
            self._count(usage)
        self._read_reason(as_text(candidate.get("finishReason")), as_text(candidate.get("finishMessage")))
        if as_text(as_object(chunk.get("promptFeedback")).get("blockReason")) and not as_list(chunk.get("candidates")):
            self._reason = FinishReason.FILTERED

    def _read_part(self, part: JsonObject) -> Iterator[ProviderEvent]:
        self._keep(part)
        text = as_text(part.get("text"))
        yield from self._show_thought(text) if part.get("thought") is True else self._show_text(text)

    def _keep(self, part: JsonObject) -> None:
        """Pieces of text join their neighbour; what carries a signature stays a part of its own."""
        if set(part) - {"text", "thought"} or not self._parts or not _is_piece_of(part, self._parts[-1]):
            self._parts.append(dict(part))
        else:
            self._parts[-1]["text"] = as_text(self._parts[-1].get("text")) + as_text(part.get("text"))

    def _read_reason(self, word: str, said: str) -> None:
        if word and word != "FINISH_REASON_UNSPECIFIED":
            self._word, self._said = word, said
            self._reason = _REASONS.get(word, FinishReason.STOP)

    def _count(self, usage: JsonObject) -> None:
        """Thinking is counted beside the answer there; for us it is part of it, as it is part of the bill."""
        sent = as_int(usage.get("promptTokenCount")) + as_int(usage.get("toolUsePromptTokenCount"))
        written = as_int(usage.get("candidatesTokenCount")) + as_int(usage.get("thoughtsTokenCount"))
        self._usage = Usage(sent, written, as_int(usage.get("cachedContentTokenCount")))

    def _read_whole(self, answer: JsonObject, stray: str) -> Iterator[ProviderEvent]:
        if not find_error(answer) and not {"candidates", "promptFeedback", "usageMetadata"} & answer.keys():
            raise no_stream_fault(self._context.peer, stray)
        yield from self._read_chunk(answer)

    # --- the end ---

    def _conclude(self) -> Iterator[ProviderEvent]:
        reason = self._reason
        assert reason is not None, "an answer without a reason is cut"
        calls = [self._finish_call(part) for part in self._parts if "functionCall" in part]
        if self._word in _BROKEN or (self._word not in ("", *_REASONS) and not calls and not self._has_text()):
            raise self._broken()
        yield from (CallReady(call) for call in calls)
        if reason is FinishReason.STOP:
            yield from self._hand_out()
        if self._usage is not None:
            yield UsageCounted(self._usage)
        yield Finished(FinishReason.TOOL_CALLS if calls and reason is FinishReason.STOP else reason)

    def _has_text(self) -> bool:
        return any(as_text(part.get("text")) and not part.get("thought") for part in self._parts)

    def _finish_call(self, part: JsonObject) -> ToolCall:
        given = as_object(part.get("functionCall"))
        wire_name = as_text(given.get("name"))
        wire_arguments = as_object(given.get("args"))
        # Text that could not be read as an object.
        problem = parse_arguments(unread)[1] if (unread := as_text(given.get("args"))) else ""
        arguments = wire_arguments
        tool = self._tools.get(self._maker.name(wire_name))
        if tool and not problem:
            try:
                arguments = as_object(translate_parameters(tool.parameters).turn_back(wire_arguments))
            except ValueError as error:
                problem = f"The arguments cannot be used: {error}. Send the call again with arguments that fit."
        raw = json.dumps(arguments, ensure_ascii=False)
        return self._maker.make(as_text(given.get("id")), wire_name, arguments, problem, raw)

    def _hand_out(self) -> Iterator[ProviderEvent]:
        """The parts as they go back. Thoughts without a signature need not, and empty text without one may not."""
        kept = [part for part in map(_join_part, self._parts) if _is_wanted(part)]
        if any(set(part) - {"text"} for part in kept):
            yield NativeBlocks(FORMAT, tuple(kept))

    def _broken(self) -> ProviderError:
        peer = self._context.peer
        said = f": {peer.conceal(self._said)}".rstrip(". ") if self._said else ""
        return ProviderError(
            f"{peer.label} at {peer.address} broke its answer off ({self._word}){said}",
            fault=ProviderFault.BAD_ANSWER,
            hint="Ask again, or choose another model or provider",
            retryable=True,
        )


def _tidy_part(part: JsonObject) -> JsonObject:
    """The part without what is null, and with arguments as the object that they are, also where a proxy made text."""
    tidy = {key: value for key, value in part.items() if value is not None}
    if "functionCall" in tidy:
        call = {key: value for key, value in as_object(tidy["functionCall"]).items() if value is not None}
        if isinstance(call.get("args"), str):
            arguments, problem = parse_arguments(as_text(call["args"]))
            call["args"] = call["args"] if problem else arguments
        tidy["functionCall"] = call
    return tidy


def _is_piece_of(part: JsonObject, before: JsonObject) -> bool:
    return not set(before) - {"text", "thought"} and bool(part.get("thought")) == bool(before.get("thought"))


def _join_part(part: JsonObject) -> JsonObject:
    call = as_object(part.get("functionCall"))
    if isinstance(call.get("args"), str):
        # Could not be read, and would be refused.
        return {**part, "functionCall": {**call, "args": {}}}
    return {**part, "text": join_halves(as_text(part["text"]))} if "text" in part else part


def _is_wanted(part: JsonObject) -> bool:
    return bool(set(part) - {"text", "thought"}) or (bool(as_text(part.get("text"))) and not part.get("thought"))
