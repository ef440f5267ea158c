"""Reads a sentence from left to right for what it says was done, and by whom. Pure; linear in its length.

It is no grammar: who acts, whether there is a helping verb, and whether something makes it unreal are carried along,
which is as much as everyday sentences of assistants need. English and German.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skales.agent.claim_words import (
    ADVERBS,
    ADVICE,
    ATTRIBUTIVE,
    BE,
    BE_NOW,
    BREAKS,
    CONDITIONS,
    DEFINITE,
    ENGLISH,
    HAVE,
    HEADLINE_END,
    HEADLINE_OBJECT,
    IDIOMS,
    JOINTS,
    LOOKING,
    ME,
    MODALS,
    NEGATIONS,
    NUMBERS,
    OF_OTHERS,
    OPENERS,
    OTHERS,
    OWN,
    PRONOUNS,
    RELATIVES,
    SAYING,
    STRONG,
    TEXT_PARTS,
    THING_ENDINGS,
    THINGS,
    TOLD_TIME,
    VERBS,
    Action,
)

_TOKEN = re.compile(r"[\w.+-]*\w@[\w.-]+\w|[~/\w][\w./-]*\.\w+|[~/][\w/-]+|[^\W_]+(?:[-'][^\W_]+)*|[,:()–—&]")
_SHORT_FORMS = (
    (re.compile(r"[’`´]"), "'"),
    (re.compile(r"\bcan't\b|\bwon't\b", re.IGNORECASE), "can not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b|'d\b", re.IGNORECASE), " would"),
    (re.compile(r"'re\b|(?<=\bit)'s\b|(?<=\bthat)'s\b|(?<=\beverything)'s\b|(?<=\bfile)'s\b", re.IGNORECASE), " is"),
    (re.compile(r"'s (?=(?:been|now|all|already) |(?:set|saved|sent|booked|done|deleted)\b)", re.IGNORECASE), " is "),
    (re.compile(r"(?<=\d):(?=\d\d)"), ""),
    (re.compile(r"\bhab'?(?= ich\b)|(?<=\bich )hab\b", re.IGNORECASE), "habe"),
)
_HAS_SHORT_FORM = re.compile(r"[’`´']|\d:|\bhab\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:all |gut|great|perfect|alright|ok(?:ay)?|sure|yes|yep|ja|klar|super|done|erledigt|fertig|geschafft|success|"
    r"erfolg|status|result|ergebnis|update|alles klar|all set|good news|gute nachrichten?)"
    r"(?:done|set|right|klar)?\s*[!,.:–—-]+\s*",
    re.IGNORECASE,
)
# `Habe die Datei gelöscht`, `Ist verschickt`: spoken German leaves out who or what.
_ALONE = {"habe": "me", "ist": "pronoun", "sind": "pronoun", "wurde": "pronoun"}
# At the head of a sentence they ask somebody to do it: `Set the thermostat to 21`.
_BASE_FORMS = frozenset({"set", "put", "run", "shut", "reset"})
# What befell a thing of no known kind may be history; these hardly are.
_PRESENT = frozenset({Action.MOVED, Action.SWITCHED})
_PUNCTUATION = frozenset(",:()–—&")
_LONGEST_SUBJECT = 9


class Voice(StrEnum):
    """How a deed is told: by its doer, as what happened or has just happened to a thing, or as how it is now."""

    ACTIVE = "active"
    PASSIVE = "passive"
    PERFECT = "perfect"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Said:
    """A deed told in a sentence."""

    action: Action
    voice: Voice
    verb: str


@dataclass(slots=True)
class _State:
    """What has been read of the clause. `who` is `me`, `thing`, `pronoun`, `other` or empty."""

    who: str = ""
    helper: str = ""
    is_negated: bool = False
    is_modal: bool = False
    is_governed: bool = False
    in_condition: bool = False
    has_told: bool = False
    is_inverted: bool = False
    thing: str = ""
    head: bool = True
    fresh: bool = True
    spoke_of_me: bool = False

    @property
    def is_unreal(self) -> bool:
        return self.is_negated or self.is_modal or self.is_governed or self.in_condition

    def restart(self, who: str = "") -> None:
        self.who, self.helper, self.is_modal = who, "", False


def read_sentence(spoken: str) -> Sequence[Said]:
    """The deeds it tells of as done."""
    words = _tokens(spoken)
    if not any(word in VERBS for word in words):
        return tuple(_idioms(spoken, words))
    if ADVICE.match(spoken):
        return ()
    said = list(_Reader(words, spoken).read())
    if not any(deed.voice is Voice.ACTIVE for deed in said) and OF_OTHERS.search(spoken):
        return ()
    return tuple(dict.fromkeys(said)) or tuple(_idioms(spoken, words))


def is_told_of_a_moment(spoken: str) -> bool:
    """Whether it names a time, as one does who tells what a log or a mailbox says."""
    return bool(TOLD_TIME.search(spoken))


def _tokens(spoken: str) -> Sequence[str]:
    if _HAS_SHORT_FORM.search(spoken):
        for pattern, plain in _SHORT_FORMS:
            spoken = pattern.sub(plain, spoken)
    spoken = _OPENING.sub("", _OPENING.sub("", spoken.strip()))
    return [word.lower() if not _is_name(word) else word for word in _TOKEN.findall(spoken)]


def _is_name(word: str) -> bool:
    return "." in word or "@" in word or word[0] in "/~"


def _is_thing(word: str) -> bool:
    return (
        word in THINGS
        or _is_name(word)
        or word.endswith(THING_ENDINGS)
        or ("-" in word and word.rpartition("-")[2] in THINGS)
    )


def _idioms(spoken: str, words: Sequence[str]) -> Iterator[Said]:
    lowered = " ".join(words)
    for action, pattern in IDIOMS:
        found = pattern.search(lowered)
        if found is None or ADVICE.match(spoken) or OF_OTHERS.search(spoken):
            continue
        before = lowered[: found.start()].split()
        if any(word in NEGATIONS or word in MODALS or word in CONDITIONS for word in before):
            continue
        if found.group().startswith(("i ", "we ", "ich ")) or any(map(_is_thing, before)):
            yield Said(action, Voice.PASSIVE, found.group())


class _Reader:
    """One sentence on its way."""

    def __init__(self, words: Sequence[str], spoken: str) -> None:
        self._words = words
        self._state = _State()
        self._has_thing = any(map(_is_thing, words))
        self._has_text_part = any(word in TEXT_PARTS for word in words) and not any(map(_is_name, words))
        self._is_looking = any(word in LOOKING for word in words)
        self._is_about_me = "mich" in words
        self._spoken = spoken

    def read(self) -> Iterator[Said]:
        for place, word in enumerate(self._words):
            if word in VERBS and not self._is_other_use(place):
                yield from self._read_verb(place, word)
                self._state.head = self._state.fresh = False
                self._state.has_told = True
            else:
                self._note(place, word)

    # --- what is carried along ---

    def _note(self, place: int, word: str) -> None:
        state = self._state
        if word in _PUNCTUATION or word in JOINTS or word in BREAKS:
            self._join(place, word)
        elif word in CONDITIONS and not (word in {"before", "bis", "wie", "how"} and place == len(self._words) - 1):
            self._open_condition(place)
        elif word in OPENERS and (state.who or state.thing):
            self._open_clause(place, word)
        elif word in SAYING and state.who != "me":
            state.is_governed = True
        elif word in ME:
            self._meet_me(place)
        elif word in HAVE or word in BE or word in {"been", "worden"}:
            self._meet_helper(word)
            if place == 0 and word in _ALONE:
                self._state.who = _ALONE[word]
        else:
            self._meet_other_word(word)

    def _join(self, place: int, word: str) -> None:
        """A clause that may take over who acts from the one before."""
        state = self._state
        following = self._next_word(place)
        if following not in VERBS or not state.helper or word in BREAKS:
            state.is_negated = False
        if not state.helper:
            state.is_modal = False
        if word in {",", ";", "–", "—"} or word in BREAKS:
            state.in_condition = False
        is_apposition = word in _PUNCTUATION and state.who not in {"", "me"} and not state.has_told
        if word == ":" or (word == "(" and state.who != "me") or is_apposition:
            state.restart("other" if is_apposition and word != ":" else "")
        state.head = state.fresh = True
        if state.who:
            state.thing = ""

    def _open_clause(self, place: int, word: str) -> None:
        """A relative clause is about somebody else's deed: `everyone who was invited`."""
        state = self._state
        following = self._words[place + 1] if place + 1 < len(self._words) else ""
        is_relative = word in RELATIVES and (following in BE or following in HAVE)
        state.restart("other" if is_relative else "")
        state.thing = ""
        state.head, state.fresh = True, not is_relative

    def _open_condition(self, place: int) -> None:
        state = self._state
        if place == 0:
            state.is_governed = True
        state.restart("other")
        state.in_condition = True
        state.head, state.thing = False, ""

    def _meet_me(self, place: int) -> None:
        """German puts the helping verb before the subject, too: `Jetzt habe ich …`."""
        state = self._state
        inverted = place > 0 and self._words[place - 1] in {"habe", "haben", "have"}
        german_modal = place > 0 and self._words[place - 1] in MODALS
        modal = state.is_modal and german_modal
        negated = state.is_negated and not state.fresh
        state.restart("me")
        state.helper = "have" if inverted else ""
        state.is_modal, state.is_negated = modal, negated and inverted
        state.head, state.fresh, state.spoke_of_me = True, False, True

    def _meet_helper(self, word: str) -> None:
        state = self._state
        if word in {"been", "worden"}:
            state.helper = "been" if state.helper in {"have", "be-now", "be"} else state.helper
            return
        is_new = state.who != "me" or state.fresh or bool(state.thing and word in BE)
        if word in {"have", "haben", "habe"} and state.who == "me":
            state.helper, state.head = "have", True
            return
        if (
            is_new
            and (state.thing or not (state.who and state.fresh))
            and not (state.who == "other" and not state.fresh)
        ):
            state.restart(state.thing or "other")
        if word in BE and state.who == "me":
            state.restart("other")
        state.is_inverted = not state.thing and word in BE
        state.helper = "have" if word in HAVE else "be-now" if word in BE_NOW else "be"
        state.head, state.fresh = True, False

    def _meet_other_word(self, word: str) -> None:
        state = self._state
        if word in OTHERS and (state.fresh or state.who != "me"):
            state.restart("other")
        elif word in NEGATIONS:
            state.is_negated = True
        elif word in MODALS or word == "be":
            state.is_modal = True
            state.helper = "be" if word == "be" else state.helper
        elif _is_thing(word):
            state.thing = state.thing if state.thing == "own" else "thing"
            if state.is_inverted and state.who == "other":
                state.who = "thing"
        elif word in PRONOUNS and not state.thing:
            state.thing = "pronoun"
        if word in OWN:
            state.thing = "own"
        elif word in DEFINITE and state.thing not in {"thing", "own"}:
            state.thing = "noun"
        if word not in ADVERBS:
            state.head = state.head and not word[:1].isalnum()
            state.fresh = False if word not in {"die", "der", "das", "the", "your", "deine"} else state.fresh

    # --- verbs ---

    def _is_other_use(self, place: int) -> bool:
        """An adjective (`the saved file`), an infinitive (`to run`), a noun, or the verb of a clause of others."""
        before = self._words[place - 1] if place else ""
        after = self._words[place + 1] if place + 1 < len(self._words) else ""
        if before in OTHERS or before in ATTRIBUTIVE:
            return not (before in {"with", "of", "when"} and self._state.helper == "have")
        return self._words[place] in {"ran", "run", "set", "put"} and after in {"into", "out", "through", "aside"}

    def _read_verb(self, place: int, word: str) -> Iterator[Said]:
        state = self._state
        voice = self._voice(place, word)
        if voice is None or state.is_unreal or self._is_denied_after(place) or not self._is_deed(word, voice):
            return
        if voice is Voice.STATE and self._is_general(word):
            return
        yield Said(VERBS[word], voice, word)

    def _voice(self, place: int, word: str) -> Voice | None:
        if word not in ENGLISH and (voice := self._german_end(place)) is not None:
            return voice
        if self._state.who == "me":
            return self._my_voice(word)
        if self._state.helper in {"be", "been", "be-now"} and self._state.who in {"thing", "pronoun", "noun", "own"}:
            is_known = word in STRONG or VERBS[word] in _PRESENT
            is_history = self._state.who == "noun" and self._state.helper == "be" and not is_known
            if is_history or (word in ENGLISH and not self._state.head and not self._is_gapped(place)):
                return None
            if self._state.helper == "been" and word in ENGLISH:
                return Voice.PERFECT
            return Voice.STATE if self._state.helper == "be-now" else Voice.PASSIVE
        return self._headline(place) if not self._state.who and not self._state.helper else None

    def _is_gapped(self, place: int) -> bool:
        """`The request was merged and the branch deleted`: the helping verb is left out the second time."""
        segment = self._segment(place)
        start = place - len(segment)
        joined = start > 0 and self._words[start - 1] in JOINTS
        return self._state.has_told and joined and 1 < len(segment) <= 4 and segment[0] in DEFINITE

    def _my_voice(self, word: str) -> Voice | None:
        if word in ENGLISH:
            return Voice.ACTIVE if self._state.head and self._state.helper in {"", "have"} else None
        return Voice.ACTIVE if self._state.helper == "have" else None

    def _german_end(self, place: int) -> Voice | None:
        """`… dass ich die Datei gelöscht habe`, `… dass die Datei gelöscht wurde`: the helping verb comes last."""
        after = self._words[place + 1] if place + 1 < len(self._words) else ""
        if after in {"habe", "haben"} and self._state.who == "me":
            return Voice.ACTIVE
        if after in {"wurde", "wurden", "worden", "ist", "sind"} and self._state.thing and not self._state.who:
            return Voice.PASSIVE
        return None

    def _is_general(self, word: str) -> bool:
        """`The file is created when …`, `Notes are written for people`: how things are, not what was done."""
        words = self._words
        is_certain = word in STRONG or any(
            other in DEFINITE or other in OWN or other in NUMBERS or other.isdecimal() or _is_name(other)
            for other in words
        )
        return not is_certain or any(other in CONDITIONS for other in words)

    def _is_denied_after(self, place: int) -> bool:
        """`Ausgeführt wurde nichts`, `Verschickt habe ich noch nichts`."""
        following = self._words[place + 1 : place + 5]
        if following and following[0] in MODALS and self._words[place] not in ENGLISH:
            return True
        return bool(following) and following[0] in BE | HAVE and any(word in NEGATIONS for word in following)

    def _headline(self, place: int) -> Voice | None:
        """`Email sent to Anna`, `Deleted the folder`, `Datei gespeichert`: no helping verb in the whole sentence."""
        if self._is_part_of_a_sentence(place):
            return None
        before = [word for word in self._segment(place) if word not in ADVERBS and word != "erfolgreich"]
        after = self._words[place + 1] if place + 1 < len(self._words) else ""
        ends = not after or after in HEADLINE_END or after in _PUNCTUATION or after.isdecimal() or _is_name(after)
        if not before and self._words[place] in _BASE_FORMS:
            return None
        if not before:
            opens = ends or after in HEADLINE_OBJECT or after in NUMBERS or not after
            return Voice.PASSIVE if opens and not self._is_heading() else None
        is_short = len(before) <= _LONGEST_SUBJECT
        return Voice.PASSIVE if is_short and ends and any(map(_is_thing, before)) else None

    def _is_part_of_a_sentence(self, place: int) -> bool:
        """Whether a verb stands before it, or after it before the next clause begins."""
        words = self._words
        end = next(
            (at for at in range(place + 1, len(words)) if words[at] in JOINTS or words[at] in _PUNCTUATION), len(words)
        )
        return any(word in ME or word in BE or word in HAVE or word in MODALS for word in words[:end])

    def _is_heading(self) -> bool:
        return self._spoken.endswith(":") and len(self._words) <= 3

    def _is_deed(self, word: str, voice: Voice) -> bool:
        """Whether it can only have been done outside the answer."""
        action = VERBS[word]
        if self._is_about_me and voice is Voice.ACTIVE and word == "informiert":
            return False
        if action is Action.RAN and self._is_looking:
            return False
        if action in {Action.WRITTEN, Action.DELETED, Action.MOVED, Action.ORDERED} and self._has_text_part:
            return False
        return word in STRONG or self._has_thing or (voice is not Voice.ACTIVE and self._state.who in {"noun", "own"})

    def _segment(self, place: int) -> Sequence[str]:
        start = place
        while start > 0 and self._words[start - 1] not in _PUNCTUATION and self._words[start - 1] not in JOINTS:
            start -= 1
        return self._words[start:place]

    def _next_word(self, place: int) -> str:
        following = (word for word in self._words[place + 1 :] if word not in ADVERBS)
        return next(following, "")
