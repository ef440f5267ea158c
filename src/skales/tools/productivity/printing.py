"""html_to_pdf: a page of HTML and CSS printed to A4, with nothing loaded but files that tools may read.

The layout library runs in a process of its own, which is ended when it takes too long or the call is cancelled.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio.to_thread

import skales
from skales.core.errors import InputError, ToolError
from skales.core.events import Progress
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import render_size
from skales.tools.file.reach import require_entry
from skales.tools.file.safe_open import open_file
from skales.tools.file.wording import count_of, shown_name
from skales.tools.productivity.print_work import Printed, PrintError, PrintOrder, read_answer, write_order
from skales.tools.productivity.target import Made, choose_target, store
from skales.tools.programs import Launch
from skales.tools.system.running import run_program
from skales.tools.system.shell import safe_environment
from skales.tools.web.charset import decode_body

_ENDINGS = (".pdf",)
_MOST_BYTES = 4 * 1024 * 1024
_MOST_S = 60.0
_NAMED = 5


@tool(
    "productivity",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    addon="documents",
    action="Print [{html:size} of HTML][{source}] to PDF[ as {filename}][, overwriting: {overwrite}]",
    example=(
        "Make a PDF invoice from this HTML",
        {"html": "<h1>Invoice 7</h1><p>Thank you.</p>", "filename": "invoice-7.pdf"},
    ),
    found_by="drucken print PDF aus HTML convert Seite umwandeln A4 invoice wandle turn web page render",
)
async def html_to_pdf(
    ctx: ToolContext, html: str = "", source: Path | None = None, filename: Path | None = None, overwrite: bool = False
) -> ToolResult:
    """Print HTML with CSS to an A4 PDF; for plain text use create_document.

    Args:
        html: The page; pictures and styles may name files in the workspace, nothing is loaded from the net.
        source: An HTML file instead.
        filename: Path ending in .pdf; made from the title when not given.
        overwrite: Replace a file that is there.
    """
    if bool(html.strip()) == (source is not None):
        raise InputError("Give either html or source", hint="html is the page itself, source a file")
    order, path = await anyio.to_thread.run_sync(partial(_prepare, ctx, html, source, filename, overwrite))
    ctx.scope.report(Progress("Laying out the pages", 0, 0, "steps"))
    printed = await _print(order)
    made = Made(printed.content, count_of(printed.pages, "page"), _note(printed.refused))
    return await anyio.to_thread.run_sync(partial(store, ctx, path, made, overwrite=overwrite))


def _prepare(
    ctx: ToolContext, html: str, source: Path | None, filename: Path | None, overwrite: bool
) -> tuple[PrintOrder, Path]:
    text = html if source is None else _load(ctx, source)
    if len(text) > _MOST_BYTES:
        raise InputError(f"The page is larger than {render_size(_MOST_BYTES)}", hint="Print it in parts")
    about = source.stem if source is not None else _title(text)
    path = choose_target(ctx, filename, about, _ENDINGS, overwrite=overwrite)
    folder = source.parent if source is not None else ctx.paths.workspace.resolve()
    return PrintOrder(text, folder, ctx.paths), path


def _load(ctx: ToolContext, source: Path) -> str:
    require_entry(source, ctx.paths)
    with open_file(source) as stream:
        return decode_body(stream.read(_MOST_BYTES + 1), "text/html").text


def _title(text: str) -> str:
    start = text.lower().find("<title>")
    end = text.lower().find("</title>", start)
    return text[start + len("<title>") : end] if 0 <= start < end else "page"


async def _print(order: PrintOrder) -> Printed:
    with tempfile.TemporaryDirectory(prefix="skales-print-") as name:
        place = Path(name)
        await anyio.to_thread.run_sync(write_order, order, place)
        # Our own code, so it sees the rules instead of living behind them as programs of others do.
        words = (sys.executable, "-P", "-X", "utf8", "-m", "skales.tools.productivity.print_work", name)
        told = {**safe_environment(os.environ), "PYTHONPATH": str(Path(skales.__file__).parents[1])}
        ended = await run_program(Launch(words, place, told), _MOST_S)
        if ended.timed_out:
            raise ToolError(
                f"The page could not be laid out within {_MOST_S:.0f} seconds",
                hint="Make it simpler, or print it in parts",
                code="timeout",
            )
        try:
            return await anyio.to_thread.run_sync(read_answer, place)
        except PrintError as error:
            raise ToolError(error.message, hint=error.hint, code="print") from error


def _note(refused: Sequence[str]) -> str:
    if not refused:
        return ""
    named = ", ".join(shown_name(address)[:100] for address in refused[:_NAMED])
    more = f" and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
    return f"Not loaded, since only files that tools may read are: {named}{more}"
