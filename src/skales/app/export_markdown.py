"""A conversation as Markdown: what models write stands as it is, everything else in forms that any reader shows."""

import re
from typing import assert_never

from skales.app.export_outline import Answered, Labels, Part, Spoken, Step, outline, show_time
from skales.core.message import ImagePart
from skales.data.session_codec import Session

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def export_markdown(prepared: Session, labels: Labels) -> str:
    """The text of a `.md` file, ending in a line break."""
    provider, model = prepared.answered_by
    facts = (
        labels.begun % {"date": show_time(prepared.created_ms)},
        "/".join(name for name in (provider, model) if name),
    )
    lines = [f"# {_one_line(prepared.title) or labels.untitled}", f"*{' · '.join(fact for fact in facts if fact)}*"]
    lines += [_write_part(part, labels) for part in outline(prepared, labels)]
    return "\n\n".join(lines).encode("utf-8", "replace").decode() + "\n"


def _write_part(part: Part, labels: Labels) -> str:
    match part:
        case Spoken():
            pictures = (_write_picture(picture, labels) for picture in part.pictures)
            files = (f"*{labels.file % {'name': _one_line(name)}}*" for name in part.files)
            return _join(_heading(labels.person, part.when), part.text, *files, *pictures)
        case Answered():
            return _join(
                _heading(labels.assistant, part.when),
                _quote(f"**{labels.thoughts}**\n\n{part.thoughts}") if part.thoughts else "",
                part.text,
                f"*{labels.incomplete}*" if part.is_incomplete else "",
                *(f"> **{_one_line(line)}**" for line in part.unconfirmed),
                f"<sub>{part.receipt}</sub>" if part.receipt else "",
            )
        case Step():
            state = f" ({labels.failed})" if part.is_error else ""
            return _join(
                f"### `{_one_line(part.tool)}`{state}",
                _fence(part.arguments, "json"),
                "" if part.result is None else f"{labels.result}:",
                "" if part.result is None else _fence(part.result, "text"),
            )
        case _:
            assert_never(part)


def _heading(who: str, when: str) -> str:
    return f"## {who}" + (f" · {when}" if when else "")


def _write_picture(picture: ImagePart, labels: Labels) -> str:
    name = re.sub(r"[\[\]\n]", " ", picture.name) or labels.picture
    return f"![{name}](data:{picture.media_type};base64,{picture.data_base64})"


def _fence(text: str, language: str) -> str:
    """A code block whose fence is longer than any inside."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (max(longest, 2) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _join(*pieces: str) -> str:
    return "\n\n".join(piece for piece in pieces if piece)


def _one_line(text: str) -> str:
    return " ".join(text.split())
