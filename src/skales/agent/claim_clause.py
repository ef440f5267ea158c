"""What is carried along while a sentence is read: who acts, the helping verb, and whether something makes it unreal.

It is no grammar, but as much as everyday sentences of assistants need. English and German.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from skales.agent.claim_lexicon import Part, Word

# `Habe die Datei gelöscht`, `Ist verschickt`: spoken German leaves out who or what.
_ALONE = {"habe": "me", "ist": "pronoun", "sind": "pronoun", "wurde": "pronoun"}
_LATE_CONDITIONS = frozenset({"before", "bis", "wie", "how"})
_OPEN_ARTICLES = frozenset({"die", "der", "das", "the", "your", "deine"})
_SECOND_PERSON = frozenset(
    {"habt", "seid", "könnt", "wollt", "müsst", "dürft", "sollt", "solltet", "möchtet", "werdet"}
)
# The main clause behind them may tell of a deed: `After reading it, I sent it on`.
_TIMES = frozenset({"after", "nachdem", "while", "während"})
# `Die Tabelle war gesperrt` tells how it was found.
_WAS_SO = frozenset({"war", "waren"})
_ENDS_CONDITION = frozenset({",", "–", "—"})


class Helper(StrEnum):
    """The helping verb that was met last."""

    NONE = ""
    HAVE = "have"
    BE = "be"
    BE_NOW = "be-now"
    BEEN = "been"


IS_BEING = frozenset({Helper.BE, Helper.BE_NOW, Helper.BEEN})


class Clause(Struct):
    """What has been read of the clause. `who` is `me`, `thing`, `own`, `noun`, `pronoun`, `other` or empty.

    `thing` is what stands there that could be the one to whom it is done. `head` while only adverbs stood between the
    helping verb and here, `fresh` at the beginning.
    """

    words: Sequence[Word]
    who: str = ""
    helper: Helper = Helper.NONE
    is_negated: bool = False
    is_modal: bool = False
    is_governed: bool = False
    in_condition: bool = False
    has_told: bool = False
    is_inverted: bool = False
    is_determined: bool = False
    thing: str = ""
    head: bool = True
    fresh: bool = True

    @property
    def is_unreal(self) -> bool:
        """Whether what is told is denied, wished, asked or somebody else's word."""
        return self.is_negated or self.is_modal or self.is_governed or self.in_condition

    def note(self, place: int, word: Word) -> None:
        """Carries on over a word that tells of no deed."""
        parts = word.parts
        if not parts.isdisjoint({Part.PUNCTUATION, Part.JOINT, Part.BREAK}):
            self._join(place, word)
        elif Part.CONDITION in parts and not self._is_preposition(place):
            self._open_condition(place)
        elif Part.OPENER in parts and (self.who or self.thing) and not self._is_preposition(place):
            self._open(place, word)
        elif Part.HEDGE in parts or (Part.SAYING in parts and self.who != "me"):
            self.is_governed = True
        elif Part.ME in parts:
            self._meet_me(place)
        elif word.text in _WAS_SO:
            self._restart("other")
        elif Part.HAVE in parts or Part.BE in parts or word.text in {"been", "worden"}:
            self._meet_helper(word)
            if place == 0 and word.text in _ALONE:
                self.who = _ALONE[word.text]
                # `Ist die Datei verschlüsselt, kommst du …` is a condition.
                self.is_governed = self.who == "pronoun" and not self._after(0).isdisjoint({Part.DEFINITE, Part.OWN})
        else:
            self._meet_other(word)

    def _restart(self, who: str = "") -> None:
        self.who, self.helper, self.is_modal = who, Helper.NONE, False

    def _is_preposition(self, place: int) -> bool:
        """`bis zum 28.`, `have since moved`, or a word that ends the sentence."""
        word, after = self.words[place].text, self._after(place)
        if place == len(self.words) - 1:
            return word in _LATE_CONDITIONS
        if word == "so":
            return self.words[place + 1].verb is not None
        if word == "since":
            return self.helper is Helper.HAVE and self.head
        return word == "bis" and after.isdisjoint({Part.ME, Part.OTHERS, Part.DEFINITE, Part.PRONOUN})

    def _after(self, place: int) -> frozenset[Part]:
        return self.words[place + 1].parts if place + 1 < len(self.words) else frozenset()

    def _join(self, place: int, word: Word) -> None:
        """A clause that may take over who acts from the one before."""
        is_break, is_mark = Part.BREAK in word.parts, Part.PUNCTUATION in word.parts
        following = next((after for after in self.words[place + 1 :] if Part.ADVERB not in after.parts), None)
        if following is None or following.verb is None or not self.helper or is_break:
            self.is_negated = False
        if not self.helper:
            self.is_modal = False
        if word.text in _ENDS_CONDITION or is_break:
            self.in_condition = False
        is_apposition = is_mark and self.who not in {"", "me"} and not self.has_told
        if word.text == ":" or (word.text == "(" and self.who != "me") or is_apposition:
            self._restart("other" if is_apposition and word.text != ":" else "")
        self.head = self.fresh = True
        if self.who or not self._after(place).isdisjoint({Part.DEFINITE, Part.OWN}):
            self.thing, self.is_determined = "", False

    def _open(self, place: int, word: Word) -> None:
        """A relative clause is about somebody else's deed: `everyone who was invited`."""
        after = self._after(place)
        if word.text in {"that", "dass"} and any(Part.PERCEIVED in before.parts for before in self.words[:place]):
            self.is_governed = True
        is_relative = Part.RELATIVE in word.parts and (Part.BE in after or Part.HAVE in after)
        self._restart("other" if is_relative else "")
        self.thing, self.is_determined = "", False
        self.head, self.fresh = True, not is_relative

    def _open_condition(self, place: int) -> None:
        if place == 0 and self.words[place].text not in _TIMES:
            self.is_governed = True
        self._restart("other")
        self.in_condition = True
        self.head, self.thing = False, ""

    def _meet_me(self, place: int) -> None:
        """German puts the helping verb before the subject, too: `Jetzt habe ich …`."""
        before = self.words[place - 1].parts if place else frozenset[Part]()
        inverted = Part.HAVE in before
        modal = self.is_modal and Part.MODAL in before
        negated = self.is_negated and not self.fresh
        self._restart("me")
        self.helper = Helper.HAVE if inverted else Helper.NONE
        self.is_modal, self.is_negated = modal, negated and inverted
        self.head, self.fresh = True, False

    def _meet_helper(self, word: Word) -> None:
        if word.text in {"been", "worden"}:
            self.helper = Helper.BEEN if self.helper in {Helper.HAVE, Helper.BE_NOW, Helper.BE} else self.helper
            return
        is_be = Part.BE in word.parts
        if word.text in {"have", "haben", "habe"} and self.who == "me":
            self.helper, self.head = Helper.HAVE, True
            return
        if word.text == "had" and self.who != "me":
            self._restart("other")
            return
        is_new = self.who != "me" or self.fresh or bool(self.thing and is_be)
        is_other = self.who == "other" and not self.fresh
        if is_new and (self.thing or not (self.who and self.fresh)) and not is_other:
            self._restart(self.thing or "other")
        if is_be and self.who == "me":
            self._restart("other")
        self.is_inverted = not self.thing and is_be
        self.helper = Helper.BE_NOW if Part.BE_NOW in word.parts else Helper.BE if is_be else Helper.HAVE
        self.head, self.fresh = True, False

    def _meet_other(self, word: Word) -> None:
        parts = word.parts
        if Part.OTHERS in parts and (self.fresh or self.who != "me") and not self._is_own(word):
            self._restart("other")
        elif Part.NEGATION in parts:
            self.is_negated = True
        elif Part.MODAL in parts:
            self.is_modal = True
            self.helper = Helper.BE if word.text == "be" else self.helper
        else:
            self._meet_noun(word)
        if Part.ADVERB not in parts and not (word.text == "all" and self.helper):
            self.head = self.head and not word.text[:1].isalnum()
            self.fresh = self.fresh and word.text in _OPEN_ARTICLES

    def _is_own(self, word: Word) -> bool:
        """`Ihr Kommentar`, not `ihr habt`."""
        if word.text != "ihr":
            return False
        place = self.words.index(word)
        return place + 1 < len(self.words) and self.words[place + 1].text not in _SECOND_PERSON

    def _meet_noun(self, word: Word) -> None:
        parts = word.parts
        if Part.THING in parts:
            self.thing = self.thing if self.thing == "own" else "thing"
            if self.is_inverted and self.who == "other":
                self.who = "thing"
        elif Part.PRONOUN in parts and not self.thing:
            self.thing = "pronoun"
        if Part.OWN in parts:
            self.thing = "own"
        elif Part.DEFINITE in parts and self.thing not in {"thing", "own"}:
            self.thing = "noun"
        if not parts.isdisjoint({Part.DEFINITE, Part.OWN, Part.NUMBER, Part.NAME, Part.PRONOUN}):
            self.is_determined = True
