"""Rows about what lies on disk: many conversations, a long one, many tool calls; and how all grows with their number.

The stores are used directly, as the server's routes do; the baselines do the same with SQLite or JSON and nothing else.
"""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from time import sleep

import anyio.to_thread

from bench.client import Connection
from bench.growth import Growth
from bench.machine import pss_mib, timed_ms
from bench.programs import Stage, run_proxy, run_skales
from bench.table import Row
from bench.turns import Pair, measure_overhead
from skales.app.life import open_app
from skales.core.clock import SystemClock
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore

_FIRST_MS = 1_700_000_000_000
_PAGE = 60
_WORDS = ("river", "stone", "cloud", "lamp", "field", "paper", "wheel", "window", "garden", "letter")
_QUERY = "topic42"  # one session in a hundred has it
_LISTING = "SELECT id, title, updated_ms FROM sessions ORDER BY updated_ms DESC, id DESC LIMIT ?"
_SEARCH = (
    "SELECT id, title FROM sessions WHERE key IN (SELECT rowid FROM words WHERE words MATCH ?) "
    "ORDER BY updated_ms DESC LIMIT ?"
)


def measure_growth(stage: Stage, sizes: Sequence[int], rows_at: Sequence[int]) -> tuple[list[Row], list[Growth]]:
    """One data directory that fills up; rows with baselines at the sizes in `rows_at`."""
    home = stage.new_home("growth")
    (home / "sessions").mkdir()
    growth = {
        name: Growth(name, unit, "conversations")
        for name, unit in (
            ("index rebuild", "ms"),
            ("first page of the list", "ms"),
            ("search", "ms"),
            ("server ready", "ms"),
            ("chat page by HTTP", "ms"),
            ("turn overhead, new chat", "ms"),
            ("PSS after a listing", "MiB"),
        )
    }
    rows: list[Row] = []
    written = 0
    for size in sizes:
        for number in range(written, size):
            write_session(home, number, 2)
        written = size
        found = {**_measure_stores(DataDirectory(home)), **_measure_served(stage, home)}
        for name, samples in found.items():
            growth[name].values[size] = median(samples)
        if size in rows_at:
            rows += _rows_beside_sqlite(stage, home, size, found)
    return rows, list(growth.values())


def write_session(home: Path, number: int, messages: int) -> str:
    """A conversation's file; its id."""
    moment_ms = _FIRST_MS + number * 60_000
    session_id = f"session_{moment_ms}"
    content = [
        {"role": "assistant" if at % 2 else "user", "content": _text(number, at), "timestamp": moment_ms + at}
        for at in range(messages)
    ]
    raw = {
        "id": session_id,
        "title": f"Chat {number} about {_WORDS[number % len(_WORDS)]}",
        "provider": "custom",
        "model": "bench",
        "createdAt": moment_ms,
        "updatedAt": moment_ms + messages,
        "messages": content,
    }
    (home / "sessions" / f"{session_id}.json").write_text(json.dumps(raw), encoding="utf-8")
    return session_id


def measure_long_page(stage: Stage, messages: int, repeats: int) -> Iterator[Row]:
    """The page of a conversation with very many messages, at first and again."""
    home = stage.new_home("long")
    (home / "sessions").mkdir()
    session_id = write_session(home, 0, messages)
    text = (home / "sessions" / f"{session_id}.json").read_text(encoding="utf-8")
    parsing = [timed_ms(lambda: json.loads(text)) for _ in range(repeats)]
    with run_skales(home) as skales:
        first, *again = asyncio.run(_fetch_ms(skales.url, f"/chat/{session_id}", repeats + 1))
    baseline = "json.loads of the file"
    yield Row(name=f"{messages:,}-message page, first", unit="ms", samples=[first], baseline=baseline, beside=parsing)
    yield Row(name=f"{messages:,}-message page, again", unit="ms", samples=again, baseline=baseline, beside=parsing)


def measure_gate(stage: Stage, calls: int) -> Row:
    """Tool calls through the gate, one after another, in process."""
    home = stage.new_home("gate")

    async def run() -> tuple[float, float]:
        async with open_app(DataDirectory(home)) as app:
            arguments = {"path": "notes.txt"}
            assert not (await app.run_tool("read_file", arguments)).is_error
            ours = await each_ms(calls, lambda: app.run_tool("read_file", arguments))
            path = home / "workspace" / "notes.txt"
            return ours, await each_ms(calls, lambda: anyio.to_thread.run_sync(path.read_text, "utf-8"))

    ours, bare = asyncio.run(run())
    return Row(
        name=f"a tool call, of {calls:,} through the gate",
        unit="ms",
        samples=[ours],
        baseline="read_text in a thread",
        beside=[bare],
    )


def _measure_stores(directory: DataDirectory) -> Mapping[str, list[float]]:
    _drop_index(directory)
    with closing(_open_store(directory)) as store:
        rebuild = timed_ms(store.count)  # a list is answered before all files were read
    with closing(_open_store(directory)) as store:
        store.list(_PAGE)
        return {
            "index rebuild": [rebuild],
            "first page of the list": [timed_ms(lambda: store.list(_PAGE)) for _ in range(5)],
            "search": [timed_ms(lambda: store.list(_PAGE, query=_QUERY)) for _ in range(5)],
        }


def _measure_served(stage: Stage, home: Path) -> Mapping[str, list[float]]:
    with run_skales(home) as skales, run_proxy(stage) as proxy:
        overhead = asyncio.run(measure_overhead(Pair(stage, skales, proxy), 7))[0]
        fetched = asyncio.run(_fetch_ms(skales.url, "/chat", 5))
        sleep(1)
        return {
            "server ready": [skales.ready_ms],
            "turn overhead, new chat": list(overhead.samples),
            "chat page by HTTP": fetched[1:],
            "PSS after a listing": [pss_mib(skales.pid)],
        }


def _rows_beside_sqlite(stage: Stage, home: Path, size: int, found: Mapping[str, Sequence[float]]) -> Iterator[Row]:
    with closing(sqlite3.connect(stage.folder / f"plain-{size}.db", isolation_level=None)) as db:
        built = timed_ms(lambda: _build_plain(db, home))
        listed = [timed_ms(lambda: db.execute(_LISTING, (_PAGE,)).fetchall()) for _ in range(5)]
        searched = [timed_ms(lambda: db.execute(_SEARCH, (_QUERY, _PAGE)).fetchall()) for _ in range(5)]
    bare = {"index rebuild": [built], "first page of the list": listed, "search": searched}
    for name, beside in bare.items():
        baseline = "json.loads + FTS5 insert" if name == "index rebuild" else "plain SQLite query"
        yield Row(name=f"{size:,} sessions: {name}", unit="ms", samples=found[name], baseline=baseline, beside=beside)


def _build_plain(db: sqlite3.Connection, home: Path) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT, title TEXT, updated_ms INTEGER)")
    db.execute("CREATE INDEX newest ON sessions (updated_ms DESC, id DESC)")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    db.execute("BEGIN")
    for path in (home / "sessions").iterdir():
        raw = json.loads(path.read_text(encoding="utf-8"))
        added = db.execute(
            "INSERT INTO sessions (id, title, updated_ms) VALUES (?, ?, ?)", (raw["id"], raw["title"], raw["updatedAt"])
        )
        text = "\n".join([raw["title"], *(message["content"] for message in raw["messages"])])
        db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (added.lastrowid, text))
    db.execute("COMMIT")


def _open_store(directory: DataDirectory) -> SessionStore:
    clock = SystemClock()
    index = Index(directory.index, directory.sessions)
    return SessionStore(directory, Quarantine(directory.quarantine, clock), index, clock)


def _drop_index(directory: DataDirectory) -> None:
    for suffix in ("", "-wal", "-shm"):
        directory.index.with_name(directory.index.name + suffix).unlink(missing_ok=True)


def _text(number: int, at: int) -> str:
    words = " ".join(_WORDS[(number * 7 + at * 3 + step) % len(_WORDS)] for step in range(30))
    return f"topic{number % 100} {words}"


async def _fetch_ms(url: str, path: str, times: int) -> list[float]:
    connection = await Connection.open(url, {"accept": "text/html"})
    loop = asyncio.get_running_loop()
    taken = []
    for _ in range(times):
        start_s = loop.time()
        answer = await connection.get(path)
        taken.append((loop.time() - start_s) * 1000)
        assert answer.status == 200, answer
    await connection.aclose()
    return taken


async def each_ms(calls: int, act: Callable[[], Awaitable[object]]) -> float:
    """Mean wall time of calls, one after another."""
    loop = asyncio.get_running_loop()
    start_s = loop.time()
    for _ in range(calls):
        await act()
    return (loop.time() - start_s) * 1000 / calls
