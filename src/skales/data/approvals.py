"""pending-approvals/: questions that wait for a person, one file each, so that a restart does not lose them.

Waiting and answering are the agent's business. Spec: orchestrator.md, "Approvals".
"""

from pathlib import Path

from skales.core.approval import Approval, AskKind
from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.ids import ApprovalId, SessionId, is_safe_id
from skales.core.json import JsonObject, as_text
from skales.data.document import read_object, write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file, texts_of


class ApprovalStore:
    """The pending questions of one data directory. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._folder = directory.approvals
        self._quarantine = quarantine
        self._files = Folder(directory.approvals, quarantine, _parse_source, quarantine.set_aside)

    def add(self, approval: Approval) -> None:
        """Put a question on disk. Raises StorageError."""
        assert is_safe_id(approval.id), "ids of questions are our own"
        write_object(self._file(approval.id), approval_json(approval))

    def get(self, approval_id: str) -> Approval:
        """The question of an id. Raises NotFoundError, or BrokenDocumentError when its file was set aside."""
        if not is_safe_id(approval_id):
            raise _unknown(approval_id)
        path = self._file(approval_id)
        try:
            value = read_object(path, self._quarantine)
        except NotFoundError as error:
            raise _unknown(approval_id) from error
        try:
            return _parse(approval_id, value)
        except ValueError as error:
            self._quarantine.set_aside(path, str(error))
            raise BrokenDocumentError(f"The question {approval_id!r} cannot be read: {error}") from error

    def pending(self) -> list[Approval]:
        """All questions, oldest first; expired ones included. A broken file is set aside."""
        return sorted(self._files.read(), key=lambda approval: (approval.created_ms, approval.id))

    def for_session(self, session_id: SessionId) -> list[Approval]:
        """The questions of one conversation, oldest first."""
        return [approval for approval in self.pending() if approval.session_id == session_id]

    def remove(self, approval_id: str) -> bool:
        """Take a question away; True for exactly one of several racing callers, so that one answer counts."""
        return is_safe_id(approval_id) and remove_file(self._file(approval_id))

    def _file(self, approval_id: str) -> Path:
        return self._folder / f"{approval_id}.json"


def approval_json(approval: Approval) -> JsonObject:
    """A question as it stands in its file and in HTTP answers."""
    return {
        "id": approval.id,
        "kind": approval.kind.value,
        "session": approval.session_id,
        "call": approval.call_id,
        "tool": approval.tool,
        "args": approval.args,
        "action": approval.action,
        "reason": approval.reason,
        "covers": approval.covers,
        "options": list(approval.options),
        "preview": approval.preview,
        "createdAt": approval.created_ms,
        "expiresAt": approval.expires_ms,
    }


def _parse_source(source: Source) -> Approval:
    return _parse(source.path.stem, source.value)


def _parse(approval_id: str, value: JsonObject) -> Approval:
    """Raises ValueError with the reason. The file's name is the id; a copied file is a question of its own."""
    match value:
        case {
            "kind": "tool" | "question" as kind,
            "session": str(session),
            "call": str(call),
            "tool": str(tool),
            "args": dict() as args,
            "action": str(action),
            "expiresAt": int() as expires_at,
        }:
            return Approval(
                id=ApprovalId(approval_id),
                kind=AskKind(kind),
                session_id=SessionId(session),
                call_id=call,
                tool=tool,
                args=args,
                action=action,
                reason=as_text(value.get("reason")),
                covers=as_text(value.get("covers")),
                options=texts_of(value.get("options")),
                preview=as_text(value.get("preview")),
                created_ms=moment_ms(value.get("createdAt")),
                expires_ms=moment_ms(expires_at),
            )
        case _:
            raise ValueError("it lacks what a question needs: kind, session, call, tool, args, action, expiresAt")


def _unknown(approval_id: str) -> NotFoundError:
    return NotFoundError(f"There is no pending question {approval_id!r}", hint="It may have been answered already")
