"""Ways to say that something was done without naming the deed: what is there now, is on its way, is complete.

`Invoice.pdf is now in your Downloads`, `Termin steht`, `Email on its way`, `The light is now off`. Most need their
subject before them: a thing that lies outside the answer.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from skales.agent.claim_lexicon import Action, Part, Word

_IS = r"\b(?:is|are|ist|sind|has been|have been)"
_NOW = (
    r"(?:now|already|back|safely|successfully|again|all|jetzt|nun|bereits|schon|ab sofort|ab jetzt|inzwischen|wieder|"
    r"soeben|gerade|erfolgreich)"
)
_LIE = r"(?:liegt|liegen|steht|stehen|befindet sich|befinden sich|hängt|läuft|laufen|sits?|lives?)"
_IN = r"(?:in|on|at|under|inside|im|am|auf|unter|bei|beim)"
_YOUR_PLACE = (
    rf"{_IN} (?:your|the|deine[mnr]?|ihre[mnr]?|dem|der|den)? ?(?:\w+ )?(?:folder|downloads|desktop|documents|calendar|"
    r"inbox|outbox|drafts|vault|list|cart|basket|trash|bin|library|queue|drive|cloud|posteingang|papierkorb|"
    r"schreibtisch|warenkorb|\w+liste|\w*ordner|\w*kalender)"
)
_FULL = r"(?:complete|completed|finished|abgeschlossen|erledigt)"
_RUN = r"(?:script|tests?|suite|build|job|command|workflow|migration|pipeline|backup|skript|befehl)"
_RAN = r"(?:ran|completed|finished|succeeded|passed?|(?:lief|liefen|läuft|laufen) (?:\w+ )*durch)"

_THING = frozenset({Part.THING, Part.NAME, Part.PRONOUN})
_OUTSIDE = frozenset({Part.THING, Part.NAME})
_MADE = frozenset({Part.MADE, Part.NAME})
# What is `the` or `your` something.
_ANY = _THING | {Part.DEFINITE, Part.OWN}
_NONE = frozenset[Part]()
_UNREAL = frozenset({Part.NEGATION, Part.MODAL, Part.CONDITION, Part.SAYING, Part.OTHERS, Part.HEDGE})


class State(Struct, frozen=True):
    """How something is, by a deed. `is_new` when the sentence says that it became so just now."""

    action: Action
    is_new: bool
    words: str


class _Form(Struct, frozen=True):
    """A turn of phrase, looked for when one of its hints is among the words of a sentence."""

    action: Action
    hints: frozenset[str]
    pattern: re.Pattern[str]
    subject: frozenset[Part]
    is_new: bool


def _form(action: Action, hints: str, pattern: str, subject: frozenset[Part] = _NONE, *, is_new: bool = True) -> _Form:
    return _Form(action, frozenset(hints.split()), re.compile(pattern), subject, is_new)


_NOW_HINTS = (
    "now already back safely successfully again all jetzt nun bereits schon sofort inzwischen wieder soeben gerade"
)
_FORMS = (
    # Whom somebody told something, and what I got rid of.
    _form(
        Action.SENT,
        "know",
        r"\b(?:and|i|we) (?:(?:have|just|already|also|then) )*let (?!me\b|us\b)(?:the |your |my )?[\w.@-]+ know\b",
    ),
    _form(Action.SENT, "bescheid", r"\b(?:ich|wir) (?:\w+ ){0,4}bescheid (?:gegeben|gesagt)\b|\bbescheid \w+ habe\b"),
    _form(Action.SENT, "bescheid", r"\b(?:weiß|wissen) (?:jetzt |nun |bereits |schon |auch )*bescheid\b"),
    _form(Action.SENT, "me", r"\b(?:got|received) .*\bfrom me\b"),
    _form(Action.SENT, "mir", r"\bvon mir (?:\S+ ){0,4}(?:bekommen|erhalten)\b"),
    _form(Action.DELETED, "rid", r"\bi (?:have )?(?:gotten|got) rid of\b"),
    # What goes its way.
    _form(
        Action.SENT, "way unterwegs raus", rf"(?:{_IS} )?(?:{_NOW} )*\b(?:on (?:its|their) way|unterwegs|raus)\b", _ANY
    ),
    _form(Action.SENT, "live online", rf"{_IS} (?:{_NOW} )*(?:live|online)\b", _THING),
    _form(Action.SENT, "out live", r"\b(?:went|gone|going) (?:out|live)\b", _THING),
    _form(Action.SENT, "raus", r"\b(?:ging|gingen) (?:\w+ )*raus\b", _ANY),
    _form(
        Action.MOVED,
        "went wanderte wanderten landete landeten kam kamen",
        r"\b(?:went|wanderten?|landeten?|kamen?) (?:\w+ )?(?:into|in|im|zu|to) (?:the|your|den|die|das|deine\w*)\b",
        _OUTSIDE,
    ),
    _form(Action.DONE, "through durch", r"\b(?:went|gone|ging|gingen) (?:\w+ )?(?:through|durch)\b", _THING),
    _form(Action.DELETED, "gone weg verschwunden", rf"{_IS} (?:{_NOW} )*(?:gone|weg|verschwunden)\b", _THING),
    _form(
        Action.SENT,
        "per",
        r"\b(?:ging|gingen) (?:\w+ )*per (?:mail|e-mail|post|sms|fax) an\b",
        _ANY,
    ),
    _form(
        Action.DONE,
        "you du",
        r"\b(?:you are|du bist) (?:now |jetzt |nun )?(?:registered|booked|enrolled|unsubscribed|subscribed|signed out|"
        r"checked in|angemeldet|abgemeldet|registriert|eingetragen|ausgetragen|eingecheckt|abbestellt)\b",
    ),
    # Where something is now.
    _form(Action.PLACED, _NOW_HINTS, rf"(?:{_IS}|\b{_LIE}) (?:{_NOW} )+{_IN} ", _ANY),
    _form(Action.PLACED, "liegt liegen", r"\b(?:liegt|liegen) (?:\S+ ){0,8}(?:bereit|gespeichert|abgelegt)\b"),
    _form(Action.PLACED, "now", rf"{_IS} {_IN} .{{0,40}} now\b", _THING),
    _form(
        Action.PLACED,
        "is are ist sind liegt liegen steht stehen befindet befinden",
        rf"\S (?:{_IS}|{_LIE}) {_YOUR_PLACE}\b",
        is_new=False,
    ),
    _form(Action.PLACED, _NOW_HINTS, rf"\b(?:{_NOW} )+{_IN} (?:your|deine[mnr]?|[~/\w-]+/)", _OUTSIDE),
    _form(
        Action.PLACED,
        "find finde finden findest",
        r"\bfind(?:e|est|en)? (?:(?:it|them|sie|es|ihn|du|now|jetzt|nun|here) )+(?:in|under|at|unter|im|auf) \S*[./]\S",
        _MADE,
        is_new=False,
    ),
    # What is settled, complete, or otherwise than before.
    _form(
        Action.SCHEDULED,
        "steht",
        rf"\b\w*(?:termin|buchung|treffen|besprechung|meeting|reservierung) steht"
        rf"(?: {_NOW})?(?: fest)?(?: im \w*kalender)?(?= [,:–(]|$)",
    ),
    _form(
        Action.RAN,
        "ran completed finished succeeded pass passed durch",
        rf"\b{_RUN} (?:\w+ )?{_RAN}\b",
        is_new=False,
    ),
    _form(Action.RAN, "green grün", rf"\b{_RUN} (?:is|are|ist|sind) (?:\w+ )?(?:green|grün)\b", is_new=False),
    _form(
        Action.DONE,
        "complete completed done finished fertig abgeschlossen erledigt ready einsatzbereit place set",
        rf"{_IS} (?:{_NOW} |vollständig |komplett )*"
        r"(?:complete|completed|done|finished|fertig|abgeschlossen|erledigt|ready|einsatzbereit|in place|set up)\b",
        _MADE,
    ),
    _form(Action.DONE, "complete completed finished abgeschlossen erledigt", rf"\b{_FULL}(?:$| [,:–—(])", _MADE),
    _form(Action.DONE, "in", r"\b(?:is|are) in(?:$| [,:–—(])", _THING),
    _form(
        Action.SWITCHED,
        _NOW_HINTS,
        rf"{_IS} (?:{_NOW} )+"
        r"(?:on|off|open|closed|locked|muted|dimmed|active|inactive|an|aus|zu|offen|aktiv|inaktiv)\b",
        _OUTSIDE,
    ),
    _form(
        Action.DONE,
        "now jetzt nun sofort",
        rf"(?:{_IS}|\b(?:{_LIE}|has|have|hat|haben|"
        rf"runs?|reads?|says?|heißt|laeuft)) (?:{_NOW} )*(?:now|jetzt|nun|ab sofort)\b",
        _OUTSIDE,
        is_new=False,
    ),
    _form(
        Action.DONE,
        "now sofort jetzt",
        rf"{_IS} (?:\w+ ){{1,3}}(?:as of now|from now on|ab sofort|ab jetzt)\b",
        _OUTSIDE,
    ),
    _form(Action.SWITCHED, "off on an aus zu", r"^(?:\w+ ){1,3}(?:off|on|an|aus|zu)(?:$| ,)", _OUTSIDE),
    _form(Action.SWITCHED, "off an aus", rf"{_IS} (?:off|an|aus)$", _OUTSIDE, is_new=False),
    _form(
        Action.SCHEDULED, "confirmed bestätigt", rf"{_IS} (?:{_NOW} )*(?:confirmed|bestätigt)\b", _OUTSIDE, is_new=False
    ),
    _form(Action.SCHEDULED, "set", rf"{_IS} (?:{_NOW} )*set\b", _OUTSIDE),
    _form(
        Action.WRITTEN,
        "now jetzt nun",
        r"\bnow (?:contains?|includes?|reads?|shows?|says?|uses?|points?) "
        r"|\b(?:enthält|umfasst|lautet|heißen) (?:jetzt|nun) ",
        _OUTSIDE,
    ),
)
_HINTS = frozenset[str]().union(*(form.hints for form in _FORMS))


def find_states(words: Sequence[Word]) -> Iterator[State]:
    """What a sentence without a word for a deed says became so: the first turn of phrase that fits."""
    hints = _HINTS.intersection(word.text for word in words)
    if not hints:
        return
    plain = " ".join(word.text for word in words).lower()
    for form in _FORMS:
        if form.hints.isdisjoint(hints):
            continue
        found = form.pattern.search(plain)
        if found is not None and _is_said_of(form, words, plain[: found.start()], found.group()):
            yield State(form.action, form.is_new, found.group())
            return


def _is_said_of(form: _Form, words: Sequence[Word], before: str, said: str) -> bool:
    """Whether it stands there as a fact, of something of the right kind that comes before it."""
    count, phrase = len(before.split()), said.split()
    leading = words[: count + len(phrase)]
    if any(not word.parts.isdisjoint(_UNREAL) and word.text not in phrase for word in leading):
        return False
    return not form.subject or any(not word.parts.isdisjoint(form.subject) for word in words[:count] or leading)
