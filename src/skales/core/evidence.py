"""Claims of an answer that nothing bears out, as a message keeps them and an event tells them."""

from collections.abc import Sequence
from dataclasses import dataclass

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text

# The key among the further keys of a message in its session's file.
UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A sentence of an answer that says something was done, and why that is not confirmed, without a final period."""

    sentence: str
    reason: str


def unconfirmed_to_json(found: Sequence[Unconfirmed]) -> JsonObject:
    """What is added to the message; nothing when there is nothing to say."""
    entries: list[JsonValue] = [{"sentence": claim.sentence, "reason": claim.reason} for claim in found]
    return {UNCONFIRMED: entries} if entries else {}


def unconfirmed_of(extra: JsonObject) -> tuple[Unconfirmed, ...]:
    """What a message's further keys say of it; entries that say nothing are passed over."""
    entries = (as_object(entry) for entry in as_list(extra.get(UNCONFIRMED)))
    read = (Unconfirmed(as_text(entry.get("sentence")), as_text(entry.get("reason"))) for entry in entries)
    return tuple(claim for claim in read if claim.sentence)
