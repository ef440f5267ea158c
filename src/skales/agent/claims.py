"""Finds sentences of an answer that say something was done, and whether a call that went well bears them out.

A model that says "sent" without sending makes the worst error of its kind: people act on it. What is said is compared
with what ran, never with the model's own account. English and German; `claim_text` finds the
sentences, `claim_reading` what one says.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from skales.agent.claim_lexicon import Action, Part, find_number, look_up
from skales.agent.claim_patterns import HANDS_OVER, INSTRUCTS
from skales.agent.claim_reading import Said, is_told_of_a_moment, read_sentence
from skales.agent.claim_spot import Setting, Voice
from skales.agent.claim_text import Sentence, find_names_of, split_answer
from skales.agent.deeds import Deed, count_items, fits, is_reading, meets, tells_number, tells_of
from skales.core.evidence import Unconfirmed

# A few speak for all of a text that makes hundreds.
MOST_CLAIMS = 200
_MOST_SENTENCES = 2_000
_LONGEST_GLANCE = 20_000
# Whom something was sent to. German writes every noun with a capital, so those that are no people are left out.
_PEOPLE = r"((?:[A-ZÄÖÜ][a-zäöüß]+(?:, and |, und |, | and | und | sowie )?){1,5})"
_TO_WHOM = re.compile(
    rf"\b(?:to|an|[Ee]mailed|[Nn]otified|[Ii]nformed|[Mm]essaged|[Tt]exted|[Ii]nvited|let|auch|sowohl) {_PEOPLE}"
)

_NOTHING = {
    Action.SENT: "No call of this turn sent anything",
    Action.WRITTEN: "No call of this turn wrote or changed anything",
    Action.DELETED: "No call of this turn deleted anything",
    Action.RAN: "No call of this turn ran anything",
    Action.OPERATED: "No call of this turn started, stopped or installed anything",
    Action.SCHEDULED: "No call of this turn scheduled anything",
    Action.MOVED: "No call of this turn moved, copied or downloaded anything",
    Action.ORDERED: "No call of this turn ordered or paid anything",
    Action.COMMITTED: "No call of this turn committed anything",
    Action.SWITCHED: "No call of this turn switched anything",
    Action.DONE: "No call of this turn did anything of the kind",
    Action.PLACED: "No call of this turn put anything there",
}
_OPENED = frozenset({"opened", "geöffnet", "aufgerufen"})
_FETCHED = frozenset({"downloaded", "heruntergeladen"})


class Claim(Struct, frozen=True):
    """A sentence that says something was done. `count` is how many things, 0 when it does not say.

    `beside` are all the actions of the sentence: the names in it belong to any of them.
    """

    sentence: Sentence
    said: Said
    names: tuple[str, ...]
    count: int = 0
    beside: frozenset[Action] = frozenset()


def find_unconfirmed(answer: str, turn: Sequence[Deed], earlier: Sequence[Deed] = ()) -> Sequence[Unconfirmed]:
    """The claims of an answer that no call bears out, each sentence once.

    Args:
        answer: What the model wrote, as Markdown.
        turn: The calls of this turn.
        earlier: The calls of the turns before, which bear out what is told of then.
    """
    return doubt_claims(find_claims(answer), turn, earlier)


def doubt_claims(claims: Iterable[Claim], turn: Sequence[Deed], earlier: Sequence[Deed]) -> Sequence[Unconfirmed]:
    """Those of the claims that no call bears out; a few speak for all of a text that makes hundreds."""
    found: dict[str, Unconfirmed] = {}
    for claim in islice(claims, MOST_CLAIMS):
        if reason := _doubt(claim, turn, earlier):
            found.setdefault(claim.sentence.text, Unconfirmed(claim.sentence.text, reason))
    return list(found.values())


def find_claims(answer: str) -> Iterator[Claim]:
    """What the answer says was done, in its order; code, quotations and drafts say nothing."""
    setting = _find_setting(answer[:_LONGEST_GLANCE])
    for sentence in islice(split_answer(answer), _MOST_SENTENCES):
        said = read_sentence(sentence.spoken, is_checked=sentence.is_checked, setting=setting)
        if not said:
            continue
        named = find_names_of(sentence)
        told = [deed for deed in said if not _is_in_the_answer(sentence, deed, named)]
        actions = frozenset(said.action for said in told)
        people = tuple(_find_people(sentence.text)) if Action.SENT in actions else ()
        for deed in {deed.action: deed for deed in reversed(told)}.values():
            names = tuple(dict.fromkeys((*named, *(people if deed.action is Action.SENT else ()))))
            yield Claim(sentence, deed, names, _find_count(sentence.spoken), actions)


def _find_setting(answer: str) -> Setting:
    if HANDS_OVER.search(answer):
        return Setting.HANDS_OVER
    return Setting.INSTRUCTS if INSTRUCTS.search(answer) else Setting.PLAIN


def _is_in_the_answer(sentence: Sentence, said: Said, names: Sequence[str]) -> bool:
    """What is written in the answer itself follows right after."""
    return sentence.introduces and said.action in {Action.WRITTEN, Action.DONE} and not names


def _find_people(sentence: str) -> Iterator[str]:
    for found in _TO_WHOM.finditer(sentence):
        for person in re.split(r"[,\s]+(?:and |und |sowie )?", found[1]):
            if person and Part.NOBODY not in look_up(person, opens=True).parts:
                yield person


def _find_count(spoken: str) -> int:
    """`5 files`, `two old emails`, `alle drei Dateien`."""
    words = re.findall(r"[\w-]+", spoken.lower())
    for place, word in enumerate(words):
        number = find_number(word)
        following = words[place + 1 : place + 4]
        if number > 1 and any(Part.COUNTED in look_up(after, opens=True).parts for after in following):
            return number
    return 0


def _doubt(claim: Claim, turn: Sequence[Deed], earlier: Sequence[Deed]) -> str:
    """Why the claim is not borne out, empty when it is."""
    known = [*turn, *earlier] if claim.sentence.is_earlier or claim.said.voice is Voice.STATE else turn
    if claim.said.voice is not Voice.ACTIVE and _is_told(claim, known):
        return ""
    action = claim.said.action
    if _is_borne_out_by_reading(claim, known):
        return ""
    fitting = [deed for deed in known if fits(action, deed)]
    done = [deed for deed in fitting if deed.is_done and not deed.is_unsure]
    if not done:
        return _name_failure(fitting) if fitting else _NOTHING[action]
    if action is Action.COMMITTED:
        return ""
    naming = [deed for deed in known if deed.is_done and any(fits(beside, deed) for beside in claim.beside)]
    if missing := next((name for name in claim.names if not any(meets(name, deed) for deed in naming)), ""):
        return f"No successful call of this turn names {missing}"
    return _doubt_count(claim, done)


def _name_failure(fitting: Sequence[Deed]) -> str:
    unsure = next((deed for deed in reversed(fitting) if deed.is_unsure), None)
    if unsure is not None:
        return f"Nobody knows whether the call of {unsure.tool} arrived"
    return f"The call of {fitting[-1].tool} did not succeed"


def _doubt_count(claim: Claim, done: Sequence[Deed]) -> str:
    """When each call names what it did and these are fewer than said."""
    if claim.count <= 1 or any(tells_number(claim.count, deed) for deed in done):
        return ""
    counts = [count_items(deed) for deed in done]
    if 0 in counts or sum(counts) >= claim.count:
        return ""
    return f"The answer says {claim.count}, the successful calls of this turn name {sum(counts)}"


def _is_borne_out_by_reading(claim: Claim, known: Sequence[Deed]) -> bool:
    """What lies somewhere was seen, what was opened was read, and what was downloaded was fetched and then kept."""
    read = [deed for deed in known if deed.is_done and is_reading(deed)]
    if not read:
        return False
    if Part.STATIVE in look_up(claim.said.verb, opens=True).parts and claim.said.voice is Voice.STATE:
        return True
    if claim.said.verb in _OPENED or (claim.said.action is Action.PLACED and claim.said.voice is Voice.STATE):
        return all(any(meets(name, deed) for deed in read) for name in claim.names)
    return claim.said.verb in _FETCHED and any(
        deed.is_done and fits(Action.WRITTEN, deed) and all(meets(name, deed) for name in claim.names) for deed in known
    )


def _is_told(claim: Claim, known: Sequence[Deed]) -> bool:
    """Whether it retells what was read: the result of a reading call speaks of it, or it names a moment."""
    read = [deed for deed in known if deed.is_done and is_reading(deed)]
    is_dated = is_told_of_a_moment(claim.sentence.spoken)
    is_fresh = claim.said.voice is Voice.PERFECT
    verb = claim.said.verb
    return any(
        is_dated or verb in deed.result.lower() or (not is_fresh and tells_of(claim.said.action, deed)) for deed in read
    )
