"""A verb where it stands in its sentence, with what was read before it; and how a deed may be told. Pure."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from skales.agent.claim_clause import Clause
from skales.agent.claim_lexicon import Part, Verb, Word

CLAUSE_ENDS = frozenset({Part.PUNCTUATION, Part.JOINT})


class Voice(StrEnum):
    """How a deed is told: by its doer, as what happened or has just happened to a thing, or as how it is now."""

    ACTIVE = "active"
    PASSIVE = "passive"
    PERFECT = "perfect"
    STATE = "state"


class Setting(StrEnum):
    """What the answer around a sentence is: one that holds a text of its own, tells how to do something, or neither.

    Only in a plain one does a thing of no known kind, `the lamp in the hall`, surely lie outside the answer.
    """

    PLAIN = "plain"
    HANDS_OVER = "hands over"
    INSTRUCTS = "instructs"


class Spot(Struct, frozen=True, dict=True):
    """The verb at a place of a sentence. `parts` are those of all its words."""

    words: Sequence[Word]
    place: int
    verb: Verb
    clause: Clause
    parts: frozenset[Part]

    @property
    def text(self) -> str:
        """The verb as it stands."""
        return self.words[self.place].text

    @property
    def is_now(self) -> bool:
        """Whether the sentence says that it has just become so."""
        return Part.NOW in self.parts

    @cached_property
    def before(self) -> Sequence[Word]:
        """What stands before it in its clause."""
        start = self.place
        while start > 0 and self.words[start - 1].parts.isdisjoint(CLAUSE_ENDS):
            start -= 1
        return self.words[start : self.place]

    @cached_property
    def after(self) -> Sequence[Word]:
        """What stands behind it up to the next comma, or to an `and` behind which another verb stands."""
        end, joint = self.place + 1, 0
        while end < len(self.words) and Part.PUNCTUATION not in self.words[end].parts:
            if Part.JOINT in self.words[end].parts:
                joint = end
            if self.words[end].verb is not None and joint:
                return self.words[self.place + 1 : joint]
            end += 1
        return self.words[self.place + 1 : end]

    @cached_property
    def near(self) -> Sequence[Word]:
        """Its clause without it."""
        return (*self.before, *self.after)

    def next(self, distance: int = 1) -> Word | None:
        """The word so many behind it."""
        at = self.place + distance
        return self.words[at] if at < len(self.words) else None


def has_part(words: Sequence[Word], part: Part) -> bool:
    """Whether one of the words plays a part."""
    return any(part in word.parts for word in words)
