"""Reads a sentence from left to right for what it says was done, and how. Pure; linear in its length.

`claim_lexicon` knows the words, `claim_clause` carries along who acts, `claim_states` knows ways without a verb.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skales.agent.claim_clause import IS_BEING, Clause, Helper
from skales.agent.claim_lexicon import Action, Part, Verb, Word, find_past, look_up
from skales.agent.claim_patterns import ADVICE, OF_OTHERS, TOLD_TIME
from skales.agent.claim_states import find_states
from skales.agent.claim_tokens import read_words

# At the head of a sentence they ask somebody to do it: `Set the thermostat to 21`.
_BASE_FORMS = frozenset({"set", "put", "run", "shut", "reset"})
# What befell a thing of no known kind may be history; these hardly are.
_PRESENT = frozenset({Action.MOVED, Action.SWITCHED})
_IN_TEXTS = frozenset({Action.WRITTEN, Action.DELETED, Action.MOVED, Action.ORDERED, Action.DONE})
_RELATIVE_ARTICLES = frozenset({"der", "die", "das", "dem", "den", "welche", "welcher", "welches"})
_ONLY_TOLD = frozenset({"told", "gesagt"})
_TELLING = frozenset({"told", "gesagt", "written", "wrote", "geschrieben", "replied", "geantwortet", "erinnert"})
_OTHER_VERBS = frozenset({"ran", "run", "set", "put"})
_PARTICLES = frozenset({"into", "out", "through", "aside"})
_KNOWN = frozenset({"thing", "pronoun", "noun", "own"})
_CLAUSE_ENDS = frozenset({Part.PUNCTUATION, Part.JOINT})
_IN_SENTENCE = frozenset({Part.ME, Part.BE, Part.HAVE, Part.MODAL})
_CERTAIN = frozenset({Part.DEFINITE, Part.OWN, Part.NUMBER, Part.NAME})
_OF_TEXTS = frozenset({Part.TEXT_PART, Part.ABSTRACT, Part.TEXT})
_NOW = frozenset({"now", "just", "successfully", "all", "jetzt", "nun", "soeben", "erfolgreich", "alle"})
_SUBCLAUSES = frozenset({Part.OPENER, Part.CONDITION})
_ALL = frozenset({"alles", "everything", "beides"})
_RESTARTS = frozenset({":", "–", "—"})
_AND_THEN = frozenset({"then", "dann", "danach", "afterwards", "anschließend"})
_LONGEST_SUBJECT = 9


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


@dataclass(frozen=True, slots=True)
class Said:
    """A deed told in a sentence."""

    action: Action
    voice: Voice
    verb: str


def read_sentence(spoken: str, *, is_checked: bool = False, setting: Setting = Setting.PLAIN) -> Sequence[Said]:
    """The deeds it tells of as done.

    Args:
        spoken: The sentence without quotations.
        is_checked: Whether it is an item with a tick, which makes `Invite the speakers` an account.
        setting: What the answer around it is.
    """
    words = read_words(spoken)
    if is_checked and words and (past := find_past(words[0].text)):
        words = (look_up(past, opens=False), *words[1:])
    said = list(_Reader(words, spoken, setting).read()) if any(word.verb for word in words) else []
    is_mine = any(deed.voice is Voice.ACTIVE for deed in said)
    if not is_mine:
        said += [
            Said(state.action, Voice.PERFECT if state.is_new else Voice.STATE, state.words)
            for state in find_states(words)
            if not said or state.action is Action.RAN
        ]
    if not said or ADVICE.match(spoken) or (not is_mine and OF_OTHERS.search(spoken)):
        return ()
    return tuple(dict.fromkeys(said))


def is_told_of_a_moment(spoken: str) -> bool:
    """Whether it names a time, as one does who tells what a log or a mailbox says."""
    return bool(TOLD_TIME.search(spoken))


class _Reader:
    """One sentence on its way."""

    def __init__(self, words: Sequence[Word], spoken: str, setting: Setting) -> None:
        self._words = words
        self._clause = Clause(words)
        parts = frozenset[Part]().union(*(word.parts for word in words))
        self._parts = parts
        self._may_be_text = Part.TEXT_PART in parts and Part.NAME not in parts and not _names_a_line(words)
        self._is_about_me = any(word.text == "mich" for word in words)
        self._spoken = spoken
        self._holds_text = setting is Setting.HANDS_OVER
        self._is_instruction = setting is Setting.INSTRUCTS
        self._has_claimed = False
        self._is_broad = setting is Setting.PLAIN

    def read(self) -> Iterator[Said]:
        for place, word in enumerate(self._words):
            is_saying = Part.SAYING in word.parts and self._clause.who != "me"
            if word.verb is not None and not is_saying and not self._is_other_use(place):
                yield from self._read_verb(place, word, word.verb)
                self._clause.head = self._clause.fresh = False
                self._clause.has_told = True
            else:
                self._clause.note(place, word)

    def _is_other_use(self, place: int) -> bool:
        """An adjective (`the saved file`), an infinitive (`to run`), a noun, or the verb of a clause of others."""
        before = self._words[place - 1] if place else None
        after = self._words[place + 1].text if place + 1 < len(self._words) else ""
        if before and (Part.OTHERS in before.parts or Part.ATTRIBUTIVE in before.parts):
            return not (before.text in {"with", "of", "when"} and self._clause.helper is Helper.HAVE)
        is_idle = self._words[place].text == "saved" and after == "you"
        return is_idle or (self._words[place].text in _OTHER_VERBS and after in _PARTICLES)

    def _read_verb(self, place: int, word: Word, verb: Verb) -> Iterator[Said]:
        voice = self._voice(place, verb)
        if voice is None or self._clause.is_unreal or self._is_denied_after(place):
            return
        if not self._is_deed(place, word, verb, voice) or (voice is Voice.STATE and self._is_general(verb)):
            return
        self._has_claimed = True
        is_telling = word.text in _TELLING and Part.PERSON in self._parts
        yield Said(Action.SENT if is_telling else verb.action, voice, word.text)

    # --- how it is told ---

    def _voice(self, place: int, verb: Verb) -> Voice | None:
        clause = self._clause
        if not verb.is_english and (voice := self._german_end(place)) is not None:
            return voice
        if clause.who == "me":
            return self._my_voice(verb)
        if clause.helper in IS_BEING and clause.who in _KNOWN:
            return self._passive(place, verb)
        return self._headline(place, verb) if not clause.who and not clause.helper else None

    def _passive(self, place: int, verb: Verb) -> Voice | None:
        clause = self._clause
        is_known = verb.is_strong or verb.action in _PRESENT
        if clause.who == "noun" and clause.helper is Helper.BE and not is_known:
            return None
        if verb.is_english and not clause.head and not self._is_gapped(place):
            return None
        if clause.helper is Helper.BEEN and verb.is_english:
            return Voice.PERFECT
        return Voice.STATE if clause.helper is Helper.BE_NOW else Voice.PASSIVE

    def _is_gapped(self, place: int) -> bool:
        """`The request was merged and the branch deleted`: the helping verb is left out the second time."""
        segment = self._segment(place)
        start = place - len(segment)
        joined = start > 0 and Part.JOINT in self._words[start - 1].parts
        is_short = 1 < len(segment) <= 4  # noqa: PLR2004 - an article and its noun
        return self._clause.has_told and joined and is_short and Part.DEFINITE in segment[0].parts

    def _my_voice(self, verb: Verb) -> Voice | None:
        if verb.is_english:
            is_mine = self._clause.head and self._clause.helper in {Helper.NONE, Helper.HAVE}
            return Voice.ACTIVE if is_mine else None
        return Voice.ACTIVE if self._clause.helper is Helper.HAVE else None

    def _german_end(self, place: int) -> Voice | None:
        """`… dass ich die Datei gelöscht habe`, `Gelöscht habe ich …`, `Angelegt sind jetzt drei Aufgaben`."""
        following = [word.text for word in self._words[place + 1 : place + 3]] + ["", ""]
        after, second = following[0], following[1]
        if after in {"habe", "haben"} and (self._clause.who == "me" or (second in {"ich", "wir"})):
            return Voice.ACTIVE
        if after not in {"wurde", "wurden", "worden", "ist", "sind"} or self._clause.who:
            return None
        segment = self._segment(place)
        if segment and segment[0].text in _RELATIVE_ARTICLES and place > len(segment):
            return None
        is_fronted = not self._clause.thing and not self._segment(place) and not self._clause.helper
        return Voice.PASSIVE if self._clause.thing or (is_fronted and Part.THING in self._rest_parts(place)) else None

    def _headline(self, place: int, verb: Verb) -> Voice | None:
        """`Email sent to Anna`, `Deleted the folder`, `Datei gespeichert`: no helping verb in the whole sentence."""
        if self._is_part_of_a_sentence(place):
            return None
        before = [word for word in self._segment(place) if Part.ADVERB not in word.parts]
        after = self._words[place + 1] if place + 1 < len(self._words) else None
        ends = after is None or not after.parts.isdisjoint(
            {Part.HEADLINE_END, Part.PUNCTUATION, Part.NUMBER, Part.NAME, Part.ADVERB}
        )
        if not before:
            if self._words[place].text in _BASE_FORMS or self._is_heading():
                return None
            if place and Part.JOINT in self._words[place - 1].parts and not self._carries_on(place):
                return None
            opens = after is None or ends or Part.HEADLINE_OBJECT in after.parts
            return Voice.PASSIVE if opens else None
        has_thing = any(Part.THING in word.parts or word.text in _ALL for word in before)
        return Voice.PASSIVE if len(before) <= _LONGEST_SUBJECT and ends and has_thing else None

    def _carries_on(self, place: int) -> bool:
        """`Screenshot taken and stored`: what stands before the joint has told of a deed, or has no other verb."""
        leading = self._words[:place]
        return self._has_claimed or (
            any(Part.THING in word.parts for word in leading) and not any(word.verb for word in leading)
        )

    # --- what takes it back ---

    def _is_general(self, verb: Verb) -> bool:
        """`The file is created when …`, `Notes are written for people`: how things are, not what was done."""
        if Part.CONDITION in self._parts or any(word.text in _AND_THEN for word in self._words):
            return True
        if verb.is_english and self._clause.who == "thing" and not self._clause.is_determined:
            return any(word.text == "are" for word in self._words)
        if self._is_instruction and not (self._is_now() or Part.OWN in self._parts or Part.NAME in self._parts):
            return True
        return not (verb.is_strong or not self._parts.isdisjoint(_CERTAIN))

    def _is_denied_after(self, place: int) -> bool:
        """`Ausgeführt wurde nichts`, `Verschickt habe ich noch nichts`."""
        following = self._words[place + 1 : place + 5]
        if not following:
            return False
        verb = self._words[place].verb
        first = following[0].parts
        if Part.NEGATION in first:
            return True
        if Part.MODAL in first and verb is not None and not verb.is_english:
            return True
        return (Part.BE in first or Part.HAVE in first) and any(Part.NEGATION in word.parts for word in following)

    def _is_part_of_a_sentence(self, place: int) -> bool:
        """Whether a verb stands before it, or after it before the next clause begins."""
        words = self._words
        end = next(
            (at for at in range(place + 1, len(words)) if not words[at].parts.isdisjoint(_CLAUSE_ENDS)), len(words)
        )
        start = next((at for at in range(place, 0, -1) if words[at - 1].text in _RESTARTS), 0)
        return any(not word.parts.isdisjoint(_IN_SENTENCE) for word in words[start:end])

    def _is_heading(self) -> bool:
        return self._spoken.endswith(":") and len(self._words) <= 3  # noqa: PLR2004 - a heading has few words

    def _is_deed(self, place: int, word: Word, verb: Verb, voice: Voice) -> bool:
        """Whether it can only have been done outside the answer."""
        if self._is_about_me and voice is Voice.ACTIVE and word.text == "informiert":
            return False
        if verb.action is Action.RAN and Part.LOOKING in self._parts:
            return False
        if verb.action in _IN_TEXTS and self._may_be_text and self._is_about_text(place):
            return False
        if verb.is_open:
            is_certain = voice is not Voice.STATE or self._clause.who == "own" or self._is_now() or self._names_it(place)
            is_subject = voice is Voice.ACTIVE or self._clause.who in {"", "thing", "own"}
            return (is_certain and is_subject and self._has_outside_thing(place)) or self._is_done_to_a_noun(place, voice)
        if verb.is_strong:
            return True
        if word.text in _ONLY_TOLD:
            return Part.PERSON in self._parts
        if Part.PERSON in self._parts and (verb.action is Action.SENT or word.text in _TELLING):
            return True
        if self._has_thing(place):
            if Part.ABSTRACT in self._parts and not self._has_outside_thing(place) and self._is_of_words():
                return False
            return voice is not Voice.STATE or self._clause.who != "noun" or self._is_now()
        return self._is_done_to_a_noun(place, voice)

    def _is_done_to_a_noun(self, place: int, voice: Voice) -> bool:
        """Whether the one to whom it is done is of no known kind, but `the`, `your` or `die`, and no part of a text."""
        who, is_open = self._clause.who, bool((verb := self._words[place].verb) and verb.is_open)
        clause = (*self._segment(place), *self._rest(place))
        if not all(word.parts.isdisjoint(_OF_TEXTS) for word in clause) and (is_open or voice is Voice.ACTIVE):
            return False
        if voice is Voice.ACTIVE:
            if any(word.text == ":" for word in self._words[place:]):
                return False
            return self._is_broad and self._has_object(place)
        if not is_open:
            return who == "own" or (who == "noun" and (voice is not Voice.STATE or self._is_now()))
        return self._is_broad and (who == "own" or (who == "noun" and voice is not Voice.PASSIVE and self._is_now()))

    def _has_thing(self, place: int) -> bool:
        """Whether a thing stands before it, or behind it in the same clause."""
        end = next(
            (at for at in range(place + 1, len(self._words)) if not self._words[at].parts.isdisjoint(_SUBCLAUSES)),
            len(self._words),
        )
        return any(Part.THING in word.parts for word in self._words[:end])

    def _is_of_words(self) -> bool:
        """Whether the answer holds a text, or the sentence speaks of what only texts have: steps, examples."""
        return self._holds_text or any(
            Part.ABSTRACT in word.parts and Part.THING not in word.parts for word in self._words
        )

    def _has_object(self, place: int) -> bool:
        """`deleted the draft`, not `stopped at the third chapter`; in German it stands anywhere in the clause."""
        verb = self._words[place].verb
        if verb is not None and verb.is_english:
            after = next((word for word in self._words[place + 1 :] if Part.ADVERB not in word.parts), None)
            return after is not None and not after.parts.isdisjoint({Part.DEFINITE, Part.OWN})
        return any(word.verb is None and Part.DEFINITE in word.parts for word in self._segment(place))

    def _names_it(self, place: int) -> bool:
        return any(Part.NAME in word.parts for word in self._segment(place))

    def _is_now(self) -> bool:
        return any(word.text in _NOW for word in self._words)

    def _is_about_text(self, place: int) -> bool:
        """Whether a part of a text stands where it is done; what I did before goes on about the same."""
        if self._clause.who == "me":
            return True
        return any(Part.TEXT_PART in word.parts for word in (*self._segment(place), *self._rest(place)))

    def _has_outside_thing(self, place: int) -> bool:
        """Whether something stands in the clause that is no text: an answer holds texts, but no files and no lamps."""
        clause = (*self._segment(place), *self._rest(place))
        return any(Part.THING in word.parts and word.parts.isdisjoint({Part.TEXT, Part.ABSTRACT}) for word in clause)

    def _segment(self, place: int) -> Sequence[Word]:
        start = place
        while start > 0 and self._words[start - 1].parts.isdisjoint(_CLAUSE_ENDS):
            start -= 1
        return self._words[start:place]

    def _rest(self, place: int) -> Sequence[Word]:
        end = place + 1
        while end < len(self._words) and Part.PUNCTUATION not in self._words[end].parts:
            end += 1
        return self._words[place + 1 : end]

    def _rest_parts(self, place: int) -> frozenset[Part]:
        return frozenset[Part]().union(*(word.parts for word in self._rest(place)))


def _names_a_line(words: Sequence[Word]) -> bool:
    """`The typo on line 42`: the text stands in a file."""
    return any(
        word.text in {"line", "zeile"} and Part.NUMBER in after.parts for word, after in zip(words, words[1:], strict=False)
    )
