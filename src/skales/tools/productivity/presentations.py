"""create_presentation: titles, points, notes and pictures as PowerPoint slides."""

import datetime
import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from msgspec import Struct

from skales.core.clock import to_datetime
from skales.core.errors import InputError, ToolError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.binding import allowed_path
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.documents.kinds import Family, detect_kind
from skales.tools.file.reach import require_entry
from skales.tools.file.safe_open import open_file
from skales.tools.file.wording import count_of
from skales.tools.productivity.marks import plain_text
from skales.tools.productivity.target import Made, choose_target, store

_ENDINGS = (".pptx",)
_KEYS = frozenset({"title", "bullets", "notes", "picture"})
_MOST_BULLETS, _LONGEST_TEXT = 100, 20_000
_MOST_PICTURE_BYTES = 20 * 1024 * 1024
_DEEPEST = 4
# A wide slide, in inches: the page, and where title, text and picture stand.
_PAGE = (13.333, 7.5)
_TITLE = (0.7, 0.45, 11.93, 1.2)
_TEXT = (0.7, 1.85, 11.93, 5.0)
_TEXT_BESIDE = (0.7, 1.85, 6.0, 5.0)
_PICTURE_BESIDE = (7.0, 1.85, 5.63, 5.0)
_PICTURE_ALONE = (0.7, 1.85, 11.93, 5.2)

Box = tuple[float, float, float, float]


class _Slide(Struct, frozen=True):
    """A slide to write. `bullets` come with their depth."""

    title: str
    bullets: Sequence[tuple[int, str]]
    notes: str
    picture: bytes


@tool(
    "productivity",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    addon="documents",
    action="Make a presentation[ as {filename}][ titled “{title}”][, overwriting: {overwrite}]",
    example=(
        "Make slides about our garden",
        {
            "filename": "garden.pptx",
            "title": "Our garden",
            "slides": [{"title": "Plan", "bullets": ["Dig", "  before May", "Sow"], "notes": "Show the map."}],
        },
    ),
    found_by=(
        "PowerPoint Folien slides pptx Präsentation Vortrag deck pitch talk Keynote sales halten presentation "
        "Foliensatz"
    ),
)
async def create_presentation(
    ctx: ToolContext,
    slides: Annotated[list[dict[str, JsonValue]], Range(1, 200)],
    filename: Path | None = None,
    title: str = "",
    overwrite: bool = False,
) -> ToolResult:
    """Make a PowerPoint file of slides with points, speaker notes and pictures.

    Args:
        slides: Each {"title": "Plan", "bullets": ["Dig", "  before May"], "notes": "…", "picture": "map.png"}; two
            blanks before a bullet put it one level deeper.
        filename: Path ending in .pptx; made from the title when not given.
        title: With it the first slide shows it alone.
        overwrite: Replace a file that is there.
    """
    return await to_thread.run_sync(partial(_create, ctx, slides, filename, " ".join(title.split()), overwrite))


def _create(
    ctx: ToolContext, raw: Sequence[Mapping[str, JsonValue]], filename: Path | None, title: str, overwrite: bool
) -> ToolResult:
    slides = [_read_slide(ctx, entry, number) for number, entry in enumerate(raw, start=1)]
    title = plain_text(title)
    path = choose_target(ctx, filename, title or slides[0].title, _ENDINGS, overwrite=overwrite)
    stored = _write(slides, title, to_datetime(ctx.clock.now_ms()))
    return store(ctx, path, Made(stored, count_of(len(slides) + bool(title), "slide")), overwrite=overwrite)


def _read_slide(ctx: ToolContext, entry: Mapping[str, JsonValue], number: int) -> _Slide:
    if unknown := sorted(set(entry) - _KEYS):
        raise InputError(
            f"Slide {number} has {unknown[0]!r}", hint='A slide has "title", "bullets", "notes" and "picture"'
        )
    bullets = entry.get("bullets") or []
    if not isinstance(bullets, list) or len(bullets) > _MOST_BULLETS:
        raise InputError(
            f"The bullets of slide {number} are no list of at most {_MOST_BULLETS} texts", hint="Use more slides"
        )
    picture = _text_of(entry, "picture", number)
    return _Slide(
        title=" ".join(_text_of(entry, "title", number).split()),
        bullets=[_bullet(bullet, number) for bullet in bullets],
        notes=_text_of(entry, "notes", number),
        picture=_load_picture(ctx, picture) if picture else b"",
    )


def _text_of(entry: Mapping[str, JsonValue], key: str, number: int) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise InputError(
            f"{key!r} of slide {number} is no text of at most {_LONGEST_TEXT:,} characters", hint="Make it shorter"
        )
    return plain_text(value)


def _bullet(value: JsonValue, number: int) -> tuple[int, str]:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise InputError(f"A bullet of slide {number} is no short text", hint="Give bullets as a list of texts")
    text = plain_text(value).replace("\t", "  ")
    depth = min((len(text) - len(text.lstrip(" "))) // 2, _DEEPEST)
    return depth, " ".join(text.split()).removeprefix("- ").removeprefix("• ")


def _load_picture(ctx: ToolContext, text: str) -> bytes:
    """A picture that the rules let a tool read; the slide's path is no argument the gate has judged."""
    path = allowed_path(text, ctx.paths)
    require_entry(path, ctx.paths)
    with open_file(path) as stream:
        kind = detect_kind(stream)
        stream.seek(0)
        content = stream.read(_MOST_PICTURE_BYTES + 1)
    if kind is None or kind.family is not Family.PICTURE:
        raise ToolError(f"{text!r} is no picture", hint="Use PNG, JPEG or GIF")
    if len(content) > _MOST_PICTURE_BYTES:
        raise ToolError(f"{text!r} is larger than 20 MB", hint="Make it smaller first")
    return content


def _write(slides: Sequence[_Slide], title: str, now: datetime.datetime) -> bytes:
    import pptx
    from pptx.util import Inches

    show: Any = pptx.Presentation()
    show.slide_width, show.slide_height = Inches(_PAGE[0]), Inches(_PAGE[1])
    facts = show.core_properties
    facts.title, facts.author, facts.created, facts.modified = title[:250], "", now, now
    if title:
        first = show.slides.add_slide(show.slide_layouts[0])
        first.shapes.title.text = title
        _put(first.shapes.title, (0.7, 2.4, 11.93, 2.0))
        _remove(first.placeholders[1])
    for slide in slides:
        _add(show, slide)
    stored = io.BytesIO()
    show.save(stored)
    return stored.getvalue()


def _add(show: Any, slide: _Slide) -> None:
    made = show.slides.add_slide(show.slide_layouts[1])
    made.shapes.title.text = slide.title
    _put(made.shapes.title, _TITLE)
    body = made.placeholders[1]
    if slide.bullets:
        _put(body, _TEXT_BESIDE if slide.picture else _TEXT)
        _write_bullets(body.text_frame, slide.bullets)
    else:
        _remove(body)
    if slide.picture:
        _add_picture(made, slide.picture, _PICTURE_BESIDE if slide.bullets else _PICTURE_ALONE)
    if slide.notes:
        made.notes_slide.notes_text_frame.text = slide.notes


def _write_bullets(frame: Any, bullets: Sequence[tuple[int, str]]) -> None:
    from pptx.enum.text import MSO_AUTO_SIZE

    frame.auto_size = MSO_AUTO_SIZE.TEXT_TO_FIT_SHAPE
    for number, (depth, text) in enumerate(bullets):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = text, depth


def _add_picture(made: Any, content: bytes, box: Box) -> None:
    """As large as fits, in the middle of the box."""
    from pptx.util import Inches

    left, top, width, height = (Inches(value) for value in box)
    try:
        picture = made.shapes.add_picture(io.BytesIO(content), left, top)
    except (ValueError, OSError, SyntaxError) as error:
        raise ToolError(f"A picture cannot be used: {error}", hint="Use PNG, JPEG or GIF", code="damaged") from error
    scale = min(width / picture.width, height / picture.height)
    picture.width, picture.height = int(picture.width * scale), int(picture.height * scale)
    picture.left = int(left + (width - picture.width) / 2)
    picture.top = int(top + (height - picture.height) / 2)


def _put(shape: Any, box: Box) -> None:
    from pptx.util import Inches

    shape.left, shape.top, shape.width, shape.height = (Inches(value) for value in box)


def _remove(shape: Any) -> None:
    shape._element.getparent().remove(shape._element)
