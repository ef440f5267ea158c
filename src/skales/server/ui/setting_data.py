"""Your data: where it lies, how much it is, which files were set aside, and opening the folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form

from skales.app.app import App
from skales.core.errors import NotFoundError, SkalesError
from skales.data.quarantine import BrokenFile
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment, show_size
from skales.server.ui.setting_secrets import build_secrets
from skales.server.ui.setting_views import BrokenFileLine, BrokenFiles, DataPart, DataSizes, FolderSize, Remark
from skales.server.views import Trouble
from skales.server.words import N_, _

router = APIRouter(prefix="/ui/settings/data", dependencies=[PageSession])

_WHAT = {
    "sessions": N_("Conversations"),
    "memories": N_("Memories"),
    "tasks": N_("Tasks"),
    "attachments": N_("Files of messages"),
    "uploads": N_("Files of unsent messages"),
    "costs": N_("What answers cost"),
    "workspace": N_("The workspace of the tools"),
    "local-models": N_("The model that runs on this computer"),
    "logs": N_("Logs"),
    "quarantine": N_("Files set aside"),
    "trash": N_("Deleted conversations"),
    "cache": N_("Search index; may be deleted"),
}
_OPENERS = {"darwin": "open", "win32": "explorer"}


def build_data(app: App) -> DataPart:
    """Where everything lies. Reads the disk."""
    return DataPart(
        folder=str(app.directory.root),
        settings_file=str(app.directory.settings),
        can_open=bool(_opener()),
        broken=build_broken(app),
        secrets=build_secrets(app),
    )


def build_broken(app: App) -> BrokenFiles:
    """Files set aside that nobody dismissed."""
    return BrokenFiles(tuple(_show_broken(app, broken) for broken in app.quarantine.notices()))


@router.get("/sizes", response_class=PageResponse)
def show_sizes(app: AppDep) -> str:
    """How much each folder holds. Walks the whole directory, so the page asks for it by itself."""
    rows: list[FolderSize] = []
    total = 0
    with os.scandir(app.directory.root) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            count, size_bytes = _measure(Path(entry.path))
            total += size_bytes
            if entry.name in _WHAT and count:
                rows.append(FolderSize(entry.name, _(_WHAT[entry.name]), show_size(size_bytes), count))
    return render(DataSizes(show_size(total), tuple(rows)))


@router.post("/open", response_class=PageResponse)
def open_folder(app: AppDep) -> str:
    """Show the folder in the computer's own file manager."""
    opener = _opener()
    if not opener:
        return render(Remark(trouble=Trouble(_("No file manager can be opened from here"), _("Copy the path instead"))))
    try:
        subprocess.Popen(  # noqa: S603 - a fixed program and our own folder
            [opener, str(app.directory.root)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return render(Remark(trouble=Trouble(_("The folder cannot be opened"), error.strerror or "")))
    return render(Remark(_("Opened on this computer")))


@router.post("/dismiss", response_class=PageResponse)
def dismiss(app: AppDep, kept_at: Annotated[str, Form()]) -> str:
    """Forget the notice about a file; the file stays."""
    try:
        app.quarantine.dismiss(Path(kept_at))
    except NotFoundError:
        pass  # another tab was quicker
    except SkalesError as error:
        return render(Remark(trouble=Trouble(told(error.message), told(error.hint))))
    return render(build_broken(app))


def _opener(environment: Mapping[str, str] = os.environ) -> str:
    """The program that opens a folder, empty where there is no desktop."""
    fixed = _OPENERS.get(sys.platform, "")
    if fixed:
        return shutil.which(fixed) or ""
    has_desktop = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return (shutil.which("xdg-open") or "") if has_desktop else ""


def _measure(path: Path) -> tuple[int, int]:
    """Files and bytes below a path; what vanishes meanwhile or cannot be read counts as nothing."""
    if not path.is_dir() or path.is_symlink():
        return (1, _size_of(path))
    count = size_bytes = 0
    for folder, _folders, names in os.walk(path):
        count += len(names)
        size_bytes += sum(_size_of(Path(folder, name)) for name in names)
    return count, size_bytes


def _size_of(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _show_broken(app: App, broken: BrokenFile) -> BrokenFileLine:
    when = show_moment(broken.when_ms, app.clock.now_ms())
    return BrokenFileLine(str(broken.path), str(broken.kept_at), told(broken.reason), when)
