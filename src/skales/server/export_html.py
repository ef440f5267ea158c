"""A conversation as one HTML file: styled, printable, without scripts, and nothing in it is fetched from anywhere.

Answers go through the page's own renderer and sanitiser; the file's Content-Security-Policy stands behind them.
"""

import re
from functools import cache
from pathlib import Path
from typing import assert_never

from markupsafe import Markup

from skales.app.export_outline import Answered, Labels, Part, Spoken, Step, outline, show_time
from skales.core.message import ImagePart
from skales.data.session_codec import Session
from skales.server.conversation_views import Picture
from skales.server.markdown import render_markdown
from skales.server.ui.history_views import ExportedDocument, ExportEntry
from skales.server.ui.pages import render

_STYLES = Path(__file__).parent / "static" / "css"
_SHEETS = ("tokens.css", "prose.css", "export.css")
# Addresses of our server mean nothing in a file that lies elsewhere.
_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
_PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def export_html(prepared: Session, labels: Labels) -> str:
    """The text of an `.html` file."""
    provider, model = prepared.answered_by
    facts = (
        labels.begun % {"date": show_time(prepared.created_ms)},
        "/".join(name for name in (provider, model) if name),
    )
    document = ExportedDocument(
        title=prepared.title or labels.untitled,
        facts=" · ".join(fact for fact in facts if fact),
        entries=tuple(_entry(part, labels) for part in outline(prepared, labels)),
        thoughts_label=labels.thoughts,
        result_label=labels.result,
    )
    page = render(document).replace("</head>", f"<style>\n{_style()}</style>\n</head>", 1)
    return page.encode("utf-8", "replace").decode()


def _entry(part: Part, labels: Labels) -> ExportEntry:
    match part:
        case Spoken():
            pictures = tuple(_picture(found, labels) for found in part.pictures if found.media_type in _PICTURE_TYPES)
            files = tuple(labels.file % {"name": name} for name in part.files)
            return ExportEntry(labels.person, part.when, part.text, pictures=pictures, files=files)
        case Answered():
            notes = (labels.incomplete if part.is_incomplete else "", *part.unconfirmed, part.receipt)
            return ExportEntry(
                labels.assistant,
                part.when,
                html=Markup(render_markdown(part.text)),  # noqa: S704 - the renderer's promise
                thoughts=part.thoughts,
                notes=tuple(note for note in notes if note),
            )
        case Step():
            state = f" ({labels.failed})" if part.is_error else ""
            return ExportEntry("", "", tool=f"{part.tool}{state}", arguments=part.arguments, result=part.result or "")
        case _:
            assert_never(part)


def _picture(picture: ImagePart, labels: Labels) -> Picture:
    return Picture(f"data:{picture.media_type};base64,{picture.data_base64}", picture.name or labels.picture)


@cache
def _style() -> str:
    return "".join(_FONT_FACE.sub("", (_STYLES / name).read_text(encoding="utf-8")) for name in _SHEETS)
