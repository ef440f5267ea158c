"""All conversations as one ZIP file, made while it is sent: one conversation in memory at a time."""

import logging
import zipfile
from collections.abc import Iterator
from datetime import datetime

from skales.app.export import ExportFormat, ExportOptions, export_json, name_file, prepare_session, safe_name
from skales.app.export_markdown import export_markdown
from skales.app.export_outline import Labels
from skales.core.clock import to_datetime
from skales.core.errors import NotFoundError, StorageError
from skales.data.index import SessionSummary
from skales.data.session_codec import Session
from skales.data.sessions import SessionStore
from skales.security.veil import Veil

# The forms that cost little enough to make thousands of.
ARCHIVED = (ExportFormat.MARKDOWN, ExportFormat.JSON)

_AT_ONCE = 500
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest that the ZIP format can say
_log = logging.getLogger(__name__)


class _Outlet:
    """A file that can only be written to; what was written is taken away between two conversations."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """The archive does not own us."""

    def take(self) -> bytes:
        """All since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def stream_archive(
    sessions: SessionStore, form: ExportFormat, options: ExportOptions, labels: Labels, veil: Veil | None = None
) -> Iterator[bytes]:
    """The ZIP file in pieces, newest conversation first; folders become folders.

    One that cannot be read is left out.
    """
    outlet = _Outlet()
    taken: set[str] = set()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for summary in _all(sessions):
            try:
                session = sessions.load(summary.id)
            except (NotFoundError, StorageError) as error:
                _log.warning("left %s out of the archive: %s", summary.id, error)
                continue
            prepared = prepare_session(session, options, veil)
            entry = zipfile.ZipInfo(_free_name(prepared, form, taken), _zip_time(to_datetime(session.updated_ms)))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, write_text(prepared, form, labels))
            yield outlet.take()
    yield outlet.take()


def write_text(prepared: Session, form: ExportFormat, labels: Labels) -> str:
    """A conversation in one of the archived forms."""
    assert form in ARCHIVED, form
    return export_json(prepared) if form is ExportFormat.JSON else export_markdown(prepared, labels)


def _all(sessions: SessionStore) -> Iterator[SessionSummary]:
    before: tuple[int, str] | None = None
    while found := sessions.list(limit=_AT_ONCE, before=before):
        yield from found
        before = (found[-1].updated_ms, found[-1].id)


def _free_name(prepared: Session, form: ExportFormat, taken: set[str]) -> str:
    folder = f"{safe_name(prepared.folder)}/" if prepared.folder else ""
    name = folder + name_file(prepared.title, prepared.updated_ms, form)
    stem, number = name.removesuffix(f".{form}"), 1
    while name.lower() in taken:  # some file systems do not tell upper case from lower
        number += 1
        name = f"{stem} ({number}).{form}"
    taken.add(name.lower())
    return name


def _zip_time(when: datetime) -> tuple[int, int, int, int, int, int]:
    return (when.year, when.month, when.day, when.hour, when.minute, when.second) if when.year >= 1980 else _FIRST_DAY
