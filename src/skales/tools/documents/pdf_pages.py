"""Empty pages of a PDF document with numbers below, and what of a text their fonts can draw."""

import re
from typing import TYPE_CHECKING

from skales.tools.documents.pdf_fonts import FontFiles

if TYPE_CHECKING:
    from fpdf import FPDF

_MARGIN_MM = 18.0
# Invisible: joiners, direction marks, variation selectors, and control characters but tab and line break.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_HALVES = re.compile("[\ud800-\udfff]")


def new_pages(files: FontFiles) -> "FPDF":
    """A document of A4 pages that has no page yet."""
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


def visible_signs(text: str) -> frozenset[str]:
    """Every sign of a text that will be drawn."""
    shown = _UNSEEN.sub("", _HALVES.sub("?", text))
    return frozenset(sign for sign in set(shown) if not sign.isspace())


def clean_text(text: str, files: FontFiles) -> str:
    """Only what the fonts have; tabs become spaces."""
    seen = _UNSEEN.sub("", _HALVES.sub("?", text.replace("\r\n", "\n"))).expandtabs(4)
    if not files.text:
        return seen.encode("latin-1", "replace").decode("latin-1")
    return "".join("?" if sign in files.missing else sign for sign in seen) if files.missing else seen
