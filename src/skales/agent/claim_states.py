"""Ways to say that something was done without naming the deed: what is there now, is on its way, is complete.

`Invoice.pdf is now in your Downloads`, `Termin steht`, `Email on its way`, `The light is now off`. Each needs its
subject before it: a thing that lies outside the answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skales.agent.claim_lexicon import Action, Part, Word

_IS = r"(?:is|are|ist|sind|has been|have been)"
_NOW = r"(?:now|already|jetzt|nun|bereits|schon|ab sofort|inzwischen|wieder|again|back|safely|successfully|all|soeben|gerade|erfolgreich)"
_LIE = r"(?:liegt|liegen|steht|stehen|befindet sich|befinden sich|hängt|läuft|laufen|sits?|lives?)"
_IN = r"(?:in|on|at|under|inside|im|am|auf|unter|bei|auf dem|beim)"
_YOUR = (
    rf"{_IN} (?:your|the|deine[mnr]?|ihre[mnr]?|dem|der|den)? ?(?:\w+ )?(?:folder|downloads|desktop|documents|calendar|"
    r"inbox|outbox|drafts|vault|list|cart|basket|trash|bin|library|queue|drive|cloud|ordner|kalender|posteingang|"
    r"papierkorb|schreibtisch|einkaufsliste|warenkorb|\w+liste|\w+ordner|\w*kalender)"
)


class _Subject:
    """What may be said of whom."""

    ANY = frozenset({Part.THING, Part.NAME, Part.PRONOUN, Part.DEFINITE, Part.OWN})
    THING = frozenset({Part.THING, Part.NAME, Part.PRONOUN})
    OUTSIDE = frozenset({Part.THING, Part.NAME})
    MADE = frozenset({Part.MADE, Part.NAME})


@dataclass(frozen=True, slots=True)
class State:
    """How something is, by a deed. `is_new` when the sentence says that it became so just now."""

    action: Action
    is_new: bool
    words: str


@dataclass(frozen=True, slots=True)
class _Form:
    action: Action
    pattern: re.Pattern[str]
    subject: frozenset[Part]
    is_new: bool = True


def _form(action: Action, pattern: str, subject: frozenset[Part], *, is_new: bool = True) -> _Form:
    return _Form(action, re.compile(pattern), subject, is_new)


_FORMS = (
    _form(Action.SENT, rf"(?:\b{_IS} )?(?:{_NOW} )*\b(?:on (?:its|their) way|unterwegs|raus|rausgegangen)\b", _Subject.THING),
    _form(Action.SENT, rf"\b{_IS} (?:{_NOW} )*(?:live|online)\b|\b(?:went|gone|going) (?:out|live)\b|\b(?:ging|gingen) (?:\w+ )*raus\b", _Subject.ANY),
    _form(Action.MOVED, r"\b(?:went|wanderten?|landeten?|kam|kamen|came) (?:\w+ )?(?:into|in|im|zu|to) (?:the|your|den|die|das|deine\w*)?\b", _Subject.OUTSIDE),
    _form(Action.DONE, r"\b(?:went|gone|ging|gingen) (?:\w+ )?(?:through|durch)\b", _Subject.THING),
    _form(Action.DONE, r"\b(?:is|are) in$|\b(?:is|are) in [,:–—(]", _Subject.THING),
    _form(Action.DELETED, rf"\b{_IS} (?:{_NOW} )*(?:gone|weg|verschwunden)\b", _Subject.THING),
    _form(Action.PLACED, rf"\b(?:{_IS}|{_LIE}) (?:{_NOW} )+{_IN} ", _Subject.ANY),
    _form(Action.PLACED, r"\b(?:liegt|liegen) (?:\S+ ){0,8}(?:bereit|gespeichert|abgelegt)\b", frozenset()),
    _form(Action.PLACED, rf"\b{_IS} (?:{_IN} .{{0,40}}) now\b", _Subject.THING),
    _form(Action.PLACED, rf"\b(?:{_IS}|{_LIE}) {_YOUR}\b", _Subject.THING, is_new=False),
    _form(Action.PLACED, rf"\b(?:{_NOW} )+(?:{_IN}) (?:your|deine[mnr]?|[~/\w-]+/)", _Subject.OUTSIDE),
    _form(Action.PLACED, r"\bfind(?:e|est|en)? (?:it|them|sie|es|ihn|du|sie) (?:(?:now|jetzt|nun|here|it|sie|es) )*(?:in|under|at|unter|im|auf) \S*[./]\S", _Subject.MADE, is_new=False),
    _form(Action.SCHEDULED, rf"\b\w*(?:termin|buchung|treffen|besprechung|meeting|reservierung) steht(?: {_NOW})?(?: fest)?(?: im \w*kalender)?(?= [,:–(]|$)", frozenset()),
    _form(Action.RAN, r"\b(?:script|tests?|suite|build|job|command|workflow|migration|pipeline|backup|skript|befehl) (?:\w+ )?(?:ran|completed|finished|succeeded|passed|pass|(?:lief|liefen|läuft|laufen) (?:\w+ )*durch|(?:are|is|sind|ist) (?:\w+ )?(?:green|grün))\b", frozenset(), is_new=False),
    _form(Action.DONE, rf"(?:\b{_IS} )(?:{_NOW} |all |vollständig |komplett )*\b(?:complete|completed|done|finished|fertig|abgeschlossen|erledigt|durch|in place|set up)\b", _Subject.MADE),
    _form(Action.DONE, r"\b(?:complete|completed|finished|abgeschlossen|erledigt)$|\b(?:complete|completed|finished|abgeschlossen|erledigt) [,:–—(]", _Subject.MADE),
    _form(Action.DONE, rf"\b{_IS} (?:{_NOW} )*ready\b", _Subject.MADE),
    _form(Action.SWITCHED, rf"\b{_IS} (?:{_NOW} )+(?:on|off|open|closed|locked|an|aus|zu|offen|dunkel|muted|dimmed|active|inactive|aktiv|inaktiv)\b", _Subject.OUTSIDE),
    _form(Action.DONE, rf"\b(?:{_IS}|{_LIE}|sits?|runs?|l(?:ä|ae)uft|reads?|says?|heißt) (?:{_NOW} )*(?:now|jetzt|nun|ab sofort)\b", _Subject.OUTSIDE, is_new=False),
    _form(Action.DONE, rf"\b{_IS} (?:\w+ ){{1,3}}(?:as of now|from now on|ab sofort|ab jetzt)\b", _Subject.OUTSIDE),
    _form(Action.SWITCHED, rf"\b{_IS} (?:off|an|aus)$", _Subject.OUTSIDE, is_new=False),
    _form(Action.SCHEDULED, rf"\b{_IS} (?:{_NOW} )*set\b", _Subject.OUTSIDE),
    _form(Action.WRITTEN, rf"\b(?:{_NOW} )(?:contains?|includes?|reads?|shows?|says|uses?|points?|enthält|umfasst|lautet|zeigt) ", _Subject.OUTSIDE),
    _form(Action.WRITTEN, r"\b(?:enthält|umfasst|lautet|heißt|heißen) (?:jetzt|nun) ", _Subject.OUTSIDE),
)
# Said of no thing: whom somebody told something, and what was got rid of.
_BY_ME = (
    _form(Action.SENT, r"\b(?:and|i|we) (?:have |just |already |also )*let (?!me\b|us\b)(?:the |your |my )?[\w.@-]+ know\b", frozenset()),
    _form(Action.SENT, r"\b(?:ich|wir) (?:\w+ ){0,4}bescheid (?:gegeben|gesagt)\b|\bbescheid (?:gegeben|gesagt) habe\b", frozenset()),
    _form(Action.SENT, r"\b(?:weiß|wissen|weiss) (?:jetzt|nun|bereits|schon|auch|nun auch)* ?bescheid\b", frozenset()),
    _form(Action.SENT, r"\b(?:got|received) .*\bfrom me\b|\bvon mir (?:\S+ ){0,4}(?:bekommen|erhalten)\b", frozenset()),
    _form(Action.DELETED, r"\bi (?:have )?(?:gotten|got) rid of\b", frozenset()),
)
_UNREAL = frozenset({Part.NEGATION, Part.MODAL, Part.CONDITION, Part.SAYING, Part.OTHERS, Part.HEDGE})
_HINTS = frozenset(
    "way unterwegs raus live online out gone weg verschwunden now jetzt nun in on at under im unter find finde findest "
    "finden steht complete completed done finished fertig abgeschlossen erledigt ready set know bescheid rid durch place "
    "already bereits liegt liegen me mir went gone off aus sofort landete landeten wanderte wanderten ging gingen".split()
)


def find_states(words: Sequence[Word]) -> Iterator[State]:
    """What a sentence without a word for a deed says became so."""
    if not any(word.text in _HINTS for word in words):
        return
    plain = " ".join(word.text for word in words).lower()
    for form in (*_BY_ME, *_FORMS):
        found = form.pattern.search(plain)
        if found is not None and _is_said_of(form, words, plain[: found.start()], found.group()):
            yield State(form.action, form.is_new, found.group())
            return


def _is_said_of(form: _Form, words: Sequence[Word], before: str, said: str) -> bool:
    """Whether it stands there as a fact, of something of the right kind that comes before it."""
    count = len(before.split())
    leading = words[: count + len(said.split())]
    if any(not word.parts.isdisjoint(_UNREAL) and word.text not in said.split() for word in leading):
        return False
    return not form.subject or any(not word.parts.isdisjoint(form.subject) for word in words[:count])
