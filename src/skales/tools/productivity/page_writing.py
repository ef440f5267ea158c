"""Writes Markdown as an HTML page that stands alone, and as a PDF document."""

import datetime
from html import escape

from skales.tools.documents.pdf_fonts import choose_fonts
from skales.tools.documents.pdf_pages import clean_text, new_pages, visible_signs
from skales.tools.documents.pdf_text import Sheet, write_markdown
from skales.tools.productivity.marks import open_parser

_STYLE = """
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.6 system-ui, sans-serif; color: #1d201d; }
h1, h2, h3 { line-height: 1.25; } pre, code { font-family: ui-monospace, monospace; background: #f6f4ef; }
pre { padding: .75rem 1rem; overflow-x: auto; } table { border-collapse: collapse; }
th, td { border: 1px solid #bbb; padding: .25rem .6rem; text-align: start; vertical-align: top; }
blockquote { margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid #bbb; }
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_page(text: str, title: str) -> bytes:
    """The bytes of an `.html` file; HTML in the text is shown as text, and nothing is loaded from elsewhere."""
    heading = f"<h1>{escape(title)}</h1>\n" if title else ""
    return (
        "<!doctype html>\n<html>\n<head>\n"
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{heading}{open_parser().render(text)}</body>\n</html>\n"
    ).encode("utf-8", "replace")


def write_pdf(text: str, title: str, now: datetime.datetime) -> tuple[bytes, str]:
    """The bytes of a `.pdf` file, and in words which signs no font of this computer has."""
    files = choose_fonts(visible_signs(f"{title}{text}•…?☑☐"))
    sheet = Sheet(new_pages(files), has_fonts=bool(files.text), clean=lambda part: clean_text(part, files))
    sheet.pdf.set_title(title)
    sheet.pdf.set_creation_date(now)
    sheet.pdf.add_page()
    if title:
        sheet.use(size=18, style="B")
        sheet.line(title, height=8)
        sheet.gap(3)
    write_markdown(sheet, text)
    missing = "".join(sorted(files.missing))[:40]
    note = f"No font of this computer has these signs, so they stand as ?: {missing}" if missing else ""
    return bytes(sheet.pdf.output()), note
