"""Lays text out on the pages of a PDF: markdown with code, tables, lists and pictures, and text as it is."""

import base64
import binascii
import io
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from fpdf import FPDF
    from markdown_it.token import Token

_INK = (29, 32, 29)
_QUIET = (101, 105, 96)
_LINK = (11, 107, 87)
_CODE_GROUND = (246, 244, 239)
_TEXT_PT, _CODE_PT, _QUIET_PT = 10.5, 8.5, 9.0
_LINE_MM, _CODE_LINE_MM = 5.4, 4.2
_INDENT_MM = 6.0
_HEADING_PT = {"h1": 15.0, "h2": 13.5, "h3": 12.0}
_PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_INLINE_PICTURE = re.compile(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/=]+)", re.ASCII)
_LARGEST_PICTURE_MM = 110.0
_MM_PER_PIXEL = 25.4 / 96
# Wider or longer tables would leave a column no room for a letter, or a row no room on a page.
_MOST_COLUMNS = 10
_LONGEST_CELL = 700
_TAG = re.compile(r"<[^>]*>")
_STYLES = {"strong": "B", "em": "I", "s": "S"}


class Sheet(Struct):
    """A document being written. `clean` leaves of a text what its fonts can draw."""

    pdf: "FPDF"
    has_fonts: bool
    clean: Callable[[str], str]

    def use(self, *, size: float = _TEXT_PT, style: str = "", quiet: bool = False, is_code: bool = False) -> None:
        """The pen for what comes next."""
        families = ("code", "text") if self.has_fonts else ("courier", "helvetica")
        # The font for code has one face only.
        self.pdf.set_font(
            families[0] if is_code else families[1], "".join(set(style) & set("US")) if is_code else style, size
        )
        self.pdf.set_text_color(*(_QUIET if quiet else _INK))

    def line(self, text: str, height: float) -> None:
        """A paragraph that ends with a line break."""
        if not self.clean(text).strip():
            return
        self.pdf.multi_cell(0, height, self.clean(text), align="L", new_x="LMARGIN", new_y="NEXT")

    def gap(self, height: float) -> None:
        """Room below, none at the top of a page."""
        if self.pdf.get_y() > self.pdf.t_margin:
            self.pdf.ln(height)

    def keep_together(self, height: float) -> None:
        """Begin a page when less than this is left of the present one."""
        if self.pdf.will_page_break(height):
            self.pdf.add_page()

    @contextmanager
    def indented(self, by: float = _INDENT_MM) -> Generator[None, None, None]:
        """Everything inside begins further right."""
        before = self.pdf.l_margin
        # Lists in lists in lists must leave room for words.
        self.pdf.set_left_margin(min(before + by, self.pdf.w / 2))
        self.pdf.set_x(self.pdf.l_margin)
        try:
            yield
        finally:
            self.pdf.set_left_margin(before)
            self.pdf.set_x(before)


def write_plain(sheet: Sheet, text: str, *, quiet: bool = False) -> None:
    """Text as it is."""
    sheet.use(size=_QUIET_PT if quiet else _TEXT_PT, quiet=quiet)
    for paragraph in text.split("\n"):
        if paragraph.strip():
            sheet.line(paragraph, _LINE_MM)
        else:
            sheet.gap(_LINE_MM / 2)


def write_code(sheet: Sheet, code: str) -> None:
    """Code or a result on a ground of its own; long lines go on in the next."""
    from fpdf.enums import WrapMode

    text = sheet.clean(code.rstrip())
    if not text.strip():
        return
    sheet.use(size=_CODE_PT, is_code=True)
    sheet.pdf.set_fill_color(*_CODE_GROUND)
    sheet.pdf.multi_cell(
        0, _CODE_LINE_MM, text, align="L", fill=True, new_x="LMARGIN", new_y="NEXT", wrapmode=WrapMode.CHAR, padding=1
    )
    sheet.gap(1.5)


def write_picture(sheet: Sheet, media_type: str, data_base64: str, words: str) -> None:
    """A picture, or its name where its data is none."""
    from PIL import Image

    if media_type not in _PICTURE_TYPES:
        write_plain(sheet, words, quiet=True)
        return
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(data_base64, validate=True)))
        picture.load()
    except (OSError, ValueError, SyntaxError, binascii.Error, Image.DecompressionBombError):
        write_plain(sheet, words, quiet=True)
        return
    width, height = picture.width * _MM_PER_PIXEL, picture.height * _MM_PER_PIXEL
    shrunk = min(1.0, sheet.pdf.epw / width, _LARGEST_PICTURE_MM / height)
    sheet.keep_together(height * shrunk + 2)
    sheet.pdf.image(picture, w=width * shrunk, h=height * shrunk, alt_text=sheet.clean(words))
    sheet.gap(2)


def write_markdown(sheet: Sheet, text: str) -> None:
    """What a model wrote."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])
    _write_blocks(sheet, parser.parse(text))


def _write_blocks(sheet: Sheet, tokens: Sequence["Token"]) -> None:
    """Blocks one after another; what a container holds is written with the container's indent."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        end = _end_of(tokens, at)
        inside = tokens[at + 1 : end]
        match token.type:
            case "paragraph_open":
                _write_paragraph(sheet, inside, _TEXT_PT, "")
            case "heading_open":
                sheet.gap(1.5)
                _write_paragraph(sheet, inside, _HEADING_PT.get(token.tag, 11.0), "B")
            case "bullet_list_open" | "ordered_list_open":
                _write_list(sheet, token, inside)
            case "blockquote_open":
                with sheet.indented():
                    _write_blocks(sheet, inside)
            case "table_open":
                _write_table(sheet, inside)
            case "fence" | "code_block":
                write_code(sheet, token.content)
            case "html_block":
                write_plain(sheet, _TAG.sub("", token.content).strip())
            case "hr":
                _write_rule(sheet)
            case _:
                pass
        at = end + 1


def _end_of(tokens: Sequence["Token"], at: int) -> int:
    """Where the container that begins here ends; the place itself when it is none."""
    depth = int(tokens[at].nesting)
    while depth > 0:
        at += 1
        depth += tokens[at].nesting
    return at


def _write_paragraph(sheet: Sheet, tokens: Sequence["Token"], size: float, style: str) -> None:
    sheet.keep_together(_LINE_MM * 2)
    pictures: list[Token] = []
    for token in tokens:
        pictures += _write_inline(sheet, token.children or [], size, style)
    sheet.pdf.ln(_LINE_MM)
    for picture in pictures:
        found = _INLINE_PICTURE.fullmatch(str(picture.attrGet("src") or ""))
        if found:
            write_picture(sheet, found[1], found[2], picture.content)
    sheet.gap(1.8)


def _write_inline(sheet: Sheet, tokens: Sequence["Token"], size: float, style: str) -> list["Token"]:
    """Writes the words; the pictures among them come after the paragraph."""
    open_styles: list[str] = []
    links: list[str] = []
    pictures: list[Token] = []
    for token in tokens:
        name = token.tag
        if name in _STYLES:
            open_styles.append(_STYLES[name]) if token.nesting > 0 else open_styles.pop()
        elif token.type == "link_open":
            links.append(str(token.attrGet("href") or ""))
        elif token.type == "link_close":
            links.pop()
        elif token.type == "image":
            pictures.append(token)
        faces = "".join(dict.fromkeys([*style, *open_styles]))
        _write_run(sheet, token, size, faces, links[-1] if links else "")
    return pictures


def _write_run(sheet: Sheet, token: "Token", size: float, style: str, link: str) -> None:
    match token.type:
        case "text":
            text = token.content
        case "code_inline":
            text, size = token.content, size * 0.92
        case "image":
            text = token.content if not _INLINE_PICTURE.fullmatch(str(token.attrGet("src") or "")) else ""
        case "softbreak" | "hardbreak":
            text = "\n"
        case "html_inline":
            text = "\n" if token.content.lower().startswith("<br") else ""
        case _:
            return
    shown = sheet.clean(text)
    if not shown:
        return
    sheet.use(size=size, style=style + "U" if link else style, is_code=token.type == "code_inline")
    if link:
        sheet.pdf.set_text_color(*_LINK)
    target = link if link.lower().startswith(("http://", "https://", "mailto:")) else ""
    sheet.pdf.write(_LINE_MM, shown, target)


def _write_list(sheet: Sheet, opening: "Token", tokens: Sequence["Token"]) -> None:
    number = int(opening.attrGet("start") or 1)
    at = 0
    while at < len(tokens):
        end = _end_of(tokens, at)
        sheet.keep_together(_LINE_MM * 2)
        with sheet.indented():
            marker = "•" if opening.type == "bullet_list_open" else f"{number}."
            sheet.use()
            sheet.pdf.set_x(sheet.pdf.l_margin - _INDENT_MM)
            sheet.pdf.cell(_INDENT_MM, _LINE_MM, sheet.clean(marker))
            _write_blocks(sheet, tokens[at + 1 : end])
        number += 1
        at = end + 1


def _write_table(sheet: Sheet, tokens: Sequence["Token"]) -> None:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(sheet.clean(_words_of(token.children or [])))
    widest = max((len(row) for row in rows), default=0)
    if widest > _MOST_COLUMNS or any(len(cell) > _LONGEST_CELL for row in rows for cell in row):
        for row in rows:
            write_plain(sheet, " | ".join(row))
        return
    sheet.use(size=9.0)
    sheet.pdf.set_draw_color(*_QUIET)
    sheet.pdf.set_line_width(0.1)
    with sheet.pdf.table(rows, width=sheet.pdf.epw, text_align="LEFT", line_height=5.0, padding=1.0, markdown=False):
        pass
    sheet.gap(3)


def _words_of(tokens: Sequence["Token"]) -> str:
    return "".join(
        " " if token.type in ("softbreak", "hardbreak") else "" if token.type == "html_inline" else token.content
        for token in tokens
    )


def _write_rule(sheet: Sheet) -> None:
    sheet.gap(2)
    sheet.pdf.set_draw_color(*_QUIET)
    sheet.pdf.set_line_width(0.1)
    sheet.pdf.line(sheet.pdf.l_margin, sheet.pdf.get_y(), sheet.pdf.w - sheet.pdf.r_margin, sheet.pdf.get_y())
    sheet.gap(2)
