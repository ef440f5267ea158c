"""The messages a weak model gets: short history without tool traffic, results as words, one worked example per tool.

Each function returns new messages; what is on disk is never changed. Spec: local-models.md.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from msgspec import Struct

from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import JsonObject
from skales.core.message import Message, Role, TextPart, text_message
from skales.providers.formats.turns import spell_files
from skales.providers.weak.choice import REPLY

# Bytes of UTF-8 per token: more tokens than English needs, about right for code and Chinese.
_BYTES_PER_TOKEN = 3
_MESSAGE_TOKENS = 8  # the template's marks around each message
_MIN_RESULT_TOKENS = 100
_CUT = " […]"

_INSTRUCTIONS = (
    "Answer with one JSON object: the call of the tool that the request needs, "
    'or {"tool": "reply", "text": "…"} when it needs none.\nTools:'
)
_EXAMPLE: tuple[str, JsonObject] = (
    "What is the capital of Italy?",
    {"tool": REPLY, "text": "The capital of Italy is Rome."},
)


class Conversation(Struct, frozen=True):
    """A history taken apart: what came before, the last thing the user said, and the tool results since."""

    system: str
    earlier: tuple[Message, ...]
    question: Message
    results: tuple[Message, ...]


def read_conversation(messages: Sequence[Message]) -> Conversation:
    """The parts of a request's messages. Earlier tool traffic is left out; the answers that came of it stay."""
    system = "\n\n".join(message.text for message in messages if message.role is Role.SYSTEM)
    spoken = [message for message in messages if message.role is not Role.SYSTEM]
    last = max((index for index, message in enumerate(spoken) if message.role is Role.USER), default=-1)
    question = spoken[last] if last >= 0 else text_message(Role.USER, "")
    results = tuple(message for message in spoken[last + 1 :] if message.role is Role.TOOL)
    return Conversation(system, _merge(spoken[: max(last, 0)]), question, results)


def build_chat(conversation: Conversation, system: str, budget_tokens: int) -> tuple[Message, ...]:
    """The messages of a plain answer, within the budget.

    Tool results since the question become part of it. Raises ProviderError(CONTEXT_OVERFLOW) when the question alone
    is too long.
    """
    head = (text_message(Role.SYSTEM, system),) if system else ()
    left = budget_tokens - count_tokens(head)
    question = _with_results(conversation, left) if conversation.results else conversation.question
    return _fit(head, conversation.earlier, (question,), budget_tokens)


class Shown(Struct, frozen=True):
    """What a choice shows of the tools: a line for each, and worked examples, the likeliest tool first."""

    lines: Sequence[str]
    examples: Sequence[tuple[str, JsonObject]]


def build_choice(
    conversation: Conversation, system: str, shown: Shown, budget_tokens: int, *, tiny: bool
) -> tuple[Message, ...]:
    """The messages of a choice, the likeliest example nearest to the question.

    A tiny model gets neither instructions nor history: examples alone lead it best (measured).
    """
    text = system if tiny else "\n".join([f"{system}\n\n{_INSTRUCTIONS}".strip(), *shown.lines])
    examples = [_EXAMPLE, *reversed(shown.examples)]
    head = (text_message(Role.SYSTEM, text), *(part for example in examples for part in _exchange(*example)))
    earlier = () if tiny else tuple(_as_choice(message) for message in conversation.earlier)
    return _fit(head, earlier, (conversation.question,), budget_tokens)


def count_tokens(messages: Sequence[Message]) -> int:
    """A careful estimate; the endpoint's tokeniser may need fewer."""
    return sum(_text_tokens(message.text) + _MESSAGE_TOKENS for message in spell_files(messages))


def _text_tokens(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1


def _merge(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What the user and the model said in turn; some chat templates refuse two of a kind in a row."""
    merged: list[Message] = []
    for message in messages:
        if message.role not in {Role.USER, Role.ASSISTANT} or not message.content:
            continue
        plain = Message(role=message.role, content=message.content)
        if merged and merged[-1].role is message.role:
            plain = replace(merged[-1], content=(*merged[-1].content, TextPart("\n\n"), *message.content))
            merged.pop()
        merged.append(plain)
    return tuple(merged[1:] if merged and merged[0].role is Role.ASSISTANT else merged)


def _fit(
    head: tuple[Message, ...], earlier: tuple[Message, ...], tail: tuple[Message, ...], budget_tokens: int
) -> tuple[Message, ...]:
    """Drops the oldest exchanges until the rest fits; the head and the tail always stay."""
    left = budget_tokens - count_tokens(head) - count_tokens(tail)
    if left < 0:
        raise ProviderError(
            "The message is too long for this model",
            fault=ProviderFault.CONTEXT_OVERFLOW,
            hint="Send a shorter message, or choose a model with a larger window",
        )
    starts = [index for index, message in enumerate(earlier) if message.role is Role.USER]
    start = next((index for index in starts if count_tokens(earlier[index:]) <= left), len(earlier))
    return (*head, *earlier[start:], *tail)


def _with_results(conversation: Conversation, budget_tokens: int) -> Message:
    """The question with the results as one thing the user said."""
    question = spell_files([conversation.question])[0].text
    share = (budget_tokens - _text_tokens(question) - _MESSAGE_TOKENS) // len(conversation.results) - 40
    parts = [_result_words(result, max(share, _MIN_RESULT_TOKENS)) for result in conversation.results]
    failed = all(result.is_error for result in conversation.results)
    task = "Say in one sentence what went wrong." if failed else "Answer in one sentence, from this result."
    return text_message(Role.USER, "\n\n".join([question, *parts, task]))


def _result_words(result: Message, limit_tokens: int) -> str:
    text = result.text.strip() or "(nothing)"
    limit_bytes = limit_tokens * _BYTES_PER_TOKEN
    data = text.encode("utf-8", "replace")
    if len(data) > limit_bytes:
        text = data[:limit_bytes].decode("utf-8", "ignore") + _CUT
    return f"{'Failure' if result.is_error else 'Result'} of {result.name or 'the tool'}:\n{text}"


def _exchange(request: str, answer: JsonObject) -> tuple[Message, Message]:
    return text_message(Role.USER, request), text_message(Role.ASSISTANT, _dump(answer))


def _as_choice(message: Message) -> Message:
    """An earlier answer in the form of a choice, so that the model sees one form only."""
    if message.role is not Role.ASSISTANT:
        return message
    return text_message(Role.ASSISTANT, _dump({"tool": REPLY, "text": message.text}))


def _dump(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)
