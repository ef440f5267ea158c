"""Finds sentences of an answer that say something was done, and whether a call that went well bears them out.

A model that says "sent" without sending makes the worst error of its kind: people act on it. What is said is compared
with what ran, never with the model's own account. English and German.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skales.agent.claim_words import EARLIER, PARTICIPLES, TEXT_PART, THING, UNDONE, Action
from skales.core.tool import Effect

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTE_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=[^\s\d])|\n+|;\s+")
_DECORATION = re.compile(r"^[^\w`'\"“„«(~/]+|[*_]{2,}")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“\n]*“|«[^»\n]*»")
# Names of files and addresses, which a call must have met.
_NAME = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w/@.])(?:[~\w.-]*/)*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w/])"
)
_NO_NAMES = frozenset({"e.g", "i.e", "z.b", "d.h", "u.a", "node.js", "next.js", "vue.js"})

_WORDS = {word: action for action, words in PARTICIPLES.items() for word in words.split()}
_VERB = "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True))
_FILLER = (
    r"(?:,?\s+(?:just|now|also|then|successfully|already|both|and|gone ahead and|went ahead and|previously|earlier|"
    r"have|been))"
)
# "I sent", "I've just sent", "We have now saved"; and the second deed of "I created X and sent it".
_ACTIVE = re.compile(
    rf"\b(?:I|I['’]ve|I have|we|we['’]ve|we have){_FILLER}{{0,3}}\s+(?P<verb>{_VERB})\b"
    rf"(?:[^.!?;]*?(?:,|\band\b){_FILLER}{{0,2}}\s+(?P<second>{_VERB})\b)?",
    re.IGNORECASE,
)
_GERMAN = re.compile(
    rf"\b(?:ich|wir)\s+(?:habe?|haben)\b(?P<between>[^.!?;]*?)\b(?P<verb>{_VERB})\b(?:\s+und\b[^.!?;]*?\b(?P<second>{_VERB})\b)?"
    rf"|\b(?:habe?|haben)\s+(?:ich|wir)\b(?P<between2>[^.!?;]*?)\b(?P<verb2>{_VERB})\b",
    re.IGNORECASE,
)
# "The mail has been sent", "Your file is saved", "Die Datei wurde gelöscht".
_PASSIVE = re.compile(
    rf"^(?P<subject>[^.!?;]*?)\b(?:has|have|was|were|is|are|['’]s|wurden?|ist|sind)\b(?P<between>[^.!?;]*?)"
    rf"\b(?P<verb>{_VERB})\b(?P<rest>[^.!?;]*)",
    re.IGNORECASE,
)
# "Email sent.", "Datei gespeichert!", "Done: report.pdf created", "Successfully deleted the folder".
_HEADLINE = re.compile(
    rf"^(?:(?:all )?(?:done|ok|okay|sure|erledigt|fertig|alles klar)[\s:!,.–—-]+)?"
    rf"(?:(?P<subject>(?:[^\s,;:]+\s+){{1,5}}?)(?:successfully\s+|erfolgreich\s+)?(?P<verb>{_VERB})(?P<rest>[^.!?;]*)"
    rf"|(?:successfully\s+|erfolgreich\s+)?(?P<verb2>{_VERB})\b(?P<rest2>.*))[.!]?$",
    re.IGNORECASE,
)
_BY_OTHERS = re.compile(
    r"\bby (?!me\b|us\b|Skales\b)\w+|\bvon (?!mir\b|uns\b)[A-ZÄÖÜ]\w+|\b(?:in|im Jahr|since|seit) (?:1[5-9]|20)\d\d\b"
)

_SENDING = re.compile(r"send|reply|post|push|publish|upload|request|deploy|notif|message|tweet|social|delegate")
_DELETING = re.compile(r"delete|remove|empty|edit|replace|clear")
_RUNNING = re.compile(r"run|command|process|deploy|install")
_SCHEDULING = re.compile(r"schedule|calendar|planner|create_task|plan_to")
_MOVING = re.compile(r"move|copy|download|extract|archive|upload|rename")
# These may do anything, and need not name what they did it to.
_ANYTHING = frozenset({"execute_command", "run_script", "run_workflow", "playbook_run", "dispatch_subtasks"})

_NOTHING = {
    Action.SENT: "no call of this turn sent anything",
    Action.WRITTEN: "no call of this turn wrote or changed anything",
    Action.DELETED: "no call of this turn deleted anything",
    Action.RAN: "no call of this turn ran anything",
    Action.SCHEDULED: "no call of this turn scheduled anything",
    Action.MOVED: "no call of this turn moved, copied or downloaded anything",
}


@dataclass(frozen=True, slots=True)
class Deed:
    """A tool call and what came of it.

    `words` holds its arguments and the beginning of its result. `is_foreign` marks a tool of another program, of which
    nothing is known.
    """

    tool: str
    effects: frozenset[Effect]
    is_done: bool
    words: str
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that says something was done."""

    sentence: str
    action: Action
    names: tuple[str, ...]
    is_earlier: bool


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A claim that nothing bears out, and why, in words that go on from a colon."""

    sentence: str
    reason: str


def find_unconfirmed(answer: str, turn: Sequence[Deed], earlier: Sequence[Deed] = ()) -> Sequence[Unconfirmed]:
    """The claims of an answer that no call bears out, each sentence once.

    Args:
        answer: What the model wrote, as Markdown.
        turn: The calls of this turn.
        earlier: The calls of the turns before, which bear out what is told of then.
    """
    found: dict[str, Unconfirmed] = {}
    for claim in find_claims(answer):
        reason = _doubt(claim, [*turn, *earlier] if claim.is_earlier else turn)
        if reason:
            found.setdefault(claim.sentence, Unconfirmed(claim.sentence, reason))
    return list(found.values())


def find_claims(answer: str) -> Iterator[Claim]:
    """What the answer says was done, in its order; code and quotations say nothing."""
    plain = _QUOTE_LINE.sub("", _CODE.sub("\n", answer))
    for piece in _SENTENCE_END.split(plain):
        sentence = _DECORATION.sub("", piece).strip()
        if not sentence or sentence.endswith("?"):
            continue
        spoken = _QUOTED.sub(" it ", sentence)
        for action in dict.fromkeys(_actions(spoken)):
            yield Claim(sentence, action, _find_names(sentence), bool(EARLIER.search(spoken)))


def _actions(sentence: str) -> Iterator[Action]:
    spoken = [*_said_by(_ACTIVE, sentence), *_said_by(_GERMAN, sentence)]
    yield from spoken or _said_of_things(sentence)


def _said_by(pattern: re.Pattern[str], sentence: str) -> Iterator[Action]:
    """What the speaker says to have done."""
    for found in pattern.finditer(sentence):
        groups = found.groupdict()
        before = (
            f"{sentence[: found.start()].rpartition(',')[2]} {groups.get('between') or groups.get('between2') or ''}"
        )
        if UNDONE.search(before):
            continue
        for name in ("verb", "verb2", "second"):
            if verb := groups.get(name):
                action = _WORDS[verb.lower()]
                if _is_deed(action, sentence):
                    yield action


def _said_of_things(sentence: str) -> Iterator[Action]:
    """What is said to have happened to a thing, without a word on who did it."""
    for pattern in (_PASSIVE, _HEADLINE):
        found = pattern.match(sentence)
        if found is None:
            continue
        groups = {name: text or "" for name, text in found.groupdict().items()}
        around = " ".join(text for name, text in groups.items() if not name.startswith("verb"))
        is_thing = bool(THING.search(around) or _find_names(around))
        if is_thing and not UNDONE.search(around) and not _BY_OTHERS.search(around) and not TEXT_PART.search(around):
            yield _WORDS[(groups["verb"] or groups.get("verb2", "")).lower()]
            return


def _is_deed(action: Action, about: str) -> bool:
    """Whether it can only have been done outside the answer."""
    if TEXT_PART.search(about):
        return False
    return action is not Action.WRITTEN or bool(THING.search(about) or _find_names(about))


def _find_names(text: str) -> tuple[str, ...]:
    found = (name.strip("`'\"*_ ") for name in _NAME.findall(text))
    return tuple(dict.fromkeys(name for name in found if name.lower() not in _NO_NAMES))


def _doubt(claim: Claim, deeds: Sequence[Deed]) -> str:
    """Why the claim is not borne out, empty when it is."""
    fitting = [deed for deed in deeds if _fits(claim.action, deed)]
    done = [deed for deed in fitting if deed.is_done]
    if not done:
        return f"{fitting[-1].tool} did not succeed" if fitting else _NOTHING[claim.action]
    if any(deed.tool in _ANYTHING or deed.is_foreign for deed in done):
        return ""
    missing = [name for name in claim.names if not any(_meets(name, deed) for deed in done)]
    return f"no successful call names {missing[0]}" if missing else ""


def _meets(name: str, deed: Deed) -> bool:
    return name.rpartition("/")[2].casefold() in deed.words.casefold()


def _fits(action: Action, deed: Deed) -> bool:
    """Whether a call of this kind could have done it."""
    if deed.tool in _ANYTHING or deed.is_foreign:
        return True
    match action:
        case Action.SENT:
            return Effect.OUTBOUND in deed.effects and bool(_SENDING.search(deed.tool))
        case Action.WRITTEN:
            return Effect.WRITES in deed.effects
        case Action.DELETED:
            return Effect.DESTRUCTIVE in deed.effects or bool(_DELETING.search(deed.tool))
        case Action.RAN:
            return bool(_RUNNING.search(deed.tool))
        case Action.SCHEDULED:
            return bool(_SCHEDULING.search(deed.tool))
        case Action.MOVED:
            return bool(_MOVING.search(deed.tool))
