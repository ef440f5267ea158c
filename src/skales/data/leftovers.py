"""Halves of files that a killed program left beside the ones it was about to replace."""

import os
from contextlib import suppress
from pathlib import Path

from skales.data.document import is_temporary
from skales.data.paths import DataDirectory

# Younger ones may belong to a command that is writing right now.
_AGE_MS = 3_600_000


def sweep_leftovers(directory: DataDirectory, now_ms: int) -> int:
    """Remove what was never moved into its place, older than an hour; how many. Looks at names only, reads no file.

    What people and tools keep is passed by: the workspace, model files, deleted things and what was set aside.
    """
    passed_by = {directory.workspace, directory.local_models, directory.trash, directory.quarantine}
    removed = 0
    for name, folders, files in os.walk(directory.root):
        folder = Path(name)
        folders[:] = [inner for inner in folders if folder / inner not in passed_by]
        for file in files:
            if is_temporary(file):
                removed += _remove(folder / file, now_ms - _AGE_MS)
    return removed


def _remove(path: Path, before_ms: int) -> bool:
    with suppress(OSError):
        if path.stat(follow_symlinks=False).st_mtime_ns // 1_000_000 < before_ms:
            path.unlink()
            return True
    return False
