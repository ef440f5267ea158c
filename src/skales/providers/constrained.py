"""Tools for models too weak for native calls: a narrow offer, a choice held to a schema, results folded into words.

Wraps any Provider. A request is answered in plain chat unless a tool's words point to its last message; after a tool
result the model is asked for a sentence, so that it cannot repeat the call. One call a turn.
Spec: local-models.md, "Behaviour on local models".
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from msgspec import structs

from skales.core.errors import ProviderError, ProviderFault
from skales.core.ids import IdSource, RandomIds
from skales.core.message import Usage
from skales.core.ports import (
    CallReady,
    ChatRequest,
    Finished,
    FinishReason,
    Provider,
    ProviderEvent,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import ToolCall, ToolSpec
from skales.providers.weak.answer import Call, ChoiceReader, Reply, Unreadable
from skales.providers.weak.choice import build_choice_schema, build_example
from skales.providers.weak.loops import is_looping
from skales.providers.weak.mentions import find_mentions
from skales.providers.weak.prompt import Conversation, Shown, build_chat, build_choice, read_conversation
from skales.providers.weak.quote import quote_results
from skales.providers.weak.relevance import choose_offer
from skales.providers.weak.spans import copyable_runs

# The only prompt under which a model of 135M parameters answers simple questions right (12 of 12; 8 to 11 with others).
_TINY_SYSTEM = "You are a helpful assistant."
_UNKNOWN_WINDOW_TOKENS = 4096
_MAX_ANSWER_TOKENS = 1024
_TINY_ANSWER_TOKENS = 400  # what such a model says beyond this is repetition
_MIN_SHARE, _TINY_MIN_SHARE = 0.4, 0.8
_TINY_MAX_TOOLS = 3
# llama.cpp answers 500 when text breaks its parser, others refuse the schema; plain chat is then still possible.
_WITHOUT_TOOLS = frozenset(
    {
        ProviderFault.OVERLOADED,
        ProviderFault.BAD_ANSWER,
        ProviderFault.BAD_REQUEST,
        ProviderFault.CONTEXT_OVERFLOW,
    }
)
_RANDOM = RandomIds()


class ConstrainedProvider:
    """A Provider that makes the best of a weak model.

    `tiny` is for models below about half a billion parameters: they get a fixed system prompt instead of the request's
    own, at most three tools, and may only copy text arguments from the user's words; what a tool returned is shown as
    it is, since they retell it wrongly.
    """

    def __init__(self, inner: Provider, max_tools: int = 6, *, tiny: bool = False, ids: IdSource = _RANDOM) -> None:
        self._inner = inner
        self._max_tools = min(max_tools, _TINY_MAX_TOOLS) if tiny else max_tools
        self._tiny = tiny
        self._ids = ids

    def max_tokens(self, model: str) -> int:
        """The inner model's context window in tokens, 0 when unknown."""
        return self._inner.max_tokens(model)

    async def list_models(self) -> list[str]:
        """Model ids the inner endpoint offers. Raises ProviderError."""
        return await self._inner.list_models()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Ask; see Provider."""
        conversation = read_conversation(request.messages)
        if self._tiny and conversation.results and not request.answer_schema:
            yield TextPiece(quote_results(conversation.results))
            yield Finished(FinishReason.STOP)
            return
        offer = () if conversation.results or request.answer_schema else self._offer(conversation, request)
        spent = Usage()
        if offer:
            choice = _Choice(self._ids)
            try:
                async with aclosing(
                    choice.read(self._inner, self._choice_request(conversation, offer, request))
                ) as events:
                    async for event in events:
                        yield event
            except ProviderError as error:
                if choice.gave_text or error.fault not in _WITHOUT_TOOLS:
                    raise
            if choice.is_answered:
                return
            spent = choice.usage
        async with aclosing(self._chat(self._chat_request(conversation, request))) as answer:
            async for event in answer:
                yield UsageCounted(spent.plus(event.usage)) if isinstance(event, UsageCounted) else event

    async def _chat(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """The inner answer, ended where it begins to go round in circles."""
        said = ""
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                yield event
                if isinstance(event, Finished):
                    return
                said += event.text if isinstance(event, TextPiece) else ""
                if is_looping(said):
                    break
        yield Finished(FinishReason.LENGTH)

    def _offer(self, conversation: Conversation, request: ChatRequest) -> tuple[ToolSpec, ...]:
        text = conversation.question.text
        share = _TINY_MIN_SHARE if self._tiny else _MIN_SHARE
        return choose_offer(text, find_mentions(text), request.tools, limit=self._max_tools, min_share=share)

    def _choice_request(
        self, conversation: Conversation, offer: tuple[ToolSpec, ...], request: ChatRequest
    ) -> ChatRequest:
        text = conversation.question.text
        mentions = find_mentions(text)
        if self._tiny:
            mentions = structs.replace(mentions, runs=copyable_runs(text, mentions))
        examples = (build_example(tool, mentions) for tool in offer)
        shown = Shown(
            lines=[f"- {tool.name}: {tool.description.strip().partition(chr(10))[0]}" for tool in offer],
            examples=[example for example in examples if example],
        )
        messages = build_choice(
            conversation, self._system(conversation), shown, self._budget_tokens(request), tiny=self._tiny
        )
        return ChatRequest(
            model=request.model,
            messages=messages,
            answer_schema=build_choice_schema(offer, mentions),
            max_output_tokens=self._answer_tokens(request),
            temperature=0.0,
        )

    def _chat_request(self, conversation: Conversation, request: ChatRequest) -> ChatRequest:
        messages = build_chat(conversation, self._system(conversation), self._budget_tokens(request))
        return replace(request, messages=messages, tools=(), max_output_tokens=self._answer_tokens(request))

    def _system(self, conversation: Conversation) -> str:
        return _TINY_SYSTEM if self._tiny else conversation.system

    def _budget_tokens(self, request: ChatRequest) -> int:
        """What the messages may take: the window without the room for the answer."""
        window = self._inner.max_tokens(request.model) or _UNKNOWN_WINDOW_TOKENS
        return window - min(self._answer_tokens(request), window // 4)

    def _answer_tokens(self, request: ChatRequest) -> int:
        """A limit in any case: a weak model that begins to repeat itself would fill its window."""
        limit = _TINY_ANSWER_TOKENS if self._tiny else _MAX_ANSWER_TOKENS
        return min(request.max_output_tokens or limit, limit)


class _Choice:
    """One constrained answer on its way. `is_answered` tells whether anything came of it."""

    def __init__(self, ids: IdSource) -> None:
        self.is_answered = False
        self.gave_text = False
        self.usage = Usage()
        self._ids = ids
        self._reader = ChoiceReader()

    async def read(self, inner: Provider, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        async with aclosing(inner.stream(request)) as events:
            async for event in events:
                match event:
                    case TextPiece(chunk):
                        if text := self._reader.feed(chunk):
                            self.gave_text = True
                            yield TextPiece(text)
                    case UsageCounted(usage):
                        self.usage = usage
                        yield event
                    case Finished(reason):
                        for last in self._finish(reason):
                            yield last
                    case _:
                        yield event

    def _finish(self, reason: FinishReason) -> list[ProviderEvent]:
        match self._reader.finish():
            case Call(tool, arguments, raw, problem):
                self.is_answered = True
                call = ToolCall(f"call_{self._ids.token(12)}", tool, arguments, problem=problem, raw=raw)
                return [CallReady(call), Finished(FinishReason.TOOL_CALLS)]
            case Reply(text) if text or self.gave_text:
                self.is_answered = True
                return [*([TextPiece(text)] if text else []), Finished(reason)]
            case Reply() | Unreadable():
                return []
