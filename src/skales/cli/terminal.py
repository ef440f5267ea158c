"""Words and colours on the terminal. Spec: cli.md, "Output conventions"; NO_COLOR is honoured."""

import os
import sys
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def paint(text: str, *styles: str, to: TextIO | None = None) -> str:
    """The text in a style when the stream shows colours, else as it is."""
    stream = to or sys.stdout
    if os.environ.get("NO_COLOR") or not stream.isatty():
        return text
    codes = ";".join(_CODES[style] for style in styles)
    return f"\033[{codes}m{text}\033[0m"


def title(text: str) -> None:
    """A heading with a blank line before it."""
    print(f"\n{paint(text, 'bold', 'cyan')}\n")


def row(label: str, value: object) -> None:
    """One labelled line."""
    print(f"  {label:<12} {value}")


def success(text: str) -> None:
    """Something was done."""
    print(f"{paint('✓', 'green')} {text}")


def aside(text: str) -> None:
    """A line beside the answer, on standard error, so that scripts get the answer alone."""
    print(paint(text, "dim", to=sys.stderr), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """A line that should not be missed, on standard error."""
    print(paint(text, "yellow", to=sys.stderr), file=sys.stderr, flush=True)


def format_duration(duration_ms: int) -> str:
    """`1h 2m`, `3m 4s` or `5s`."""
    seconds = duration_ms // 1000
    if seconds >= 3600:
        return f"{seconds // 3600}h {seconds % 3600 // 60}m"
    return f"{seconds // 60}m {seconds % 60}s" if seconds >= 60 else f"{seconds}s"


def can_ask() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stderr.isatty()
