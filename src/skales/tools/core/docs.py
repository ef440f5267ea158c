"""The tool `fetch_skales_docs`: finds the parts of Skales' own guide that answer a question about the program."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import log
from pathlib import Path

from anyio import to_thread
from msgspec import Struct

import skales
from skales.core.errors import InputError, ToolError
from skales.core.tool import Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool

_MOST_SECTIONS = 4
_MOST_TEXT = 8_000
_STEM = 4
_MOST_QUERY = 1_000
_TITLE_WEIGHT = 6
# A section that fits less than this share of the best one's fit is beside the point.
_LEAST_SHARE = 0.35
_HEADING = re.compile(r"^#{1,3} +(.+?)\s*$")
_WORD = re.compile(r"[^\W_]{2,}")
_STOP_TEXT = """
the and for are with that this from how what where when can does you your skales use using into not is it to
of in on my me do an or be as at if
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())


class _Section(Struct, frozen=True):
    """A heading of the guide with what stands under it. `page` is the file's name."""

    page: str
    title: str
    text: str
    words: Counter[str]


@tool(
    "core",
    Safety.AUTO,
    action="Look up {query} in the guide of Skales",
    example=("How do I change where you may write files?", {"query": "allowed folders file access"}),
    found_by=(
        "Hilfe Handbuch Skales help manual how does settings Einstellung Anleitung documentation what can you "
        "configure set einrichten provider guide setting einstellen feature"
    ),
)
async def fetch_skales_docs(ctx: ToolContext, query: str) -> ToolResult:  # noqa: ARG001 - every tool takes it
    """Look up how Skales itself works, is set up or is used, in its own guide.

    Args:
        query: English key words.
    """
    sections = await to_thread.run_sync(load_guide)
    if not query.strip():
        raise InputError("There is nothing to look up", hint="Give a few key words")
    found = _best(sections, query)
    if not found:
        pages = ", ".join(dict.fromkeys(section.page for section in sections))
        return ToolResult(
            text=f"The guide says nothing about this. Its pages: {pages}.", summary="Nothing in the guide"
        )
    parts: list[str] = []
    room = _MOST_TEXT
    for section in found:
        text = f"## {section.title} ({section.page})\n{section.text}"
        parts.append(text if len(text) <= room else f"{text[:room]}…")
        room -= len(text)
        if room <= 0:
            break
    return ToolResult(
        text="\n\n".join(parts),
        summary=f"{len(parts)} parts of the guide: {', '.join(dict.fromkeys(one.page for one in found))}",
        data=[{"page": section.page, "title": section.title} for section in found[: len(parts)]],
    )


def guide_folder() -> Path:
    """Where the guide is: beside the installed program, or in the source tree it runs from. Raises ToolError."""
    package = Path(skales.__file__).resolve().parent
    for folder in (package / "guide", package.parents[1] / "docs" / "guide"):
        if folder.is_dir():
            return folder
    raise ToolError("The guide is not installed with this copy of Skales", hint="Install Skales again", code="no_guide")


@cache
def load_guide() -> Sequence[_Section]:
    """Every section of the guide. Raises ToolError when there is none."""
    files = sorted(guide_folder().glob("*.md"))
    return [section for file in files for section in _sections(file.name, file.read_text(encoding="utf-8"))]


def _sections(page: str, text: str) -> Iterator[_Section]:
    title, lines, is_code = page.removesuffix(".md"), list[str](), False
    top = ""
    for line in [*text.splitlines(), "# end"]:
        is_code ^= line.startswith("```")
        heading = None if is_code else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        body = "\n".join(lines).strip()
        if body:
            name = title if title == top or not top else f"{top}: {title}"
            counted = Counter(_stems(body))
            counted.update(dict.fromkeys(_stems(f"{name} {page.removesuffix('.md')}"), _TITLE_WEIGHT))
            yield _Section(page, name, body, counted)
        title, lines = heading[1], []
        top = title if line.startswith("# ") else top


def _best(sections: Sequence[_Section], query: str) -> Sequence[_Section]:
    wanted = set(_stems(query[:_MOST_QUERY]))
    spread = Counter(stem for section in sections for stem in wanted & section.words.keys())
    weights = {stem: log(1 + len(sections) / count) for stem, count in spread.items()}
    scored = [
        (sum(_weigh(section, stem) * weight for stem, weight in weights.items()), section) for section in sections
    ]
    best = max((score for score, _section in scored), default=0.0)
    ranked = sorted(scored, key=lambda pair: -pair[0])[:_MOST_SECTIONS]
    return [section for score, section in ranked if score and score >= best * _LEAST_SHARE]


def _weigh(section: _Section, stem: str) -> float:
    count = section.words[stem]
    # The hundredth mention says hardly more than the third; long sections hold every word.
    return count / (count + 1) / (1 + section.words.total() / 2_000) if count else 0.0


def _stems(text: str) -> Sequence[str]:
    """Words without their ending, so that `folders` finds `folder`; names like `allowLan` count as their parts, too."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    words = [word.casefold() for word in _WORD.findall(apart)]
    return [_stem(word) for word in words if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "ies", "ers", "er", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word
