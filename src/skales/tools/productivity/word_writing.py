"""Writes Markdown as a Word document with real headings, lists, tables and links."""

import datetime
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from skales.tools.productivity.marks import is_safe_link, parse_marks

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

# The template has lists of three depths.
_DEEPEST_LIST = 3
_CODE_FONT = "Consolas"
_CODE_PT, _INLINE_CODE_PT = 9.5, 10
_CODE_GROUND = "F3F3F0"
_LINK_INK = "0B57D0"
_A4_MM = (210, 297)
_MARGIN_MM = 22
_INDENT_MM = 6.3


class _Pen(Struct, frozen=True):
    """How the words of a run look."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    link: str = ""


class _Place(Struct, frozen=True):
    """Where blocks go: `depth` of lists around them, and whether they are quoted."""

    depth: int = 0
    is_quoted: bool = False


def write_word(text: str, title: str, now: datetime.datetime) -> bytes:
    """The bytes of a `.docx` file.

    Args:
        text: Markdown.
        title: Stands at the top as the document's title; empty for none.
        now: When it is made.
    """
    return _Writer().write(text, title, now)


class _Writer:
    def __init__(self) -> None:
        import docx
        from docx.shared import Mm

        self._document: Any = docx.Document()
        self._end: Any = self._document.element.body.sectPr
        section = self._document.sections[0]
        section.page_width, section.page_height = Mm(_A4_MM[0]), Mm(_A4_MM[1])
        section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Mm(_MARGIN_MM)
        self._add_code_style()

    def write(self, text: str, title: str, now: datetime.datetime) -> bytes:
        facts = self._document.core_properties
        facts.title, facts.author, facts.comments = title[:250], "", ""
        facts.created = facts.modified = now
        if title:
            self._add("Title").add_run(title)
        self._blocks(parse_marks(text).children, _Place())
        stored = io.BytesIO()
        self._document.save(stored)
        return stored.getvalue()

    def _add_code_style(self) -> None:
        from docx.enum.style import WD_STYLE_TYPE
        from docx.shared import Pt

        style = self._document.styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = self._document.styles["Normal"]
        style.font.name, style.font.size = _CODE_FONT, Pt(_CODE_PT)
        style.paragraph_format.space_after = Pt(0)
        style.element.get_or_add_pPr().append(_shading())

    def _blocks(self, nodes: Sequence["SyntaxTreeNode"], place: _Place) -> None:
        for node in nodes:
            self._block(node, place)

    def _block(self, node: "SyntaxTreeNode", place: _Place) -> None:
        match node.type:
            case "heading":
                self._inline(self._add(f"Heading {node.tag[1]}"), node.children, _Pen())
            case "paragraph":
                self._inline(self._paragraph(place), node.children, _Pen())
            case "bullet_list" | "ordered_list":
                self._list(node, place)
            case "blockquote":
                self._blocks(node.children, structs.replace(place, is_quoted=True))
            case "fence" | "code_block":
                self._code(node.content, place)
            case "table":
                self._table(node)
            case "hr":
                self._rule()
            case _:
                self._blocks(node.children, place)

    def _add(self, style: str = "") -> Any:
        """A paragraph at the end. The library's own way looks through all that stand before, each time."""
        from docx.oxml import OxmlElement
        from docx.text.paragraph import Paragraph

        element: Any = OxmlElement("w:p")
        self._end.addprevious(element)
        paragraph = Paragraph(element, self._document._body)
        if style:
            paragraph.style = self._document.styles[style]
        return paragraph

    def _paragraph(self, place: _Place) -> Any:
        from docx.shared import Mm

        paragraph = self._add("Quote" if place.is_quoted else "")
        if place.depth:
            paragraph.paragraph_format.left_indent = Mm(_INDENT_MM * (place.depth + 1))
        return paragraph

    def _list(self, node: "SyntaxTreeNode", place: _Place) -> None:
        depth = min(place.depth + 1, _DEEPEST_LIST)
        kind = "List Number" if node.type == "ordered_list" else "List Bullet"
        style = kind if depth == 1 else f"{kind} {depth}"
        number = self._new_numbering(style, _start_of(node)) if node.type == "ordered_list" else None
        for item in node.children:
            inside = structs.replace(place, depth=place.depth + 1)
            first = item.children[0] if item.children else None
            rest = item.children[1:]
            paragraph = self._add(style)
            if number is not None:
                properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
                properties.get_or_add_ilvl().val = 0
                properties.get_or_add_numId().val = number
            if first is not None and first.type == "paragraph":
                self._inline(paragraph, first.children, _Pen())
            elif first is not None:
                rest = [first, *rest]
            self._blocks(rest, inside)

    def _new_numbering(self, style: str, start: int) -> int:
        """A numbering of its own, so that a second list does not go on where the first one ended."""
        numbering = self._document.part.numbering_part.element
        of_style = self._document.styles[style].element.pPr.numPr.numId.val
        abstract = numbering.num_having_numId(of_style).abstractNumId.val
        number = numbering.add_num(abstract)
        number.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(number.numId)

    def _code(self, code: str, place: _Place) -> None:
        from docx.shared import Mm, Pt

        lines = code.rstrip("\n").split("\n")
        for number, line in enumerate(lines):
            paragraph = self._add("Code")
            paragraph.add_run(line)
            if place.depth:
                paragraph.paragraph_format.left_indent = Mm(_INDENT_MM * (place.depth + 1))
            if number == len(lines) - 1:
                paragraph.paragraph_format.space_after = Pt(8)

    def _table(self, node: "SyntaxTreeNode") -> None:
        rows = [row for part in node.children for row in part.children]
        width = max((len(row.children) for row in rows), default=0)
        table = self._document.add_table(0, width, style="Table Grid")
        for number, row in enumerate(rows):
            cells = table.add_row().cells
            for cell, content in zip(cells, row.children, strict=False):
                paragraph = cell.paragraphs[0]
                self._inline(paragraph, content.children, _Pen(bold=number == 0))
                paragraph.alignment = _alignment(content)
            if number == 0:
                _repeat_on_each_page(table.rows[0])
        self._add()

    def _rule(self) -> None:
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        border = OxmlElement("w:pBdr")
        line = OxmlElement("w:bottom")
        for name, value in (("val", "single"), ("sz", "6"), ("space", "1"), ("color", "AAAAAA")):
            line.set(qn(f"w:{name}"), value)
        border.append(line)
        properties = self._add()._p.get_or_add_pPr()
        properties.insert_element_before(border, "w:shd", "w:tabs", "w:spacing", "w:ind", "w:jc", "w:rPr")

    def _inline(self, paragraph: Any, nodes: Sequence["SyntaxTreeNode"], pen: _Pen) -> None:
        for node, look in _runs(nodes, pen):
            match node.type:
                case "softbreak":
                    self._run(paragraph, " ", look)
                case "hardbreak":
                    paragraph.add_run().add_break()
                case "image":
                    self._run(paragraph, f"[Picture: {node.content or 'without words'}]", look)
                case _:
                    self._run(paragraph, node.content, look)

    def _run(self, paragraph: Any, text: str, pen: _Pen) -> None:
        from docx.shared import Pt, RGBColor

        run = paragraph.add_run(text)
        run.bold, run.italic = pen.bold or None, pen.italic or None
        run.font.strike = pen.strike or None
        if pen.code:
            run.font.name, run.font.size = _CODE_FONT, Pt(_INLINE_CODE_PT)
        if is_safe_link(pen.link):
            run.font.underline, run.font.color.rgb = True, RGBColor.from_string(_LINK_INK)
            _wrap_in_link(paragraph, run, pen.link)


def _runs(nodes: Sequence["SyntaxTreeNode"], pen: _Pen) -> Iterator[tuple["SyntaxTreeNode", _Pen]]:
    for node in nodes:
        match node.type:
            case "strong":
                yield from _runs(node.children, structs.replace(pen, bold=True))
            case "em":
                yield from _runs(node.children, structs.replace(pen, italic=True))
            case "s":
                yield from _runs(node.children, structs.replace(pen, strike=True))
            case "link":
                yield from _runs(node.children, structs.replace(pen, link=str(node.attrGet("href") or "")))
            case "code_inline":
                yield node, structs.replace(pen, code=True)
            case "inline":
                yield from _runs(node.children, pen)
            case _:
                yield node, pen


def _start_of(node: "SyntaxTreeNode") -> int:
    start = node.attrGet("start")
    return int(start) if start is not None else 1


def _alignment(cell: "SyntaxTreeNode") -> Any:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    style = str(cell.attrGet("style") or "")
    if style.endswith("right"):
        return WD_ALIGN_PARAGRAPH.RIGHT
    return WD_ALIGN_PARAGRAPH.CENTER if style.endswith("center") else None


def _shading() -> Any:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    shading = OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", _CODE_GROUND)):
        shading.set(qn(f"w:{name}"), value)
    return shading


def _repeat_on_each_page(row: Any) -> None:
    from docx.oxml import OxmlElement

    row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def _wrap_in_link(paragraph: Any, run: Any, address: str) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run._r.addprevious(link)
    link.append(run._r)
