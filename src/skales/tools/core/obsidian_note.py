"""What stands in a note: its front matter, tags, headings, block ids and links. Pure.

Nothing within code counts. Line ends are unified. Spec: memory.md, "Obsidian".
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec import Struct, field

from skales.data.frontmatter import Front, FrontMatterError, read_front, split_front_matter, texts_of
from skales.tools.core.obsidian_vault import fold

if TYPE_CHECKING:
    from markdown_it.token import Token

_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,500})\]\]")
_MARKDOWN = re.compile(
    r"(!?)\[([^\[\]\n]{0,500})\]\((?:<([^<>\n]{1,500})>|([^()\s]{1,500}))(?:[ \t]+\"[^\"\n]{0,500}\")?\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_TAG = re.compile(r"(?:(?<=[\s(\"'*_>,;~=])|^)#([^\s#,.;:!?()\[\]{}<>\"'`*~=|\\^$%&+@]+)", re.MULTILINE)
_BLOCK_ID = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_WORD = re.compile(r"\w+")
_FRONT_TAG = re.compile(r"[,\s]+")


class Heading(Struct, frozen=True):
    """A heading. `line` counts from 0 in the body, as does `end`, the line after it."""

    level: int
    title: str
    line: int
    end: int


class Link(Struct, frozen=True):
    """A link to a note or file of the vault: `[[target#heading|shown]]`, `![[…]]`, `[shown](target.md)`.

    `target` is empty within one note. `part` is a heading path such as `A#B`, or a block id with `^`.
    """

    target: str
    part: str = ""
    shown: str = ""
    is_embed: bool = False
    line: int = 0


class Note(Struct, frozen=True):
    """A note taken apart. `first_line` is the line of the file, from 0, at which `body` begins.

    `fault` says why its front matter does not count; empty when it does.
    """

    body: str
    front: Front = field(default_factory=dict[str, str])
    first_line: int = 0
    fault: str = ""

    @property
    def aliases(self) -> Sequence[str]:
        """Its other names."""
        return (*texts_of(self.front, "aliases"), *texts_of(self.front, "alias"))

    @property
    def front_tags(self) -> Sequence[str]:
        """The tags its front matter gives it, without `#`."""
        given = (*texts_of(self.front, "tags"), *texts_of(self.front, "tag"))
        return [tag.strip("#") for text in given for tag in _FRONT_TAG.split(text) if tag.strip("#")]


def parse_note(text: str) -> Note:
    """Take a note apart; broken front matter is told, and what follows it still counts."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        parts = split_front_matter(plain)
    except FrontMatterError:  # a rule at the top, not front matter
        return Note(plain)
    if parts.front is None:
        return Note(plain)
    try:
        return Note(parts.body, read_front(parts.front), parts.first_line)
    except FrontMatterError as error:
        return Note(parts.body, {}, parts.first_line, error.message)


def mask_code(body: str) -> str:
    """The text with blanks for everything within code, line by line as long as before."""
    lines = body.split("\n")
    for start, end in _code_blocks(body):
        for number in range(start, min(end, len(lines))):
            lines[number] = " " * len(lines[number])
    return _mask_spans("\n".join(lines)) if "`" in body else "\n".join(lines)


def find_headings(body: str) -> Sequence[Heading]:
    """The headings outside of quotes and lists, in their order."""
    tokens = _parse_blocks(body)
    return [
        Heading(int(token.tag[1:]), " ".join(inline.content.split()), token.map[0], token.map[1])
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def find_links(masked: str) -> Iterator[Link]:
    """The links of a masked text that stay in the vault, in their order."""
    for number, line in enumerate(masked.split("\n")):
        if "](" not in line and "[[" not in line:
            continue
        found = [(match.start(), _wiki_link(match, number)) for match in _WIKI.finditer(line)]
        found += [(match.start(), _markdown_link(match, number)) for match in _MARKDOWN.finditer(line)]
        yield from (link for _place, link in sorted(found, key=lambda pair: pair[0]) if link)


def find_tags(masked: str) -> Sequence[str]:
    """The tags of a masked text, without `#`, each once; a number alone is none."""
    plain = _MARKDOWN.sub(" ", _WIKI.sub(" ", masked)) if "[" in masked else masked
    found = (match[1].rstrip("/-") for match in _TAG.finditer(plain))
    return list(dict.fromkeys(tag for tag in found if tag and not tag.replace("/", "").isdigit()))


def find_block_ids(masked: str) -> frozenset[str]:
    """The ids at the ends of blocks, in lower case."""
    return frozenset(match[1].lower() for match in _BLOCK_ID.finditer(masked))


def has_tag(tags: Sequence[str], wanted: str) -> bool:
    """Whether a tag, or one nested in it, is among them."""
    name = fold(wanted).strip("#/")
    return any((tag := fold(given)) == name or tag.startswith(f"{name}/") for given in tags)


def match_heading(headings: Sequence[Heading], path: str) -> Sequence[Heading]:
    """The headings a path such as `Tasks` or `Plans#Tasks` names, each step below the one before."""
    wanted = [_plain(step) for step in path.split("#") if step.strip()]
    if not wanted:
        return ()
    return [
        heading
        for number, heading in enumerate(headings)
        if _plain(heading.title) == wanted[-1] and _is_below(headings[:number], heading, wanted[:-1])
    ]


def _is_below(before: Sequence[Heading], heading: Heading, steps: Sequence[str]) -> bool:
    """Whether the headings above one in the outline pass through the steps."""
    level, missing = heading.level, list(steps)
    for other in reversed(before):
        if not missing:
            return True
        if other.level < level:
            level = other.level
            if _plain(other.title) == missing[-1]:
                missing.pop()
    return not missing


def _plain(title: str) -> str:
    """As headings are compared: their words."""
    return " ".join(_WORD.findall(fold(title)))


def _wiki_link(match: re.Match[str], line: int) -> Link | None:
    # In tables the bar is written with a backslash.
    name, _bar, shown = match[2].replace("\\|", "|").partition("|")
    target, _hash, part = name.partition("#")
    if not target.strip() and not part.strip():
        return None
    return Link(target.strip(), part.strip(), shown.strip(), is_embed=bool(match[1]), line=line)


def _markdown_link(match: re.Match[str], line: int) -> Link | None:
    address = match[3] or match[4] or ""
    if _SCHEME.match(address):
        return None
    target, _hash, part = unquote(address).partition("#")
    return Link(target.strip(), part.strip(), match[2].strip(), is_embed=bool(match[1]), line=line)


def _code_blocks(body: str) -> Iterator[tuple[int, int]]:
    if "```" not in body and "~~~" not in body and "    " not in body and "\t" not in body:
        return
    for token in _parse_blocks(body):
        if token.type in ("fence", "code_block") and token.map:
            yield token.map[0], token.map[1]


def _parse_blocks(body: str) -> "Sequence[Token]":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(["inline", "text_join"]).parse(body)


def _mask_spans(text: str) -> str:
    """Blanks for code spans: as many backticks close as opened, within one paragraph."""
    paragraphs = re.split(r"(\n[ \t]*\n)", text)
    return "".join(_mask_paragraph(part) if "`" in part else part for part in paragraphs)


def _mask_paragraph(text: str) -> str:
    runs = list(_TICKS.finditer(text))
    closing: dict[int, list[int]] = {}
    for number, run in enumerate(runs):
        closing.setdefault(len(run[0]), []).append(number)
    pieces: list[str] = []
    place = number = 0
    while number < len(runs):
        same = closing[len(runs[number][0])]
        later = bisect_right(same, number)
        if later == len(same):
            number += 1
            continue
        end = same[later]
        start, stop = runs[number].start(), runs[end].end()
        pieces += [text[place:start], "".join("\n" if char == "\n" else " " for char in text[start:stop])]
        place, number = stop, end + 1
    return "".join([*pieces, text[place:]])
