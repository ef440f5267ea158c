"""Reads the audit log, newest first, and pairs each decision with what came of it. Vouches for nothing.

Also reads lines from before there was a chain, where both are one line.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from skales.core.json import JsonObject, as_int, as_list, as_object, as_text
from skales.data.audit import find_files
from skales.data.audit_chain import read_plain
from skales.data.document import storage_errors
from skales.data.paths import DataDirectory
from skales.data.records import moment_ms, texts_of

# What is not about a call: the chain's own lines.
_OWN_KINDS = frozenset({"begun", "sealed", "pruned", "anchor lost"})


class AuditedCall(Struct, frozen=True, kw_only=True):
    """A call at the gate. `key` sorts and pages. `ok` is None while nothing is known of a run.

    `kind` is `call`, else what was noted, such as `kill switch`; `facts` is the line then.
    """

    key: str
    when_ms: int
    kind: str = "call"
    session_id: str = ""
    turn_id: str = ""
    call_id: str = ""
    surface: str = ""
    tool: str = ""
    decision: str = ""
    reason: str = ""
    approval_id: str = ""
    effects: frozenset[str] = frozenset()
    preview: str = ""
    ok: bool | None = None
    error: str = ""
    duration_ms: int = 0
    questions: tuple[str, ...] = ()
    facts: JsonObject


def read_calls(directory: DataDirectory, *, since_ms: int = 0) -> Iterator[AuditedCall]:
    """The calls that were decided from a moment on, newest first. Raises StorageError."""
    runs: dict[int, JsonObject] = {}
    for key, value in _read_lines(directory, since_ms):
        kind = as_text(value.get("kind"))
        if kind == "run":
            runs[as_int(value.get("of"))] = value
        elif kind not in _OWN_KINDS and value:
            call = _read_call(key, value, runs.pop(as_int(value.get("n")), None))
            if call.when_ms >= since_ms:
                yield call


def take(
    calls: Iterator[AuditedCall], wanted: Callable[[AuditedCall], bool], limit: int, *, before: str = ""
) -> tuple[tuple[AuditedCall, ...], bool]:
    """So many that are wanted, older than a key when there is one; and whether there are more."""
    found: list[AuditedCall] = []
    for call in calls:
        if (before and call.key >= before) or not wanted(call):
            continue
        if len(found) == limit:
            return tuple(found), True
        found.append(call)
    return tuple(found), False


def read_raw(directory: DataDirectory, *, since_ms: int = 0) -> Iterator[JsonObject]:
    """Every line as it stands, oldest first. Raises StorageError."""
    lines = list(_read_lines(directory, since_ms))
    for _key, value in reversed(lines):
        if value and moment_ms(value.get("ts")) >= since_ms:
            yield value


def _read_lines(directory: DataDirectory, since_ms: int) -> Iterator[tuple[str, JsonObject]]:
    for path in reversed(find_files(directory.logs)):
        with storage_errors(path, "read"):
            lines = path.read_bytes().splitlines()
        newest_ms = 0
        for number in range(len(lines), 0, -1):
            value = read_plain(lines[number - 1])
            newest_ms = max(newest_ms, moment_ms(value.get("ts")))
            yield f"{path.stem.removeprefix('audit-')}.{number:09}", value
        # Runs stand after their decisions, so that nothing older than this file can be newer.
        if 0 < newest_ms < since_ms:
            return


def _read_call(key: str, value: JsonObject, run: JsonObject | None) -> AuditedCall:
    is_old = "kind" not in value
    came = value if is_old else as_object(run)
    ok = came.get("ok")
    ran = run is not None or (is_old and as_text(value.get("decision")) in ("auto", "user", "granted", "approved"))
    return AuditedCall(
        key=key,
        when_ms=moment_ms(value.get("ts")),
        kind="call" if is_old or value.get("kind") == "decision" else as_text(value.get("kind")),
        session_id=as_text(value.get("session")),
        turn_id=as_text(value.get("turn")),
        call_id=as_text(value.get("call")),
        surface=as_text(value.get("surface")),
        tool=as_text(value.get("tool")),
        decision=as_text(value.get("decision")),
        reason=as_text(value.get("reason")),
        approval_id=as_text(value.get("approval")),
        effects=frozenset(str(effect) for effect in as_list(value.get("effects"))),
        preview=as_text(value.get("args_preview")),
        ok=ok if ran and isinstance(ok, bool) else None,
        error=as_text(came.get("error")),
        duration_ms=as_int(came.get("duration_ms")),
        questions=texts_of(came.get("questions")),
        facts=value,
    )
