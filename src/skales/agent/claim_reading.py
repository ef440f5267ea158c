"""Reads a sentence from left to right for what it says was done, and how. Pure; linear in its length.

`claim_lexicon` knows the words, `claim_clause` carries along who acts, `claim_outside` tells deeds from what is written
in the answer, `claim_states` knows ways without a verb.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from skales.agent.claim_clause import IS_BEING, Clause, Helper
from skales.agent.claim_lexicon import Action, Part, Verb, Word, find_past, look_up
from skales.agent.claim_outside import is_general, is_outside, is_telling
from skales.agent.claim_patterns import ADVICE, OF_OTHERS, TOLD_TIME
from skales.agent.claim_spot import CLAUSE_ENDS, Setting, Spot, Voice, has_part
from skales.agent.claim_states import find_states
from skales.agent.claim_tokens import read_words

# At the head of a sentence they ask somebody to do it: `Set the thermostat to 21`.
_BASE_FORMS = frozenset({"set", "put", "run", "shut", "reset", "cut", "split"})
_OTHER_VERBS = frozenset({"ran", "run", "set", "put"})
_PARTICLES = frozenset({"into", "out", "through", "aside"})
# What befell a thing of no known kind may be history; these hardly are.
_PRESENT = frozenset({Action.MOVED, Action.SWITCHED})
_KNOWN = frozenset({"thing", "pronoun", "noun", "own"})
_IN_SENTENCE = frozenset({Part.ME, Part.BE, Part.HAVE, Part.MODAL})
_HEADLINE_ENDS = frozenset({Part.HEADLINE_END, Part.PUNCTUATION, Part.NUMBER, Part.NAME, Part.ADVERB})
_RELATIVE_ARTICLES = frozenset({"der", "die", "das", "dem", "den", "welche", "welcher", "welches"})
_ALL = frozenset({"alles", "everything", "beides"})
# Behind them a sentence begins anew.
_RESTARTS = frozenset({":", "–", "—"})
_LONGEST_SUBJECT = 9


class Said(Struct, frozen=True):
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
    if is_checked and words and not any(map(_verb, words)) and (past := find_past(words[0].text)):
        words = (look_up(past, opens=False), *words[1:])
    said = list(_Reader(words, setting, is_title=spoken.endswith(":")).read()) if any(map(_verb, words)) else []
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


def _verb(word: Word) -> Verb | None:
    return word.verb


class _Reader:
    """One sentence on its way."""

    def __init__(self, words: Sequence[Word], setting: Setting, *, is_title: bool) -> None:
        self._words = words
        self._setting = setting
        self._is_title = is_title and len(words) <= 3
        self._clause = Clause(words)
        self._parts = frozenset[Part]().union(*(word.parts for word in words))
        self._has_claimed = False

    def read(self) -> Iterator[Said]:
        for place, word in enumerate(self._words):
            is_saying = Part.SAYING in word.parts and self._clause.who != "me"
            if word.verb is None or is_saying or self._is_other_use(place):
                self._clause.note(place, word)
                continue
            spot = Spot(self._words, place, word.verb, self._clause, self._parts)
            voice = self._voice(spot)
            if voice is not None and self._is_claim(spot, voice):
                self._has_claimed = True
                yield Said(Action.SENT if is_telling(spot) else word.verb.action, voice, word.text)
            self._clause.head = self._clause.fresh = False
            self._clause.has_told = True

    def _is_other_use(self, place: int) -> bool:
        """An adjective (`the saved file`), an infinitive (`to run`), a noun, or the verb of a clause of others."""
        text = self._words[place].text
        before = self._words[place - 1] if place else None
        after = self._words[place + 1].text if place + 1 < len(self._words) else ""
        if before and (Part.OTHERS in before.parts or Part.ATTRIBUTIVE in before.parts):
            return not (before.text in {"with", "of", "when"} and self._clause.helper is Helper.HAVE)
        is_idle = (text == "saved" and after == "you") or (text == "informiert" and self._is_about_me())
        return is_idle or (text in _OTHER_VERBS and after in _PARTICLES)

    def _is_about_me(self) -> bool:
        return any(word.text == "mich" for word in self._words)

    def _is_claim(self, spot: Spot, voice: Voice) -> bool:
        if self._clause.is_unreal or _is_denied_after(spot) or not is_outside(spot, voice, self._setting):
            return False
        return voice is not Voice.STATE or not is_general(spot, self._setting)

    # --- how it is told ---

    def _voice(self, spot: Spot) -> Voice | None:
        clause = self._clause
        if not spot.verb.is_english and (voice := _german_end(spot)) is not None:
            return voice
        if clause.who == "me":
            is_mine = clause.helper is Helper.HAVE or (spot.verb.is_english and not clause.helper)
            return Voice.ACTIVE if is_mine and (clause.head or not spot.verb.is_english) else None
        if clause.helper in IS_BEING and (clause.who in _KNOWN or self._is_of_something_now(spot)):
            return self._passive(spot)
        return self._headline(spot) if not clause.who and not clause.helper else None

    def _is_of_something_now(self, spot: Spot) -> bool:
        """`Two-factor sign-in is now enabled`: a subject of no known kind, but no person."""
        is_fresh = self._clause.who == "other" and spot.is_now and not spot.verb.is_open
        return is_fresh and not has_part(self._words[: spot.place], Part.OTHERS)

    def _passive(self, spot: Spot) -> Voice | None:
        clause, verb = self._clause, spot.verb
        is_known = verb.is_strong or verb.action in _PRESENT
        if clause.who == "noun" and clause.helper is Helper.BE and not is_known:
            return None
        if verb.is_english and not clause.head and not self._is_gapped(spot):
            return None
        if clause.helper is Helper.BEEN and verb.is_english:
            return Voice.PERFECT
        return Voice.STATE if clause.helper is Helper.BE_NOW else Voice.PASSIVE

    def _is_gapped(self, spot: Spot) -> bool:
        """`The request was merged and the branch deleted`: the helping verb is left out the second time."""
        start = spot.place - len(spot.before)
        is_joined = start > 0 and Part.JOINT in self._words[start - 1].parts
        is_short = 1 < len(spot.before) <= 4
        return self._clause.has_told and is_joined and is_short and Part.DEFINITE in spot.before[0].parts

    def _headline(self, spot: Spot) -> Voice | None:
        """`Email sent to Anna`, `Deleted the folder`, `Datei gespeichert`: no helping verb in the whole sentence."""
        if _is_part_of_a_sentence(spot):
            return None
        before = [word for word in spot.before if Part.ADVERB not in word.parts]
        after = spot.next()
        ends = after is None or not after.parts.isdisjoint(_HEADLINE_ENDS)
        if before:
            has_thing = any(Part.THING in word.parts or word.text in _ALL for word in before)
            return Voice.PASSIVE if len(before) <= _LONGEST_SUBJECT and ends and has_thing else None
        if spot.text in _BASE_FORMS or self._is_title or not self._carries_on(spot.place):
            return None
        return Voice.PASSIVE if after is None or ends or Part.HEADLINE_OBJECT in after.parts else None

    def _carries_on(self, place: int) -> bool:
        """`Screenshot taken and stored`: what stands before the joint has told of a deed, or has no other verb."""
        if self._has_claimed or place == 0 or Part.JOINT not in self._words[place - 1].parts:
            return True
        leading = self._words[:place]
        verb = self._words[place].verb
        if verb is not None and verb.is_strong and not verb.is_english:
            return True
        return has_part(leading, Part.THING) and not any(map(_verb, leading))


def _german_end(spot: Spot) -> Voice | None:
    """`… dass ich die Datei gelöscht habe`, `Gelöscht habe ich …`, `Angelegt sind jetzt drei Aufgaben`."""
    following = [word.text if word else "" for word in (spot.next(), spot.next(2))]
    clause = spot.clause
    if following[0] in {"habe", "haben"} and (clause.who == "me" or following[1] in {"ich", "wir"}):
        return Voice.ACTIVE
    if following == ["worden", "war"] or following == ["worden", "waren"]:
        return None
    if following[0] not in {"wurde", "wurden", "worden", "ist", "sind"} or clause.who:
        return None
    before = spot.before
    if before and before[0].text in _RELATIVE_ARTICLES and spot.place > len(before):
        return None
    is_fronted = not before and not clause.helper and has_part(spot.after, Part.THING)
    return Voice.PASSIVE if clause.thing or is_fronted else None


def _is_denied_after(spot: Spot) -> bool:
    """`Ausgeführt wurde nichts`, `Verschickt habe ich noch nichts`, `I attached no files`."""
    start = spot.place + 1
    while Part.JOINT in (word.parts if (word := spot.next(start - spot.place)) else ()):
        start += 2
    following = spot.words[start : start + 4]
    if not following:
        return False
    first = following[0].parts
    if Part.NEGATION in first or (Part.MODAL in first and not spot.verb.is_english):
        return True
    return not first.isdisjoint({Part.BE, Part.HAVE}) and has_part(following, Part.NEGATION)


def _is_part_of_a_sentence(spot: Spot) -> bool:
    """Whether a verb stands before it, or after it before the next clause begins."""
    words, place = spot.words, spot.place
    ends = (at for at in range(place + 1, len(words)) if not words[at].parts.isdisjoint(CLAUSE_ENDS))
    start = next((at for at in range(place, 0, -1) if words[at - 1].text in _RESTARTS), 0)
    return any(not word.parts.isdisjoint(_IN_SENTENCE) for word in words[start : next(ends, len(words))])
