r"""Where maths that stands by itself begins and ends, line by line: `$$ … $$` and `\[ … \]`.

Asked by the parser for a whole text and by the splitter while the text still comes, so that both see the same blocks.
A single `$` is never maths: people write prices.
"""

from msgspec import Struct

_CLOSERS = {"$$": "$$", "\\[": "\\]"}


class DisplayStart(Struct, frozen=True):
    """A line that begins such maths. `is_whole` when the same line ends it."""

    closer: str
    is_whole: bool


def read_display(line: str) -> DisplayStart | None:
    """What a line begins; None when words follow its maths, which then stands inside a paragraph."""
    text = line.strip()
    closer = _CLOSERS.get(text[:2])
    if closer is None:
        return None
    body = text[2:]
    if closer not in body:
        return DisplayStart(closer, is_whole=False)
    is_whole = body.index(closer) == len(body) - 2 and bool(body[:-2].strip())
    return DisplayStart(closer, is_whole=True) if is_whole else None


def ends_display(line: str, closer: str) -> bool:
    """Whether a later line is the last one."""
    text = line.strip()
    return text.endswith(closer) and text.index(closer) == len(text) - 2
