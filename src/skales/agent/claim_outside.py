"""Whether a deed can only have been done outside the answer: much is written, changed and removed in the answer itself.

`I saved it` is one whatever follows. `I changed it` is one with a file or a lamp, not with a tone or a second step.
"""

from skales.agent.claim_lexicon import Action, Part
from skales.agent.claim_spot import Setting, Spot, Voice, has_part

_IN_TEXTS = frozenset({Action.WRITTEN, Action.DELETED, Action.MOVED, Action.ORDERED, Action.DONE})
# One who is told something was written to; `told` and `gesagt` alone are no deed.
_ONLY_TOLD = frozenset({"told", "gesagt"})
_TELLING = _ONLY_TOLD | {"written", "wrote", "geschrieben", "replied", "geantwortet", "erinnert"}
_OF_WORDS = frozenset({Part.TEXT, Part.ABSTRACT})
_OF_TEXTS = _OF_WORDS | {Part.TEXT_PART}
_OF_MACHINES = frozenset({Action.SWITCHED, Action.OPERATED})
_NO_OBJECT = frozenset(
    {Part.HEADLINE_END, Part.PUNCTUATION, Part.PRONOUN, Part.JOINT, Part.ME, Part.ABSTRACT, Part.TEXT_PART}
)
_SUBCLAUSES = frozenset({Part.OPENER, Part.CONDITION})
_CERTAIN = frozenset({Part.DEFINITE, Part.OWN, Part.NUMBER, Part.NAME})
_AND_THEN = frozenset({"then", "dann", "danach", "afterwards", "anschließend"})
# `The schedule is stored in the device`: English says with the same words how things usually are.
_USUAL = frozenset({Action.WRITTEN, Action.SWITCHED, Action.SENT})
_ALL = frozenset({"everything", "alles"})
# `A key is written and never read back`
_ANY = frozenset({"a", "an", "each", "every", "any", "jede", "jeder", "jedes"})
_LINE = frozenset({"line", "zeile"})


def is_telling(spot: Spot) -> bool:
    """`I wrote to the landlord`: what looks like writing sends."""
    return spot.text in _TELLING and Part.PERSON in spot.parts


def is_outside(spot: Spot, voice: Voice, setting: Setting) -> bool:
    """Whether it can only have been done outside the answer."""
    verb = spot.verb
    if verb.action is Action.RAN and Part.LOOKING in spot.parts:
        return False
    if verb.action in _IN_TEXTS and _is_about_text(spot):
        return False
    if verb.is_open:
        return _is_done_to_a_thing(spot, voice) or _is_done_to_a_noun(spot, voice, setting)
    if verb.is_strong:
        return True
    if spot.text in _ONLY_TOLD:
        return Part.PERSON in spot.parts
    if Part.PERSON in spot.parts and (verb.action is Action.SENT or is_telling(spot)):
        return True
    if voice is Voice.ACTIVE and verb.action in _OF_MACHINES and _has_any_object(spot):
        return True
    if not _has_thing(spot):
        return _is_done_to_a_noun(spot, voice, setting)
    if has_part(spot.near, Part.ABSTRACT) and _is_of_words(spot, setting) and Part.NAME not in spot.parts:
        return _has_outside_thing(spot) and setting is not Setting.HANDS_OVER
    return voice is not Voice.STATE or spot.clause.who != "noun" or spot.is_now


def is_general(spot: Spot, setting: Setting) -> bool:
    """`The file is created when …`, `Notes are written for people`: how things are, not what was done."""
    if Part.CONDITION in spot.parts or any(word.text in _AND_THEN for word in spot.words):
        return True
    if spot.verb.is_english and spot.clause.who == "thing" and not spot.clause.is_determined:
        return any(word.text == "are" for word in spot.words)
    if spot.before and spot.before[0].text in _ANY and not spot.is_now:
        return True
    is_known = spot.is_now or not spot.parts.isdisjoint({Part.OWN, Part.NAME})
    is_usual = spot.verb.is_english and not spot.verb.is_strong and spot.verb.action in _USUAL
    if ((is_usual and not _names_a_line(spot)) or setting is Setting.INSTRUCTS) and not is_known:
        return True
    return not (spot.verb.is_strong or not spot.parts.isdisjoint(_CERTAIN))


def _is_about_text(spot: Spot) -> bool:
    """Whether it is done to a part of a text; what I did before goes on about the same.

    `The typo on line 42` stands in a file.
    """
    if Part.TEXT_PART not in spot.parts or Part.NAME in spot.parts or _names_a_line(spot):
        return False
    return spot.clause.who == "me" or has_part(spot.near, Part.TEXT_PART)


def _names_a_line(spot: Spot) -> bool:
    return Part.NUMBER in spot.parts and any(word.text in _LINE for word in spot.words)


def _is_done_to_a_thing(spot: Spot, voice: Voice) -> bool:
    """For an open verb: to one that is no text, which is the subject unless somebody does it."""
    who = spot.clause.who
    is_certain = voice is not Voice.STATE or who == "own" or spot.is_now or has_part(spot.before, Part.NAME)
    is_subject = voice is Voice.ACTIVE or who in {"", "thing", "own"}
    return is_certain and is_subject and _has_outside_thing(spot)


def _is_done_to_a_noun(spot: Spot, voice: Voice, setting: Setting) -> bool:
    """Whether the one to whom it is done is of no known kind, but `the`, `your` or `die`, and no part of a text."""
    who, is_open = spot.clause.who, spot.verb.is_open
    is_plain = setting is Setting.PLAIN
    around = spot.words if who == "me" and spot.clause.has_told else spot.near
    is_of_texts = any(not word.parts.isdisjoint(_OF_TEXTS) for word in around)
    if is_of_texts and (is_open or voice is Voice.ACTIVE):
        return False
    if voice is Voice.ACTIVE:
        # `I converted the temperatures: 20 °C is 68 °F` gives the result at once.
        gives_it = any(word.text == ":" for word in spot.words[spot.place :])
        return is_plain and not gives_it and _has_object(spot)
    if not is_open:
        if who == "pronoun" and any(word.text in _ALL for word in spot.before):
            return True
        return who == "own" or (who == "noun" and (voice is not Voice.STATE or spot.is_now))
    return is_plain and (who == "own" or (who == "noun" and voice is not Voice.PASSIVE and spot.is_now))


def _has_object(spot: Spot) -> bool:
    """`deleted the draft`, not `stopped at the third chapter`; in German it stands before the verb."""
    if not spot.verb.is_english:
        return any(
            word.verb is None and (Part.DEFINITE in word.parts or (word.is_capital and Part.ME not in word.parts))
            for word in spot.before
        )
    following = (word for word in spot.words[spot.place + 1 :] if Part.ADVERB not in word.parts)
    after = next(following, None)
    return after is not None and not after.parts.isdisjoint({Part.DEFINITE, Part.OWN})


def _has_any_object(spot: Spot) -> bool:
    """`I reloaded nginx`: any word that could be one."""
    after = spot.next()
    is_one = after is not None and after.parts.isdisjoint(_NO_OBJECT) and not after.text.endswith("ing")
    return spot.verb.is_english and is_one and not spot.parts & {Part.ABSTRACT, Part.TEXT_PART}


def _has_thing(spot: Spot) -> bool:
    """Whether a thing stands before it, or behind it before a subordinate clause."""
    for place, word in enumerate(spot.words):
        if place > spot.place and not word.parts.isdisjoint(_SUBCLAUSES):
            return False
        if Part.THING in word.parts:
            return True
    return False


def _has_outside_thing(spot: Spot) -> bool:
    """Whether something stands in the clause that is no text: an answer holds texts, but no files and no lamps."""
    return any(Part.THING in word.parts and word.parts.isdisjoint(_OF_WORDS) for word in spot.near)


def _is_of_words(spot: Spot, setting: Setting) -> bool:
    """Whether the answer holds a text, or the sentence speaks of what only texts have: steps, examples."""
    return setting is Setting.HANDS_OVER or any(
        Part.ABSTRACT in word.parts and Part.THING not in word.parts for word in spot.near
    )
