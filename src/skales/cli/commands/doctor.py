"""`skales doctor`: looks at everything an answer needs, names what is wrong and what to do. Changes nothing."""

import argparse
import asyncio
import json
import shutil
import sys
from pathlib import Path

import anyio.to_thread
from msgspec import Struct, structs

from skales.app.app import App
from skales.app.local_provider import LOCAL_PROVIDER
from skales.app.wiring import build_app
from skales.cli.commands.vault import describe_place, describe_trouble
from skales.cli.terminal import paint, title
from skales.core.clock import SystemClock
from skales.core.errors import ProviderError, SkalesError
from skales.core.ids import RandomIds
from skales.data.instance import InstanceLock, find_instance
from skales.data.key_store import PATIENCE_S
from skales.data.paths import DataDirectory, locate_data_directory
from skales.data.vault_key import KeyPlace

# Below this, sessions may still fit but the local model will not.
_LOW_SPACE_BYTES = 500_000_000

_MARKS = {"ok": ("✓", "green"), "note": ("○", "yellow"), "problem": ("✗", "red")}


class Finding(Struct, frozen=True):
    """One thing looked at. `level` is `ok`, `note` or `problem`."""

    level: str
    subject: str
    text: str
    advice: str = ""


def run(arguments: argparse.Namespace) -> int:
    """Print all findings; exit code 1 when one is a problem."""
    findings = asyncio.run(_examine(locate_data_directory()))
    if "json" in arguments:
        print(json.dumps([structs.asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        _print(findings)
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _print(findings: list[Finding]) -> None:
    title("Skales doctor")
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        print(f"  {paint(mark, colour)} {finding.subject:<10} {finding.text}")
        if finding.advice:
            print(paint(f"    {finding.advice}", "dim"))
    print()


async def _examine(directory: DataDirectory) -> list[Finding]:
    findings = [_python()]
    try:
        directory.create()
    except SkalesError as error:
        return [*findings, Finding("problem", "data", error.message, error.hint)]
    app = build_app(directory, InstanceLock(directory), SystemClock(), RandomIds())
    findings += await anyio.to_thread.run_sync(_data, app)
    findings.append(await anyio.to_thread.run_sync(_secrets, app))
    findings += [_server(directory), _local(app), await _provider(app)]
    return findings


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("ok", "python", f"{version} at {sys.executable}")


def _data(app: App) -> list[Finding]:
    root = app.directory.root
    free = shutil.disk_usage(root).free
    space = Finding("ok", "data", f"{root}, {free / 1e9:.1f} GB free")
    if free < _LOW_SPACE_BYTES:
        space = Finding("problem", "data", f"{root} has only {free / 1e6:.0f} MB free", "Free some space")
    settings = app.settings.load()
    count = app.sessions.count()
    broken = [
        Finding("problem", "broken", f"{Path(notice.path).name}: {notice.reason}", f"Kept at {notice.kept_at}")
        for notice in app.quarantine.notices()
    ]
    return [
        space,
        Finding("ok", "settings", f"safety mode {settings.safety_mode.value}, {count} conversations"),
        *broken,
    ]


def _secrets(app: App) -> Finding:
    status = app.vault.status(PATIENCE_S)
    trouble, advice = describe_trouble(status)
    if trouble:
        return Finding("problem" if status.place is KeyPlace.STORE else "note", "secrets", trouble, advice)
    place = describe_place(status, app.directory)
    if status.place is KeyPlace.FILE:
        return Finding("note", "secrets", f"sealed with a key {place}", "`skales vault rotate` moves it to a key store")
    return Finding("ok", "secrets", f"the key that seals them is {place}")


def _server(directory: DataDirectory) -> Finding:
    instance = find_instance(directory)
    if instance is None:
        return Finding("note", "server", "not running", "Start it with `skales serve`")
    return Finding("ok", "server", f"{instance.url}, process {instance.pid}")


def _local(app: App) -> Finding:
    status = app.local.status()
    if status.runtime_installed and status.model_installed:
        return Finding("ok", "local", f"{status.model_id} is here and works offline")
    size = f"{status.size_bytes_to_fetch / 1e6:.0f} MB"
    return Finding("note", "local", f"not fetched yet ({size})", "The first message to skales_local fetches it")


async def _provider(app: App) -> Finding:
    active = app.models.describe_active()
    if active.provider_id == LOCAL_PROVIDER:
        return Finding("ok", "provider", "the embedded local model")
    try:
        models = await app.models.test(active.provider_id)
    except ProviderError as error:
        return Finding("problem", "provider", f"{active.provider_id}: {error.message}", error.hint)
    if active.model and models and active.model not in models:
        return Finding("note", "provider", f"{active.provider_id} does not list the model {active.model!r}")
    return Finding("ok", "provider", f"{active.provider_id} answers, model {active.model or 'not chosen'}")
