"""The block of `key: value` lines at the start of a Markdown file: SKILL.md, and notes of Obsidian.

Read as YAML in which every value is text, lists or objects of such: no value means another thing than what is written
(`no` is "no"), and none can make an object. A colon in plain text, which YAML forbids and people write, is recovered.
Pure. Spec: skills.md, "SKILL.md rules"; SKL-01, SKL-02.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from skales.core.errors import InputError

FrontValue = str | Sequence["FrontValue"] | Mapping[str, "FrontValue"]
Front = Mapping[str, FrontValue]

# Beyond this nobody wrote it by hand, and reading it takes seconds.
_MOST_CHARS = 16 * 1024
# The quick reader nests without a limit of its own, so it gets only what cannot nest deep enough to harm.
_QUICK_CHARS = 4 * 1024
_MOST_DEPTH = 100
_BRACKET = re.compile(r"[\[\]{}]")
_FENCE = re.compile(r"-{3}[ \t]*$")
_KEY_LINE = re.compile(r"""(?P<key>[^\s#:'"\[\]{}|>&*!%@`,?-][^:]*):(?:[ \t]+(?P<value>.*))?$""")
# A value that begins so is written in YAML's own forms; when it is broken, what was meant is anybody's guess.
_FORMAL = ('"', "'", "[", "{", "|", ">")
_COMMENT = re.compile(r"[ \t]#.*$")


class FrontMatterError(InputError):
    """It cannot be read. `line` counts from 1 in the file."""

    def __init__(self, message: str, *, line: int = 1) -> None:
        super().__init__(message, code="front_matter")
        self.line = line


class Parts(Struct, frozen=True):
    r"""A Markdown text in two, with `\n` line ends. `front` is None when there is no such block.

    `first_line` is the line of the text, from 0, at which `body` begins.
    """

    front: str | None
    body: str
    first_line: int = 0


def split_front_matter(text: str) -> Parts:
    """Part a text at its fences. Raises FrontMatterError when the block is opened and never closed."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = plain.split("\n")
    if not _FENCE.match(lines[0]):
        return Parts(None, plain)
    for number, line in enumerate(lines[1:], 1):
        if _FENCE.match(line):
            return Parts("\n".join(lines[1:number]), "\n".join(lines[number + 1 :]), number + 1)
    raise FrontMatterError("The front matter is opened with --- and never closed")


def read_front(front: str) -> Front:
    """The values of a block without its fences. Raises FrontMatterError with the line."""
    if len(front) > _MOST_CHARS:
        raise FrontMatterError(f"The front matter is longer than {_MOST_CHARS // 1024} KB")
    try:
        value = _parse(front)
    except ValueError:
        return _recover(front)
    if value == "":
        return {}
    if not isinstance(value, Mapping):
        raise FrontMatterError("The front matter is no list of `key: value` lines", line=2)
    return value


def text_of(front: Front, *keys: str) -> str:
    """The text under a key, or under a key of the object there; empty when there is none."""
    value: FrontValue = front
    for key in keys:
        value = value.get(key, "") if isinstance(value, Mapping) else ""
    return value.strip() if isinstance(value, str) else ""


def texts_of(front: Front, key: str) -> tuple[str, ...]:
    """The texts under a key, whether written as a list or as one text."""
    value = front.get(key, "")
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return () if isinstance(value, Mapping) else tuple(item for item in value if isinstance(item, str))


def _parse(text: str) -> FrontValue:
    """Raises ValueError."""
    import yaml

    if _is_too_deep(text):
        raise ValueError("it is nested too deeply")
    # The base loaders make texts, lists and objects, whatever tags the text carries.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader) if len(text) <= _QUICK_CHARS else yaml.BaseLoader
    try:
        value: object = yaml.load(text, loader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, TypeError) as error:
        raise ValueError(str(error)) from error
    return "" if value is None else cast(FrontValue, value)


def _is_too_deep(text: str) -> bool:
    """Whether so many brackets stand open at once that reading them takes seconds."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        if depth > _MOST_DEPTH:
            return True
    return False


def _recover(front: str) -> Front:
    """Key by key, so that one that is no YAML is read as the plain text it looks like."""
    found: dict[str, FrontValue] = {}
    for number, group in _groups(front):
        try:
            value = _parse("\n".join(group))
        except ValueError:
            value = _read_group(number, group)
        if isinstance(value, Mapping):
            found.update(value)
    return found


def _groups(front: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Each key with the deeper lines that belong to it, and its line in the file."""
    group: list[str] = []
    start = 2
    for number, line in enumerate(front.split("\n"), 2):
        # A list may stand under its key without being indented.
        if group and (not line.strip() or line[0] in " \t-"):
            group.append(line)
            continue
        if group:
            yield start, group
        group, start = ([line], number) if line.strip() and not line.startswith("#") else ([], number)
    if group:
        yield start, group


def _read_group(number: int, group: Sequence[str]) -> Front:
    found = _KEY_LINE.match(group[0])
    if found is None:
        raise FrontMatterError(f"Line {number} of the front matter is no `key: value` line", line=number)
    key, value = found["key"].rstrip(), (found["value"] or "").strip()
    if value.startswith(_FORMAL):
        raise FrontMatterError(f"The value of {key!r} in line {number} is no valid YAML", line=number)
    if not value or value.startswith("#"):
        return {key: _read_inner(number, group[1:])}
    lines = (_COMMENT.sub("", line).strip() for line in (value, *group[1:]))
    return {key: " ".join(line for line in lines if line)}


def _read_inner(number: int, lines: Sequence[str]) -> Front:
    """The one level of keys below a key."""
    inner: dict[str, FrontValue] = {}
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    if not depth:
        raise FrontMatterError(f"What stands below line {number} is no valid YAML", line=number)
    for start, group in _groups("\n".join(line[depth:] for line in lines)):
        try:
            value = _parse("\n".join(group))
        except ValueError:
            at = number + start - 1
            if (deeper := _KEY_LINE.match(group[0])) is None or not deeper["value"]:
                raise FrontMatterError(f"Line {at} of the front matter is no valid YAML", line=at) from None
            value = _read_group(at, group)
        if isinstance(value, Mapping):
            inner.update(value)
    return inner
