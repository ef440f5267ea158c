"""Writes a conversation's export for `skales sessions export`. Loads the renderers, so it is imported when needed."""

import argparse
import os
import sys
from pathlib import Path

from skales.app.export import ExportFormat, ExportOptions, export_json, name_file, prepare_session
from skales.app.export_markdown import export_markdown
from skales.app.export_outline import Labels
from skales.app.export_pdf import export_pdf
from skales.cli.known_secrets import open_vault
from skales.core.errors import ConflictError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, as_text
from skales.data.paths import locate_data_directory
from skales.data.session_codec import Session, session_from_disk
from skales.security.veil import Veil

_PRIVATE = 0o600


def write_export(raw: JsonObject, arguments: argparse.Namespace) -> str:
    """Where the file is; empty when it went to standard output. Raises ConflictError for a name that is taken."""
    session = session_from_disk(SessionId(as_text(raw.get("id"))), raw, mtime_ms=0)
    options = ExportOptions(
        steps=not arguments.no_steps, thoughts=arguments.thoughts, receipts=not arguments.no_receipts
    )
    form = ExportFormat(arguments.format)
    veil = Veil(open_vault(locate_data_directory()).known_values)
    content = _render(prepare_session(session, options, veil), form)
    if arguments.output == "-":
        sys.stdout.buffer.write(content)
        return ""
    named = arguments.output or name_file(session.title or Labels().untitled, session.updated_ms, form)
    _write(Path(named), content, replaces=bool(arguments.output))
    return str(named)


def _render(prepared: Session, form: ExportFormat) -> bytes:
    match form:
        case ExportFormat.MARKDOWN:
            return export_markdown(prepared, Labels()).encode()
        case ExportFormat.JSON:
            return export_json(prepared).encode()
        case ExportFormat.PDF:
            return export_pdf(prepared, Labels())
        case ExportFormat.HTML:
            from skales.server.export_html import export_html

            return export_html(prepared, Labels()).encode()


def _write(path: Path, content: bytes, *, replaces: bool) -> None:
    """A name that the person gave may be replaced, one that we chose may not."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replaces else os.O_EXCL) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags, _PRIVATE), "wb") as file:
            file.write(content)
    except FileExistsError as error:
        raise ConflictError(f"{str(path)!r} exists already", hint="Name another file with -o") from error
    except OSError as error:
        raise StorageError(
            f"{str(path)!r} cannot be written: {error.strerror}", hint="Choose another place with -o"
        ) from error
