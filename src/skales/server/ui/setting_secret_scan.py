"""Looking for old secrets from the settings page: start, how far it is, stop, mask, take back, forget."""

from collections import Counter
from typing import Annotated, ClassVar

from fastapi import APIRouter, BackgroundTasks, Form
from msgspec import Struct

from skales.app.app import App
from skales.core.errors import ConflictError, SkalesError
from skales.data.secret_sweep import SweptFile, TakenBack
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.views import Trouble
from skales.server.words import N_, _

router = APIRouter(prefix="/ui/settings/secret-scan", dependencies=[PageSession])

_PLACES = {
    "conversation": N_("Conversation"),
    "deleted conversation": N_("Deleted conversation"),
    "memory": N_("Memory"),
    "result": N_("Tool result"),
    "log": N_("Log"),
    "audit": N_("Audit log"),
}
_SHOWN_FILES = 100


class SecretLine(Struct, frozen=True):
    """A file and what was found in it."""

    place: str
    path: str
    markers: tuple[str, ...]
    is_masked: bool
    stays: bool


class SecretPart(Struct, frozen=True, kw_only=True):
    """The search as it stands: running, over, or not begun."""

    template: ClassVar[str] = "settings/secret_scan.html"
    is_running: bool = False
    done: int = 0
    total: int = 0
    has_looked: bool = False
    looked_at: int = 0
    secrets: int = 0
    rows: tuple[SecretLine, ...] = ()
    more: int = 0
    unread: int = 0
    can_mask: bool = False
    backup: str = ""
    trouble: Trouble | None = None
    kept: tuple[str, ...] = ()
    restored: int = 0


@router.get("", response_class=PageResponse)
def show(app: AppDep) -> str:
    """How far the search is, or what it found."""
    return render(build_secret_scan(app))


@router.post("/look", response_class=PageResponse)
def look(app: AppDep, tasks: BackgroundTasks) -> str:
    """Start looking; nothing is changed."""
    return _start(app, tasks, masks=False)


@router.post("/mask", response_class=PageResponse)
def mask(app: AppDep, tasks: BackgroundTasks) -> str:
    """Start masking what is found."""
    return _start(app, tasks, masks=True)


@router.post("/stop", response_class=PageResponse)
def stop(app: AppDep) -> str:
    """End it after the file it is at."""
    app.secret_scan.stop()
    return render(build_secret_scan(app))


@router.post("/undo", response_class=PageResponse)
def undo(app: AppDep, backup: Annotated[str, Form()]) -> str:
    """Bring back what a masking changed."""
    try:
        back = app.secret_scan.undo(backup)
    except SkalesError as error:
        return render(build_secret_scan(app, _trouble(error)))
    return render(build_secret_scan(app, back=back))


@router.post("/forget", response_class=PageResponse)
def forget(app: AppDep, backup: Annotated[str, Form()]) -> str:
    """Delete what a masking kept."""
    try:
        app.secret_scan.sweep.forget(backup)
    except SkalesError as error:
        return render(build_secret_scan(app, _trouble(error)))
    return render(build_secret_scan(app))


def build_secret_scan(app: App, trouble: Trouble | None = None, back: TakenBack | None = None) -> SecretPart:
    """What the part shows now. Reads the disk."""
    scan = app.secret_scan
    last, backups = scan.last, scan.sweep.backups()
    if scan.is_running or last is None:
        return SecretPart(
            is_running=scan.is_running,
            done=scan.done,
            total=scan.total,
            backup=backups[0] if backups else "",
            trouble=trouble,
            restored=len(back.restored) if back else 0,
            kept=back.kept if back else (),
        )
    return SecretPart(
        has_looked=True,
        looked_at=last.looked_at,
        secrets=last.secrets,
        rows=tuple(map(_show_file, last.found[:_SHOWN_FILES])),
        more=max(len(last.found) - _SHOWN_FILES, 0),
        unread=len(last.unread),
        can_mask=any(not file.is_masked and file.place != "audit" for file in last.found),
        backup=backups[0] if backups else "",
        trouble=trouble or (Trouble(told(scan.failure.message), told(scan.failure.hint)) if scan.failure else None),
    )


def _start(app: App, tasks: BackgroundTasks, *, masks: bool) -> str:
    try:
        app.secret_scan.claim()
    except ConflictError as error:
        return render(build_secret_scan(app, _trouble(error)))
    tasks.add_task(app.secret_scan.run_claimed, masks=masks)
    return render(build_secret_scan(app))


def _trouble(error: SkalesError) -> Trouble:
    return Trouble(told(error.message), told(error.hint))


def _show_file(file: SweptFile) -> SecretLine:
    counted = Counter(file.markers)
    markers = tuple(f"{count} × {marker}" if count > 1 else marker for marker, count in counted.items())
    return SecretLine(_(_PLACES[file.place]), file.path, markers, file.is_masked, file.place == "audit")
