"""About how many tokens a text, a message or a history takes: an estimate by script, corrected by what endpoints count.

No vendor but one publishes its vocabulary, and a library that brings that one along takes 75 MB. The weights here are
fitted to it over prose, code, JSON, numbers and sixteen languages: a sample of 1,500 characters is within a quarter in
most of them, where four characters a token misses Chinese by two thirds. What differs between models is a factor,
which the first answer that names its input tokens replaces.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct, field

from skales.agent.documents import count_pages, is_native
from skales.core.ids import SessionId
from skales.core.message import ContentPart, FilePart, ImagePart, Message, TextPart
from skales.core.tool import ToolSpec

# What vendors count for a picture of the largest size they keep is about this; for a model that does not see it is the
# sentence that stands for it.
_PICTURE_TOKENS = 1_600
_UNSEEN_PICTURE_TOKENS = 30
# A document that goes as it is is read as text and as a picture of each page; vendors differ by several times.
_PAGE_TOKENS = 1_000
_NO_KINDS = frozenset[str]()
# Roles and marks around each message.
_FRAME_TOKENS = 4


def _bytes(first: int, last: int) -> bytes:
    return bytes(range(first, last + 1))


_DIGITS, _UPPER, _LOWER = _bytes(0x30, 0x39), _bytes(0x41, 0x5A), _bytes(0x61, 0x7A)
_SIGNS = bytes(set(_bytes(0x21, 0x7E)) - set(_DIGITS + _UPPER + _LOWER))
# Tokens for each byte of a kind. Blanks join the word after them and cost nothing.
_ASCII = ((_LOWER, 0.26), (_UPPER, 0.6), (_DIGITS, 0.55), (_SIGNS, 0.42), (b"\n\t", 0.5))
# Beyond, the first byte of a character in UTF-8 tells its script.
_BEYOND_ASCII = (
    (_bytes(0xC2, 0xCB), 1.3),  # accented Latin, which splits the word around it
    (_bytes(0xCC, 0xD4), 0.39),  # Greek, Cyrillic
    (_bytes(0xD5, 0xDF), 0.5),  # Hebrew, Arabic
    (b"\xe0", 0.6),  # scripts of India, Thai
    (_bytes(0xE1, 0xE2), 0.8),  # Vietnamese accents, typographic signs
    (b"\xe3", 0.72),  # kana, CJK signs
    (_bytes(0xE4, 0xE9), 0.9),  # CJK
    (_bytes(0xEA, 0xEF), 0.85),  # Hangul, wide forms
    (_bytes(0xF0, 0xF4), 2.5),  # emoji, rare CJK
)
# Before an endpoint has counted: how its vendor's vocabulary compares. For others a little is added, to stay clear.
_FAMILIES = (("claude", 1.25), ("gpt", 1.0), ("o1", 1.0), ("o3", 1.0), ("o4", 1.0))
_OTHER_FAMILY = 1.1
# A count outside of these says that the endpoint counts something else, such as only what its cache did not have.
_PLAUSIBLE = (0.4, 3.0)
# Below, the frame that vendors add around a request is most of the count.
_TELLING_TOKENS = 300
_NEWEST_SHARE = 0.3
_KEPT_HISTORIES = 16


def count_text(text: str) -> int:
    """About the tokens of a text."""
    data = text.encode("utf-8", "replace")
    kinds = _ASCII if len(data) == len(text) else _ASCII + _BEYOND_ASCII
    size = len(data)
    return round(sum((size - len(data.translate(None, kind))) * weight for kind, weight in kinds))


def count_message(message: Message, *, sees: bool = True, kinds: frozenset[str] = _NO_KINDS) -> int:
    """About the tokens of a message; `sees` says whether its pictures go with it, `kinds` which documents do."""
    calls = sum(count_text(call.name) + count_text(str(call.arguments)) for call in message.tool_calls)
    said = sum(_count_part(part, sees, kinds) for part in message.content)
    return said + count_text(message.reasoning) + calls + _FRAME_TOKENS


def count_tool(tool: ToolSpec) -> int:
    """About the tokens of a tool in the offer."""
    return count_text(tool.name) + count_text(tool.description) + count_text(str(tool.parameters)) + _FRAME_TOKENS


def _count_part(part: ContentPart, sees: bool, kinds: frozenset[str]) -> int:
    match part:
        case TextPart(text):
            return count_text(text)
        case FilePart(name=name, text=text, path=path):
            told = count_text(name) + count_text(text) + count_text(path)
            goes_whole = bool(part.data_base64) or is_native(part, kinds)
            return told + (count_pages(part) * _PAGE_TOKENS if goes_whole else 0)
        case ImagePart():
            return _PICTURE_TOKENS if sees else _UNSEEN_PICTURE_TOKENS
        case _:
            assert_never(part)


class CountedHistory(Struct):
    """Sums over the messages of one conversation; only what was added since the last look is counted."""

    sees: bool = True
    kinds: frozenset[str] = _NO_KINDS
    _messages: Sequence[Message] = ()
    _sums: list[int] = field(default_factory=lambda: [0])

    def look(self, messages: Sequence[Message]) -> None:
        """Count these. A history grows at its end or is cut there, so that the last same object ends the same part."""
        known = min(len(self._messages), len(messages))
        while known and self._messages[known - 1] is not messages[known - 1]:
            known -= 1
        del self._sums[known + 1 :]
        for message in messages[known:]:
            self._sums.append(self._sums[-1] + count_message(message, sees=self.sees, kinds=self.kinds))
        self._messages = messages

    def between(self, start: int, end: int | None = None) -> int:
        """The tokens of the messages from one index up to another, or to the end."""
        return self._sums[-1 if end is None else end] - self._sums[start]

    def first_start(self, tokens: int) -> int:
        """The first index from which on at most that many tokens follow."""
        return bisect_left(self._sums, self._sums[-1] - tokens)


class HistoryCounts:
    """The histories that were counted last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[SessionId, bool, frozenset[str]], CountedHistory] = OrderedDict()

    def of(
        self, session_id: SessionId, messages: Sequence[Message], *, sees: bool, kinds: frozenset[str] = _NO_KINDS
    ) -> CountedHistory:
        """The sums for these messages of a conversation."""
        key = (session_id, sees, kinds)
        counted = self._kept.setdefault(key, CountedHistory(sees, kinds))
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT_HISTORIES:
            self._kept.popitem(last=False)
        counted.look(messages)
        return counted


class TokenScale:
    """How a model's own count compares to the estimate. Kept in memory; each answer teaches it."""

    def __init__(self) -> None:
        self._learnt: dict[tuple[str, str], float] = {}

    def factor(self, provider_id: str, model: str) -> float:
        """What to multiply an estimate with."""
        learnt = self._learnt.get((provider_id, model))
        if learnt is not None:
            return learnt
        name = model.lower().rpartition("/")[2]
        return next((factor for family, factor in _FAMILIES if name.startswith(family)), _OTHER_FAMILY)

    def learn(self, provider_id: str, model: str, *, estimated_tokens: int, counted_tokens: int) -> None:
        """An endpoint counted a request; what is too small or not plausible teaches nothing."""
        if estimated_tokens < _TELLING_TOKENS:
            return
        ratio = counted_tokens / estimated_tokens
        low, high = _PLAUSIBLE
        if low <= ratio <= high:
            before = self._learnt.get((provider_id, model), ratio)
            self._learnt[provider_id, model] = before + _NEWEST_SHARE * (ratio - before)
