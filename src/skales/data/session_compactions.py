"""Summaries that stand for the oldest messages of a conversation when a model is asked; pure, on raw sessions.

`compactions` of a file is a list, newest last. A mark is `{"upTo", "summary", "atMs", "provider", "model", "tokens"}`:
the messages before index `upTo`, counted as `Session.messages` does, are told to the model as that summary. The
messages themselves stay in the file. A mark that a person took back is left as `{"upTo", "undone": true}`, so that the
same is not done again unasked. Entries that are neither are kept unread.
"""

from collections.abc import Sequence

from msgspec import Struct

from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import Message, Role

COMPACTIONS = "compactions"


class Compaction(Struct, frozen=True, kw_only=True):
    """One mark. `tokens` is about what the summary takes; one that is `undone` has no summary and no effect."""

    up_to: int
    summary: str = ""
    at_ms: int = 0
    provider: str = ""
    model: str = ""
    tokens: int = 0
    undone: bool = False


def read_compactions(raw: JsonValue) -> tuple[Compaction, ...]:
    """The marks of a file in their order."""
    return tuple(mark for entry in as_list(raw) if (mark := _read(entry)) is not None)


def find_effective(marks: Sequence[Compaction], messages: Sequence[Message]) -> Compaction | None:
    """The newest mark that fits the messages: it must end before what a person said, or at the end."""
    return next((mark for mark in reversed(marks) if not mark.undone and _fits(mark.up_to, messages)), None)


def add_compaction(raw: JsonObject, mark: Compaction, messages: Sequence[Message]) -> dict[str, JsonValue]:
    """The session with one more mark; what was taken back before no longer counts.

    Raises InputError when the mark does not fit the messages, which changed since it was thought of.
    """
    if not _fits(mark.up_to, messages):
        raise InputError("The conversation changed while it was summarised", hint="Try again", code="conflict")
    kept = [entry for entry in as_list(raw.get(COMPACTIONS)) if not _is_undone(entry)]
    return {**raw, COMPACTIONS: [*kept, _write(mark)]}


def remove_compaction(raw: JsonObject, up_to: int) -> dict[str, JsonValue]:
    """The session without the summary that ends there. Raises NotFoundError when there is none."""
    entries = as_list(raw.get(COMPACTIONS))
    if not any(mark.up_to == up_to and not mark.undone for mark in read_compactions(entries)):
        raise NotFoundError("There is no such summary in this conversation", hint="It may have been undone already")
    kept = [entry for entry in entries if _place(entry) != up_to]
    return {**raw, COMPACTIONS: [*kept, {"upTo": up_to, "undone": True}]}


def cut_compactions(raw: JsonObject, count: int) -> dict[str, JsonValue]:
    """The session without the marks that reach beyond its first `count` messages, which are others from there on."""
    entries = as_list(raw.get(COMPACTIONS))
    kept = [entry for entry in entries if (place := _place(entry)) is None or place <= count]
    if len(kept) == len(entries):
        return dict(raw)
    cut = {key: value for key, value in raw.items() if key != COMPACTIONS}
    return cut | {COMPACTIONS: kept} if kept else cut


def _fits(up_to: int, messages: Sequence[Message]) -> bool:
    return up_to == len(messages) or (up_to < len(messages) and messages[up_to].role is Role.USER)


def _read(raw: JsonValue) -> Compaction | None:
    entry, up_to = as_object(raw), _place(raw)
    if up_to is None:
        return None
    if _is_undone(raw):
        return Compaction(up_to=up_to, undone=True)
    summary = as_text(entry.get("summary"))
    if not summary.strip():
        return None
    return Compaction(
        up_to=up_to,
        summary=summary,
        at_ms=_count(entry.get("atMs")),
        provider=as_text(entry.get("provider")),
        model=as_text(entry.get("model")),
        tokens=_count(entry.get("tokens")),
    )


def _write(mark: Compaction) -> JsonObject:
    return {
        "upTo": mark.up_to,
        "summary": mark.summary,
        "atMs": mark.at_ms,
        "provider": mark.provider,
        "model": mark.model,
        "tokens": mark.tokens,
    }


def _place(raw: JsonValue) -> int | None:
    """Where a mark ends, None for what is no mark."""
    up_to = _count(as_object(raw).get("upTo"))
    return up_to if up_to > 0 else None


def _is_undone(raw: JsonValue) -> bool:
    return as_object(raw).get("undone") is True


def _count(raw: JsonValue) -> int:
    return raw if type(raw) is int and raw > 0 else 0
