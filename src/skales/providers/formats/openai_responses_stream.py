"""Reads an answer in the format of OpenAI's Responses, streamed or whole.

The answer is a list of items. Thinking comes encrypted and is wanted back at its place, so the items are kept and
handed out once, with the finished answer. Spec: https://platform.openai.com/docs/api-reference/responses-streaming
"""

from collections.abc import Iterator

from msgspec import Struct, field

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.core.message import Usage
from skales.core.ports import CallReady, Finished, FinishReason, NativeBlocks, ProviderEvent, UsageCounted
from skales.core.tool import ToolCall
from skales.providers.arguments import parse_arguments
from skales.providers.complaints import find_error
from skales.providers.faults import no_stream_fault
from skales.providers.formats.calls import CUT_CALL, CallMaker
from skales.providers.formats.event_reader import EventReader
from skales.providers.formats.openai_calls import is_whole_object
from skales.providers.formats.surrogates import join_halves
from skales.providers.formats.wire import AnswerContext

FORMAT = "openai_responses"

# Why an answer is not complete; words that are added later mean that something is missing, too.
_INCOMPLETE = {"content_filter": FinishReason.FILTERED}
_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_THOUGHT_DELTAS = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})


class _Item(Struct):
    """An item of the answer while it streams. `facts` is how it began, later how it ended.

    `shown` is what of it was passed on, `part` the newest part of its summary.
    """

    facts: JsonObject = field(default_factory=dict[str, JsonValue])
    shown: str = ""
    part: int = 0
    arguments: list[str] = field(default_factory=list[str])
    is_whole: bool = False

    @property
    def kind(self) -> str:
        return as_text(self.facts.get("type"))

    def arguments_text(self) -> str:
        """The arguments as the model wrote them; the finished item counts more than its pieces."""
        return join_halves(as_text(self.facts.get("arguments")) or "".join(self.arguments))


class ResponsesReader(EventReader):
    """State of one answer; see AnswerReader."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._maker = CallMaker(context)
        self._items: dict[int, _Item] = {}
        self._thinker: int | None = None
        self._is_refusal = False
        self._usage: Usage | None = None

    # --- events ---

    def _read_chunk(self, chunk: JsonObject) -> Iterator[ProviderEvent]:
        kind = as_text(chunk.get("type"))
        if error := (chunk if kind == "error" else find_error(chunk)):
            raise self._failure(error)
        self._has_events = True
        if kind in _TEXT_DELTAS:
            self._is_refusal = self._is_refusal or kind == "response.refusal.delta"
            yield from self._grow_text(self._item_of(chunk), as_text(chunk.get("delta")))
        elif kind in _THOUGHT_DELTAS:
            yield from self._grow_thought(chunk)
        elif kind in _ENDS:
            yield from self._read_end(kind.removeprefix("response."), as_object(chunk.get("response")))
        else:
            yield from self._read_item_event(kind, chunk)

    def _read_item_event(self, kind: str, chunk: JsonObject) -> Iterator[ProviderEvent]:
        match kind:
            case "response.output_item.added":
                self._item_of(chunk).facts = as_object(chunk.get("item"))
            case "response.output_item.done":
                yield from self._finish_item(self._index_of(chunk), as_object(chunk.get("item")))
            case "response.function_call_arguments.delta":
                self._item_of(chunk).arguments.append(as_text(chunk.get("delta")))
            case "response.function_call_arguments.done":
                item = self._item_of(chunk)
                item.arguments = [as_text(chunk.get("arguments")) or "".join(item.arguments)]
            case _:
                # Signs of life, parts that deltas told already, and kinds of events that are added over time.
                pass

    def _index_of(self, chunk: JsonObject) -> int:
        """Which item an event is about; without a number it is the newest."""
        index = chunk.get("output_index")
        return index if isinstance(index, int) and not isinstance(index, bool) else max(self._items, default=0)

    def _item_of(self, chunk: JsonObject) -> _Item:
        return self._items.setdefault(self._index_of(chunk), _Item())

    def _grow_text(self, item: _Item, text: str) -> Iterator[ProviderEvent]:
        item.shown += text
        yield from self._show_text(text)

    def _grow_thought(self, chunk: JsonObject) -> Iterator[ProviderEvent]:
        """More thinking; a blank line stands between the parts of a summary and between items."""
        index, text = self._index_of(chunk), as_text(chunk.get("delta"))
        item = self._item_of(chunk)
        part = as_int(chunk.get("summary_index"))
        if text and self._thinker is not None and (index, part) != (self._thinker, item.part):
            text = f"\n\n{text}"
        if text:
            self._thinker, item.part = index, part
            item.shown += text
            yield from self._show_thought(text)

    def _finish_item(self, index: int, facts: JsonObject) -> Iterator[ProviderEvent]:
        """The item as it ended, and what of it was not streamed."""
        item = self._items.setdefault(index, _Item())
        if item.is_whole or not facts:
            return
        item.facts, item.is_whole = facts, True
        match item.kind:
            case "message":
                self._is_refusal = self._is_refusal or any(
                    as_object(part).get("type") == "refusal" for part in as_list(facts.get("content"))
                )
                yield from self._grow_text(item, "" if item.shown else _message_text(facts))
            case "reasoning" if not item.shown and (thought := _thought_text(facts)):
                yield from self._grow_thought({"output_index": index, "delta": thought})
            case _:
                pass

    def _read_end(self, status: str, response: JsonObject) -> Iterator[ProviderEvent]:
        """The answer as a whole: items that were not streamed, why it ends, what it took."""
        self._read_usage(as_object(response.get("usage")))
        for index, facts in enumerate(as_list(response.get("output"))):
            yield from self._finish_item(index, as_object(facts))
        status = as_text(response.get("status")) or status
        if status in ("failed", "cancelled"):
            raise self._failure(response.get("error") or {"message": f"The answer was {status}"})
        why = as_text(as_object(response.get("incomplete_details")).get("reason"))
        is_incomplete = status == "incomplete" or bool(why)
        self._reason = _INCOMPLETE.get(why, FinishReason.LENGTH) if is_incomplete else FinishReason.STOP
        self.is_done = True

    def _read_usage(self, usage: JsonObject) -> None:
        if usage:
            cached = as_object(usage.get("input_tokens_details")).get("cached_tokens")
            self._usage = Usage(as_int(usage.get("input_tokens")), as_int(usage.get("output_tokens")), as_int(cached))

    def _read_whole(self, answer: JsonObject, stray: str) -> Iterator[ProviderEvent]:
        if not find_error(answer) and not isinstance(answer.get("output"), list):
            raise no_stream_fault(self._context.peer, stray)
        yield from self._read_chunk({**answer, "type": "response"})
        yield from self._read_end("completed", answer)

    # --- the end ---

    def _conclude(self) -> Iterator[ProviderEvent]:
        calls = {index: self._finish_call(index) for index in sorted(self._items) if self._is_call(index)}
        yield from (CallReady(call) for call in calls.values())
        reason = self._final_reason(has_calls=bool(calls))
        if reason in (FinishReason.STOP, FinishReason.TOOL_CALLS):
            yield from self._hand_out()
        if self._usage is not None:
            yield UsageCounted(self._usage)
        yield Finished(reason)

    def _is_call(self, index: int) -> bool:
        item = self._items[index]
        return item.kind == "function_call" or bool(item.arguments)

    def _finish_call(self, index: int) -> ToolCall:
        item = self._items[index]
        raw = item.arguments_text()
        arguments, problem = parse_arguments(raw)
        may_be_cut = self._reason in (FinishReason.LENGTH, FinishReason.FILTERED) and index == max(self._items)
        if may_be_cut and not is_whole_object(raw):
            arguments, problem = {}, CUT_CALL
        call_id = as_text(item.facts.get("call_id")) or as_text(item.facts.get("id"))
        return self._maker.make(call_id, as_text(item.facts.get("name")), arguments, problem, raw)

    def _hand_out(self) -> Iterator[ProviderEvent]:
        """The items as they go back, when there is thinking among them; it may not be the last of them."""
        blocks = [block for index in sorted(self._items) if (block := self._keep_item(index))]
        while blocks and blocks[-1].get("type") == "reasoning":
            blocks.pop()
        if any(block.get("type") == "reasoning" for block in blocks):
            yield NativeBlocks(FORMAT, tuple(blocks))

    def _keep_item(self, index: int) -> JsonObject:
        """The item without what names it at the vendor, where nothing is stored; empty for what cannot go back."""
        item = self._items[index]
        facts = item.facts
        match item.kind:
            case "reasoning" if as_text(facts.get("encrypted_content")):
                return {
                    "type": "reasoning",
                    "id": as_text(facts.get("id")),
                    "summary": [part for part in as_list(facts.get("summary")) if as_object(part)],
                    "encrypted_content": facts["encrypted_content"],
                }
            case "message" if text := join_halves(_message_text(facts) or item.shown):
                phase = {"phase": facts["phase"]} if as_text(facts.get("phase")) else {}
                return {"type": "message", "role": "assistant", "content": text, **phase}
            case _ if self._is_call(index):
                return {"type": "function_call", "name": as_text(facts.get("name")), "arguments": item.arguments_text()}
            case _:
                return {}

    def _final_reason(self, *, has_calls: bool) -> FinishReason:
        """The reason, made consistent with what came."""
        match self._reason:
            case FinishReason.LENGTH | FinishReason.FILTERED:
                return self._reason
            case _ if has_calls:
                return FinishReason.TOOL_CALLS
            case _:
                return FinishReason.FILTERED if self._is_refusal else FinishReason.STOP


def _message_text(facts: JsonObject) -> str:
    parts = [as_object(part) for part in as_list(facts.get("content"))]
    return "".join(as_text(part.get("text")) or as_text(part.get("refusal")) for part in parts)


def _thought_text(facts: JsonObject) -> str:
    parts = as_list(facts.get("summary")) or as_list(facts.get("content"))
    return "\n\n".join(filter(None, (as_text(as_object(part).get("text")) for part in parts)))
