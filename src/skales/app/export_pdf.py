"""A conversation as a PDF file, for paper and archives. The library loads with the first one that is made.

Answers are laid out by `pdf_text`. What no font of this computer has is replaced by `?` and named on the first
page, never left out in silence.
"""

import unicodedata
from typing import assert_never

from skales.app.export_outline import Answered, Labels, Part, Spoken, Step, outline, show_time
from skales.core.clock import to_datetime
from skales.data.session_codec import Session
from skales.tools.documents.pdf_fonts import FontFiles, choose_fonts
from skales.tools.documents.pdf_pages import clean_text, new_pages, visible_signs
from skales.tools.documents.pdf_text import Sheet, write_code, write_markdown, write_picture, write_plain

# Longer results go on for hundreds of pages; the other forms have them whole.
_LONGEST_RESULT = 20_000
_NAMED_SIGNS = 40


def export_pdf(prepared: Session, labels: Labels, *, language: str = "en") -> bytes:
    """The bytes of a `.pdf` file."""
    parts = outline(prepared, labels)
    files = choose_fonts(_signs_of(prepared, parts, labels))
    sheet = Sheet(new_pages(files), has_fonts=bool(files.text), clean=lambda text: clean_text(text, files))
    sheet.pdf.set_lang(language)
    sheet.pdf.set_title(prepared.title or labels.untitled)
    sheet.pdf.set_creation_date(to_datetime(prepared.updated_ms))
    sheet.pdf.add_page()
    _write_head(sheet, prepared, labels, files)
    for part in parts:
        _write_part(sheet, part, labels)
    return bytes(sheet.pdf.output())


def _write_head(sheet: Sheet, prepared: Session, labels: Labels, files: FontFiles) -> None:
    provider, model = prepared.answered_by
    facts = (
        labels.begun % {"date": show_time(prepared.created_ms)},
        "/".join(name for name in (provider, model) if name),
    )
    sheet.use(size=18, style="B")
    sheet.line(prepared.title or labels.untitled, height=8)
    sheet.use(size=9, quiet=True)
    sheet.line(" · ".join(fact for fact in facts if fact), height=5)
    if files.missing:
        sheet.gap(2)
        sheet.line(labels.missing_signs % {"signs": _name_signs(files.missing)}, height=4.5)
    sheet.gap(4)


def _write_part(sheet: Sheet, part: Part, labels: Labels) -> None:
    match part:
        case Spoken():
            sheet.pdf.start_section(sheet.clean(" ".join(part.text.split())[:60]) or labels.person, strict=False)
            _write_speaker(sheet, labels.person, part.when)
            write_plain(sheet, part.text)
            for name in part.files:
                write_plain(sheet, labels.file % {"name": name}, quiet=True)
            for picture in part.pictures:
                write_picture(sheet, picture.media_type, picture.data_base64, picture.name or labels.picture)
        case Answered():
            _write_answer(sheet, part, labels)
        case Step():
            _write_step(sheet, part, labels)
        case _:
            assert_never(part)
    sheet.gap(4)


def _write_answer(sheet: Sheet, part: Answered, labels: Labels) -> None:
    _write_speaker(sheet, labels.assistant, part.when)
    if part.thoughts:
        write_plain(sheet, f"{labels.thoughts}: {part.thoughts}", quiet=True)
    write_markdown(sheet, part.text)
    if part.is_incomplete:
        write_plain(sheet, labels.incomplete, quiet=True)
    for line in part.unconfirmed:
        write_plain(sheet, line)
    if part.receipt:
        write_plain(sheet, part.receipt, quiet=True)


def _write_step(sheet: Sheet, part: Step, labels: Labels) -> None:
    sheet.use(size=9, style="B")
    sheet.line(part.tool + (f" ({labels.failed})" if part.is_error else ""), height=5)
    write_code(sheet, part.arguments)
    if part.result is not None:
        result = part.result
        write_code(sheet, result if len(result) <= _LONGEST_RESULT else f"{result[:_LONGEST_RESULT]}\n…")


def _write_speaker(sheet: Sheet, who: str, when: str) -> None:
    sheet.use(size=10, style="B")
    sheet.keep_together(20)
    sheet.line(f"{who}   {when}".rstrip(), height=6)


def _signs_of(prepared: Session, parts: tuple[Part, ...], labels: Labels) -> frozenset[str]:
    """Every visible sign that will be drawn."""
    texts = [prepared.title, *prepared.answered_by, labels.missing_signs, "•…?☑☐"]
    for part in parts:
        match part:
            case Spoken():
                texts += [part.text, *part.files]
            case Answered():
                texts += [part.text, part.thoughts, part.receipt, *part.unconfirmed]
            case Step():
                texts += [part.tool, part.arguments, part.result or ""]
            case _:
                assert_never(part)
    return visible_signs("".join(texts))


def _name_signs(missing: frozenset[str]) -> str:
    """Code points with the names they have in Unicode, since they cannot be shown."""
    named = [f"U+{ord(sign):04X} {unicodedata.name(sign, '').lower()}".strip() for sign in sorted(missing)]
    return ", ".join(named[:_NAMED_SIGNS]) + (f" … ({len(named)})" if len(named) > _NAMED_SIGNS else "")
