"""create_document: a text with headings, lists and tables as a file that people open, sign and send on."""

from functools import partial
from pathlib import Path

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.errors import InputError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.file.wording import count_of
from skales.tools.productivity.marks import first_heading, plain_text
from skales.tools.productivity.page_writing import write_page, write_pdf
from skales.tools.productivity.target import Made, choose_target, store
from skales.tools.productivity.word_writing import write_word

_ENDINGS = (".docx", ".pdf", ".html", ".md", ".txt")
_MOST_CHARACTERS = 400_000


@tool(
    "productivity",
    Safety.CONFIRM,
    Effect.WRITES,
    addon="documents",
    action="Make a document of {content:size}[ as {filename}][ titled “{title}”][, overwriting: {overwrite}]",
    example=(
        "Write the minutes as a Word document",
        {"content": "## Present\n\n- Ana\n- Ben\n", "filename": "minutes.docx", "title": "Minutes"},
    ),
    found_by=(
        "Word docx Brief Bericht letter report Dokument PDF erstellen schreiben contract Vertrag invitation "
        "cover Anschreiben Kündigung Kündigungsschreiben Word-Dokument aufsetzen document write Bewerbung "
        "resume Lebenslauf Protokoll minutes Handout"
    ),
)
async def create_document(
    ctx: ToolContext, content: str, filename: Path | None = None, title: str = "", overwrite: bool = False
) -> ToolResult:
    """Make a Word, PDF, HTML, Markdown or text document from Markdown.

    Args:
        content: Markdown: headings, lists, tables, links, code, bold and italic.
        filename: Path ending in .docx (usual), .pdf, .html, .md or .txt; made from the title when not given.
        title: Stands at the top.
        overwrite: Replace a file that is there.
    """
    if not content.strip():
        raise InputError("content is empty", hint="Give the text of the document")
    if len(content) > _MOST_CHARACTERS:
        raise InputError(
            f"content has {len(content):,} characters; a document takes {_MOST_CHARACTERS:,}",
            hint="Make several documents, or use write_file for plain text",
        )
    return await to_thread.run_sync(partial(_create, ctx, content, filename, " ".join(title.split()), overwrite))


def _create(ctx: ToolContext, content: str, filename: Path | None, title: str, overwrite: bool) -> ToolResult:
    text, title = plain_text(content), plain_text(title)
    path = choose_target(ctx, filename, title or first_heading(text), _ENDINGS, overwrite=overwrite)
    if title and first_heading(text).casefold() == title.casefold() and text.lstrip().startswith("# "):
        # The text says it itself.
        text = text.lstrip().partition("\n")[2]
    now, note = to_datetime(ctx.clock.now_ms()), ""
    match path.suffix.lower():
        case ".docx":
            stored = write_word(text, title, now)
        case ".pdf":
            stored, note = write_pdf(text, title, now)
        case ".html":
            stored = write_page(text, title)
        case _:
            stored = (f"# {title}\n\n{text}" if title else text).encode("utf-8")
    words = count_of(len(text.split()), "word")
    return store(ctx, path, Made(stored, words, note), overwrite=overwrite)
