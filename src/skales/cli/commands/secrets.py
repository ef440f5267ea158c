"""`skales secrets`: look for keys and passwords in what was written earlier, mask them, take that back."""

import argparse
import json
from collections import Counter

from skales.app.secret_scan import PLACES, make_sweep
from skales.cli.known_secrets import open_vault
from skales.cli.progress_bar import ProgressBar
from skales.cli.terminal import aside, row, success, title, warn
from skales.core.clock import SystemClock
from skales.core.errors import NotFoundError
from skales.core.events import Progress
from skales.core.json import JsonObject
from skales.data.paths import locate_data_directory
from skales.data.secret_sweep import SecretSweep, Sweep
from skales.security.veil import Veil


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; scanning is the default. Works on the files, also while a server runs."""
    directory = locate_data_directory()
    directory.create()
    sweep = make_sweep(directory, Veil(open_vault(directory).known_values))
    match arguments.action:
        case "undo":
            _undo(sweep, arguments.id)
        case "forget":
            name = _pick(sweep, arguments.id)
            sweep.forget(name)
            success(f"The copy from before the masking {name} is deleted; it cannot be taken back any more")
        case _:
            _scan(sweep, masks=getattr(arguments, "mask", False), as_json="json" in arguments)
    return 0


def _scan(sweep: SecretSweep, *, masks: bool, as_json: bool) -> None:
    bar = ProgressBar()

    def report(done: int, total: int) -> bool:
        bar.show(Progress("Looking", done, total, "steps"))
        return True

    try:
        found = sweep.mask(SystemClock().now_ms(), report) if masks else sweep.look(report)
    finally:
        bar.clear()
    if found.id:
        sweep.drop_index()
    if as_json:
        print(json.dumps(sweep_json(found), ensure_ascii=False))
    else:
        _tell(found, masks=masks)


def _tell(found: Sweep, *, masks: bool) -> None:
    for file in found.found:
        title(f"{PLACES[file.place]}: {file.path}")
        for marker, count in Counter(file.markers).items():
            row(f"{count} ×", marker)
        if file.problem:
            warn(file.problem)
        elif masks and not file.is_masked:
            aside("The audit log is not changed, since its lines vouch for each other.")
    for name in found.unread:
        warn(f"{name} cannot be read and was left out")
    if not found.found:
        success(f"No secret in {found.looked_at} files")
    elif not masks:
        aside(f"{found.secrets} secrets in {len(found.found)} of {found.looked_at} files. Mask them with --mask.")
    elif found.id:
        masked = sum(file.is_masked for file in found.found)
        success(f"Masked in {masked} files. `skales secrets undo {found.id}` takes it back")
        aside(f"Until then the secrets lie in trash/secrets/{found.id}; `skales secrets forget` deletes them.")


def _undo(sweep: SecretSweep, wanted: str) -> None:
    back = sweep.undo(_pick(sweep, wanted))
    success(f"{len(back.restored)} files are as they were")
    for name in back.kept:
        warn(f"{name} changed since and stays masked")


def _pick(sweep: SecretSweep, wanted: str) -> str:
    """The named masking, else the newest."""
    backups = sweep.backups()
    if not backups:
        raise NotFoundError("Nothing was masked that could be taken back", hint="`skales secrets scan` looks first")
    return wanted or backups[0]


def sweep_json(found: Sweep) -> JsonObject:
    """What was found, for programs; markers only, no secret."""
    return {
        "lookedAt": found.looked_at,
        "secrets": found.secrets,
        "backup": found.id,
        "unread": list(found.unread),
        "files": [
            {"place": file.place, "path": file.path, "markers": list(file.markers), "masked": file.is_masked}
            for file in found.found
        ],
    }
