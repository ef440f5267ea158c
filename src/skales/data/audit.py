"""The audit log: one JSON line per decision of the gate, one file per day. Spec: security.md, "Audit log"."""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass

from skales.core.clock import Clock, to_datetime
from skales.core.errors import StorageError
from skales.core.json import JsonObject, JsonValue
from skales.data.paths import DataDirectory

# Characters of the masked arguments kept for people.
_PREVIEW_LIMIT = 500

Mask = Callable[[JsonValue], JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One decision and what came of it.

    `decision` is auto, user, granted, approved, declined, expired, blocked, malformed or unknown.
    `arguments` are those of the execution; `proposed` the model's, where the person changed them. `approval` is the
    question it was allowed or declined by.
    """

    session_id: str
    surface: str
    tool: str
    decision: str
    arguments: JsonObject
    ok: bool
    error: str
    duration_ms: int
    approval: str = ""
    proposed: JsonObject | None = None


class AuditLog:
    """Appends lines; never reads or rewrites one. `mask` takes the secrets out of what is kept for people."""

    def __init__(self, directory: DataDirectory, clock: Clock, mask: Mask) -> None:
        self._folder = directory.logs
        self._clock = clock
        self._mask = mask
        self._lock = threading.Lock()

    def write(self, entry: AuditEntry) -> None:
        """Append one line. Raises StorageError; a decision that cannot be written down is not taken lightly."""
        now_ms = self._clock.now_ms()
        arguments = json.dumps(entry.arguments, sort_keys=True)
        line = {
            "ts": now_ms,
            "session": entry.session_id,
            "surface": entry.surface,
            "tool": entry.tool,
            "decision": entry.decision,
            "args_digest": hashlib.sha256(arguments.encode()).hexdigest(),
            "args_preview": json.dumps(self._mask(entry.arguments))[:_PREVIEW_LIMIT],
            "ok": entry.ok,
            "error": self._mask(entry.error),
            "duration_ms": entry.duration_ms,
            **({"approval": entry.approval} if entry.approval else {}),
        }
        if entry.proposed is not None:
            line["proposed_preview"] = json.dumps(self._mask(entry.proposed))[:_PREVIEW_LIMIT]
        path = self._folder / f"audit-{to_datetime(now_ms):%Y-%m-%d}.jsonl"
        try:
            with self._lock:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(line) + "\n")
        except OSError as error:
            raise StorageError(f"The audit log {str(path)!r} cannot be written: {error.strerror}") from error
