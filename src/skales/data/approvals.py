"""pending-approvals/: questions that wait for a person, one file each, so that a restart does not lose them.

In `answered/` below it the last ones with what became of them: the proposed, the edited and the effective arguments.

Waiting and answering are the agent's business. Spec: orchestrator.md, "Approvals".
"""

from pathlib import Path

from skales.core.approval import Answered, Approval, AskKind, Lasting, RuleStep, Scope
from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.ids import ApprovalId, SessionId, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text
from skales.data.document import read_object, write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file, texts_of

# Answered questions that are kept.
_KEPT = 500


class ApprovalStore:
    """The pending questions of one data directory. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._folder = directory.approvals
        self._quarantine = quarantine
        self._answered = directory.approvals / "answered"
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

    def keep(self, answered: Answered) -> None:
        """Write down what became of a question, once it is no longer pending. Raises StorageError."""
        assert is_safe_id(answered.approval.id), "ids of questions are our own"
        write_object(self._answered / f"{answered.approval.id}.json", answered_json(answered))
        kept = sorted(self._answered.glob("*.json"), key=_age)
        for old in kept[:-_KEPT]:
            remove_file(old)

    def answered(self, approval_id: str) -> Answered:
        """What became of a question. Raises NotFoundError."""
        if not is_safe_id(approval_id):
            raise _unknown(approval_id)
        try:
            value = read_object(self._answered / f"{approval_id}.json", self._quarantine)
            return _parse_answered(approval_id, value)
        except (NotFoundError, BrokenDocumentError, ValueError) as error:
            raise _unknown(approval_id) from error

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
        "sandbox": approval.sandbox,
        "pastCovered": approval.past_covered,
        "pastCalls": approval.past_calls,
        "why": [step_json(step) for step in approval.why],
        "createdAt": approval.created_ms,
        "expiresAt": approval.expires_ms,
    }


def answered_json(answered: Answered) -> JsonObject:
    """An answered question as it stands in its file and in HTTP answers: the question, and its answer beside it."""
    return {
        **approval_json(answered.approval),
        "outcome": answered.outcome,
        "answeredAt": answered.answered_ms,
        "by": answered.by,
        "scope": answered.scope.value,
        "lasts": answered.lasts.value,
        "instead": answered.instead,
        "edited": answered.edited,
        "effective": answered.effective,
    }


def step_json(step: RuleStep) -> JsonObject:
    """One rule's word in files and HTTP answers."""
    return {
        "rule": step.rule,
        "outcome": step.outcome,
        "words": step.words,
        "about": step.about,
        "setting": step.setting,
        "decides": step.decides,
    }


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _parse_answered(approval_id: str, value: JsonObject) -> Answered:
    edited = value.get("edited")
    return Answered(
        approval=_parse(approval_id, value),
        outcome=as_text(value.get("outcome")),
        answered_ms=moment_ms(value.get("answeredAt")),
        by=as_text(value.get("by")),
        scope=Scope(as_text(value.get("scope"))),
        lasts=Lasting(as_text(value.get("lasts"))),
        instead=as_text(value.get("instead")),
        edited=None if edited is None else as_object(edited),
    )


def _parse_step(value: JsonValue) -> RuleStep:
    step = as_object(value)
    return RuleStep(
        as_text(step.get("rule")),
        as_text(step.get("outcome")),
        as_text(step.get("words")),
        as_text(step.get("about")),
        as_text(step.get("setting")),
        decides=step.get("decides") is True,
    )


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
                sandbox=as_text(value.get("sandbox")),
                past_covered=as_int(value.get("pastCovered")),
                past_calls=as_int(value.get("pastCalls")),
                why=tuple(_parse_step(step) for step in as_list(value.get("why"))),
                created_ms=moment_ms(value.get("createdAt")),
                expires_ms=moment_ms(expires_at),
            )
        case _:
            raise ValueError("it lacks what a question needs: kind, session, call, tool, args, action, expiresAt")


def _unknown(approval_id: str) -> NotFoundError:
    return NotFoundError(f"There is no pending question {approval_id!r}", hint="It may have been answered already")
