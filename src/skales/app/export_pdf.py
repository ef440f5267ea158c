"""A conversation as a PDF file, for paper and archives. The library loads with the first one that is made.

Answers are laid out by `export_pdf_text`. What no font of this computer has is replaced by `?` and named on the first
page, never left out in silence.
"""

import re
import unicodedata
from typing import TYPE_CHECKING, assert_never

from skales.app.export_fonts import FontFiles, choose_fonts
from skales.app.export_outline import Answered, Labels, Part, Spoken, Step, outline, show_time
from skales.app.export_pdf_text import Sheet, write_code, write_markdown, write_picture, write_plain
from skales.core.clock import to_datetime
from skales.data.session_codec import Session

if TYPE_CHECKING:
    from fpdf import FPDF

# Longer results go on for hundreds of pages; the other forms have them whole.
_LONGEST_RESULT = 20_000
_MARGIN_MM = 18.0
# Invisible: joiners, direction marks, variation selectors, and control characters but tab and line break.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_HALVES = re.compile("[\ud800-\udfff]")
_NAMED_SIGNS = 40


def export_pdf(prepared: Session, labels: Labels, *, language: str = "en") -> bytes:
    """The bytes of a `.pdf` file."""
    parts = outline(prepared, labels)
    files = choose_fonts(_signs_of(prepared, parts, labels))
    sheet = Sheet(_new_document(files), has_fonts=bool(files.text), clean=lambda text: _clean(text, files))
    sheet.pdf.set_lang(language)
    sheet.pdf.set_title(prepared.title or labels.untitled)
    sheet.pdf.set_creation_date(to_datetime(prepared.updated_ms))
    sheet.pdf.add_page()
    _write_head(sheet, prepared, labels, files)
    for part in parts:
        _write_part(sheet, part, labels)
    return bytes(sheet.pdf.output())


def _new_document(files: FontFiles) -> "FPDF":
    from fpdf import FPDF

    class Numbered(FPDF):
        def footer(self) -> None:
            self.set_y(-12)
            self.set_font("text" if files.text else "helvetica", size=8)
            self.set_text_color(101, 105, 96)
            self.cell(0, 5, str(self.page_no()), align="C")

    pdf = Numbered(format="A4")
    pdf.set_margins(_MARGIN_MM, _MARGIN_MM)
    pdf.set_auto_page_break(True, margin=_MARGIN_MM)
    for style, path in files.text.items():
        pdf.add_font("text", style, path)
    if files.code is not None:
        pdf.add_font("code", "", files.code)
    for number, path in enumerate(files.more):
        pdf.add_font(f"more{number}", "", path)
    pdf.set_fallback_fonts([f"more{number}" for number in range(len(files.more))], exact_match=False)
    return pdf


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
                texts += [part.text, part.thoughts, part.receipt]
            case Step():
                texts += [part.tool, part.arguments, part.result or ""]
            case _:
                assert_never(part)
    shown = _UNSEEN.sub("", _HALVES.sub("?", "".join(texts)))
    return frozenset(sign for sign in set(shown) if not sign.isspace())


def _clean(text: str, files: FontFiles) -> str:
    """Only what the fonts have; tabs become spaces."""
    seen = _UNSEEN.sub("", _HALVES.sub("?", text.replace("\r\n", "\n"))).expandtabs(4)
    if not files.text:
        return seen.encode("latin-1", "replace").decode("latin-1")
    return "".join("?" if sign in files.missing else sign for sign in seen) if files.missing else seen


def _name_signs(missing: frozenset[str]) -> str:
    """Code points with the names they have in Unicode, since they cannot be shown."""
    named = [f"U+{ord(sign):04X} {unicodedata.name(sign, '').lower()}".strip() for sign in sorted(missing)]
    return ", ".join(named[:_NAMED_SIGNS]) + (f" … ({len(named)})" if len(named) > _NAMED_SIGNS else "")
