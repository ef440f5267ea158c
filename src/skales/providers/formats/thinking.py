"""Takes `<think>…</think>` and `<thinking>…</thinking>` out of a streamed answer, however it is cut into pieces.

Tags inside code are text: an answer may explain them. Spec: orchestrator.md, "Tool-call hardening".
"""

import re
from collections.abc import Iterator

from skales.core.ports import ReasoningPiece, TextPiece

_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MARKS = re.compile(r"```|</?think(?:ing)?>", re.IGNORECASE)
# The beginning of any mark at the end of a piece: the rest may come with the next one.
_BEGUN = re.compile(r"(?:`{1,2}|<(?:/?(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?)$", re.IGNORECASE)
_FENCE = "```"

Piece = TextPiece | ReasoningPiece


class ThinkingSplitter:
    """Feed it answer text; it gives answer and thinking pieces in order."""

    def __init__(self) -> None:
        self._held = ""
        self._lead = ""
        self._before = ""
        self._is_thinking = False
        self._in_fence = False
        self._has_text = False
        self._has_thought = False

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain by now."""
        if not self._held and not self._is_thinking and self._has_text and "<" not in text and "`" not in text:
            self._before = text[-1:] or self._before
            return [TextPiece(text)] if text else []
        return list(self._split(self._held + text, is_last=False))

    def finish(self) -> list[Piece]:
        """What was held back, except blanks alone. Thinking that never ended stays thinking."""
        return list(self._split(self._held, is_last=True))

    def _split(self, text: str, *, is_last: bool) -> Iterator[Piece]:
        self._held = ""
        position = 0
        while mark := self._next_mark(text, position):
            yield from self._emit(text[position : mark.start()])
            position = mark.end()
            yield from self._pass(mark.group())
        rest = text[position:]
        if not is_last and (begun := _BEGUN.search(rest)):
            self._held = begun.group()
            rest = rest[: begun.start()]
        yield from self._emit(rest)

    def _next_mark(self, text: str, position: int) -> re.Match[str] | None:
        return (_CLOSE if self._is_thinking else _MARKS).search(text, position)

    def _pass(self, mark: str) -> Iterator[Piece]:
        """Cross one mark: change the state, or give it back when it is only text."""
        if mark == _FENCE:
            self._in_fence = not self._in_fence
            yield from self._emit(mark)
        elif self._is_thinking:
            self._is_thinking = False
        elif self._in_fence or self._before == "`":
            yield from self._emit(mark)
        elif _OPEN.fullmatch(mark):
            self._is_thinking = True
            self._has_thought = True
        # A closing tag alone ends thinking whose opening tag stood in the prompt; what came before is already out.

    def _emit(self, text: str) -> Iterator[Piece]:
        if self._is_thinking:
            if text:
                yield ReasoningPiece(text)
            return
        if not self._has_text:
            text = self._open_answer(text)
        if text:
            self._has_text = True
            self._before = text[-1]
            yield TextPiece(text)

    def _open_answer(self, text: str) -> str:
        """Blank lines around thinking belong to neither side; an answer without thinking may begin with blanks."""
        if self._has_thought:
            return text.lstrip()
        if not text.strip():
            self._lead += text
            return ""
        text, self._lead = self._lead + text, ""
        return text
