"""Rows about what guards each call: grants, other people's text, masking, the record for undo, the audit log.

The rooms are used directly; each baseline does what is left when nothing is guarded.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio.to_thread

from bench.machine import timed_ms
from bench.programs import Stage
from bench.stored import each_ms
from bench.table import Row
from skales.agent.origin import CallOrigin, Marks
from skales.agent.undo_record import Recorder
from skales.agent.undo_scope import Scope
from skales.app.app import App
from skales.app.life import open_app
from skales.app.rules import build_policy
from skales.core.clock import SystemClock
from skales.core.events import TurnEvent
from skales.core.ids import RandomIds, SessionId
from skales.core.json import JsonObject
from skales.core.tool import ToolCall
from skales.data.audit import AuditDecision, AuditLog
from skales.data.grants import FolderReach, Grant, Reach, ReachKind
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.setting_shapes import Settings
from skales.data.undo import UndoStore
from skales.data.undo_shape import UndoStep
from skales.security.veil import Veil

_GRANTS = 1_000
_MASKED_BYTES = 20_000
_TOOL = "create_directory"
_READING: JsonObject = {"path": "notes.txt"}
_MAKING: JsonObject = {"path": "folder"}
_UNMARKED = Marks()
_FOREIGN = Marks(sources=("the web page example.org", "the file letter.pdf"))


def measure_trust(stage: Stage, calls: int) -> Iterator[Row]:
    """All of them, each as the mean of many calls."""
    directory = DataDirectory(stage.new_home("trust"))
    yield from asyncio.run(_measure_calls(directory, calls))
    yield _measure_masking(max(calls // 10, 10))
    yield _measure_undo(directory, calls)
    yield _measure_audit(directory, calls)


async def _measure_calls(directory: DataDirectory, calls: int) -> list[Row]:
    async with open_app(directory) as app:
        plain = await each_ms(calls, lambda: _run(app, "read_file", _READING, _origin()))
        marked = await each_ms(calls, lambda: _run(app, "read_file", _READING, _origin(marks=_FOREIGN)))
        by_user = await each_ms(calls, lambda: _run(app, _TOOL, _MAKING, _origin(by_user=True)))
        await anyio.to_thread.run_sync(_fill_grants, app)
        allowed = await each_ms(calls, lambda: _run(app, _TOOL, _MAKING, _origin()))
    return [
        Row(
            name=f"a call covered by one of {_GRANTS:,} grants",
            unit="ms",
            samples=[allowed],
            baseline="the same call by the person",
            beside=[by_user],
        ),
        Row(
            name="a call after other people's text",
            unit="ms",
            samples=[marked],
            baseline="the same call before it",
            beside=[plain],
        ),
    ]


def _fill_grants(app: App) -> None:
    """Grants of other tools, and at the end the one that counts."""
    folders = (FolderReach("path", str(app.directory.workspace)),)
    reach = Reach(kind=ReachKind.PLACES, folders=folders)
    last = app.grants.add(Grant(id="", tool=_TOOL, session_id="", reach=reach))
    entry = app.grants.entry(last.id)
    assert entry is not None
    others = [{**entry, "id": f"grant_{number}", "tool": f"tool_{number}"} for number in range(_GRANTS - 1)]
    app.directory.grants.write_text(json.dumps({"grants": [*others, entry]}), encoding="utf-8")


async def _run(app: App, tool: str, arguments: JsonObject, origin: CallOrigin) -> None:
    result = await app.gate.run(ToolCall(f"call_{app.ids.token(12)}", tool, arguments), origin)
    assert not result.is_error, result


def _origin(*, by_user: bool = False, marks: Marks = _UNMARKED) -> CallOrigin:
    return CallOrigin(session_id=SessionId(""), surface="page", emit=_ignore, by_user=by_user, marks=marks)


def _measure_masking(times: int) -> Row:
    """Texts that were not seen before, without a secret in them, as most are."""
    texts = [f"{number} " + "A line of a log 2026-11-30 that says nothing. " * 435 for number in range(times)]
    texts = [text[:_MASKED_BYTES] for text in texts]
    word = re.compile(r"\b[a-z]+\b")
    veil = Veil()
    ours = [timed_ms(partial(veil.text, text)) for text in texts]
    bare = [timed_ms(partial(word.findall, text)) for text in texts]
    return Row(name="masking 20 KB", unit="ms", samples=ours, baseline="finding its words", beside=bare)


def _measure_undo(directory: DataDirectory, times: int) -> Row:
    """One changed line of a small file: looked at before and after, and written down."""
    clock, ids = SystemClock(), RandomIds()
    path = directory.workspace / "notes.txt"
    text = path.read_text(encoding="utf-8")
    paths = build_policy(Settings(), directory).paths
    with closing(UndoStore(directory, Quarantine(directory.quarantine, clock), clock, ids)) as store:
        recorder = Recorder(store, (directory.results, directory.root))

        def edit(number: int) -> None:
            step = UndoStep(id=store.new_id(), when_ms=store.now_ms(), tool="edit_file", summary="Edit notes.txt")
            recording = recorder.begin(step, Scope((path,)), paths)
            _write(path, text, number)
            assert recorder.finish(recording) is not None

        ours = [timed_ms(partial(edit, number)) for number in range(times)]
    bare = [timed_ms(partial(_write, path, text, number)) for number in range(times)]
    return Row(name="a small edit with its undo record", unit="ms", samples=ours, baseline="write_text", beside=bare)


def _write(path: Path, text: str, number: int) -> None:
    path.write_text(f"{text}Edit {number}\n", encoding="utf-8")


def _measure_audit(directory: DataDirectory, times: int) -> Row:
    log = AuditLog(directory, SystemClock(), Veil().value)
    arguments: JsonObject = {"path": "notes.txt", "start": 3}
    plain = directory.logs / "plain.jsonl"

    def decide(number: int) -> None:
        log.decided(
            AuditDecision(
                session_id="session_1",
                call_id=f"call_{number}",
                surface="page",
                tool="read_file",
                decision="auto",
                arguments=arguments,
            )
        )

    def append(number: int) -> None:
        with plain.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"call": f"call_{number}", "tool": "read_file", "arguments": arguments}) + "\n")

    ours = [timed_ms(partial(decide, number)) for number in range(times)]
    bare = [timed_ms(partial(append, number)) for number in range(times)]
    return Row(name="one line of the audit log", unit="ms", samples=ours, baseline="append of a line", beside=bare)


def _ignore(_event: TurnEvent) -> None:
    """Nobody watches."""
