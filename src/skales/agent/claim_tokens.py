"""Cuts a sentence into words whose parts are known; short forms and opening words such as `Done:` are taken off."""

import re
from collections.abc import Iterator, Sequence, Set

from msgspec import structs

from skales.agent.claim_lexicon import Part, Word, find_light_verb, find_past, find_phrase, look_up

_TOKEN = re.compile(r"[\w.+-]*\w@[\w.-]+\w|[~/\w][\w./-]*\.\w+|[~/][\w/-]+|[^\W_]+(?:[-'][^\W_]+)*|[,:()–—&]")
# The same without names of files and addresses, which most sentences do not have.
_PLAIN_TOKEN = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*|[,:()–—&]")
_HOLDS_NAME = re.compile(r"[@/~]|\.\w")
_MOST_OPENINGS = 2
_SHORT_FORMS = (
    (re.compile(r"[’`´]"), "'"),
    (re.compile(r"\bcan't\b|\bwon't\b", re.IGNORECASE), "can not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b|'d\b", re.IGNORECASE), " would"),
    (re.compile(r"\bthat's\b", re.IGNORECASE), "it is"),
    (re.compile(r"\b(?:it|this|that) is why\b|\btook the (?=liberty)", re.IGNORECASE), " "),
    (re.compile(r"'re\b|(?<=\bit)'s\b|(?<=\beverything)'s\b", re.IGNORECASE), " is"),
    (re.compile(r"(?<=\d):(?=\d\d)"), ""),
    (re.compile(r"\b(?:hab's|habs)\b", re.IGNORECASE), "habe es"),
    (re.compile(r"\bhab\b'?", re.IGNORECASE), "habe"),
)
_HAS_SHORT_FORM = re.compile(r"\bwhy\b|\bliberty\b|[’`´']|\d:|\bhabs?\b", re.IGNORECASE)
_BROUGHT_ABOUT = frozenset({"managed", "able", "finished", "liberty", "done"})
_PHRASE_ENDS = frozenset({"out", "off", "down", "away", "in", "on", "up"})
_COULD = frozenset({"konnte", "konnten"})
_BETWEEN = frozenset({"to", "of", "successfully", "and"})
_AFTER_IS = frozenset({"been", "now", "all", "already", "on", "off", "in", "live", "ready", "gone"})
_OPENING = re.compile(
    r"^(?:all |got it|sure thing|no problem|of course|sounds good|consider it done|gern(?:e)?|kein problem|gut|great|"
    r"perfect|alright|ok(?:ay)?|sure|yes|yep|ja|klar|super|done|erledigt|fertig|geschafft|success|"
    r"erfolg|status|result|ergebnis|update|alles klar|all set|good news|gute nachrichten?)"
    r"(?:done|set|right|klar)?\s*[!,.:–—-]+\s*",
    re.IGNORECASE,
)


def read_words(spoken: str) -> Sequence[Word]:
    """The words of a sentence and its commas, colons, dashes and brackets."""
    if _HAS_SHORT_FORM.search(spoken):
        for pattern, plain in _SHORT_FORMS:
            spoken = pattern.sub(plain, spoken)
    spoken = spoken.strip()
    for _ in range(_MOST_OPENINGS):
        if opening := _OPENING.match(spoken):
            spoken = spoken[opening.end() :]
    token = _TOKEN if _HOLDS_NAME.search(spoken) else _PLAIN_TOKEN
    words = _tell_as_done(tuple(_words(token.findall(spoken))))
    texts = {word.text for word in words}
    return tuple(_lit(word, texts) for word in words)


def _lit(word: Word, texts: Set[str]) -> Word:
    verb = None if word.verb else find_light_verb(word.text, texts)
    return word if verb is None else structs.replace(word, verb=verb)


def _tell_as_done(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`I managed to send`, `I was able to book`, `finished moving`: the past of what was brought to its end."""
    if any(word.text in _COULD for word in words):
        return _could(words)
    if len(words) > 1 and words[-1].text == "lassen" and (past := find_past(words[-2].text)):
        return (*words[:-2], look_up(past, opens=False))
    place = next((at for at, word in enumerate(words) if word.text in _BROUGHT_ABOUT), -1)
    if place < 0:
        return words
    start = place
    if words[place].text == "able":
        start = next((at for at in range(place - 1, -1, -1) if words[at].text in {"was", "were", "been"}), place)
        start -= words[start].text == "been" and start > 0
    for at in range(place + 1, min(place + 5, len(words))):
        if past := find_past(words[at].text):
            is_denied = any(Part.NEGATION in word.parts for word in words[start:at])
            return words if is_denied else (*words[:start], look_up(past, opens=False), *words[at + 1 :])
        if words[at].text not in _BETWEEN:
            break
    return words


def _could(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`Ich konnte den Tisch reservieren`: `Ich habe den Tisch reserviert`."""
    place = next(at for at, word in enumerate(words) if word.text in _COULD)
    around = {word.text for word in words[max(0, place - 1) : place + 2]}
    past = find_past(words[-1].text)
    if not past or around.isdisjoint({"ich", "wir"}) or any(Part.NEGATION in word.parts for word in words):
        return words
    have = look_up("habe", opens=False)
    return (*words[:place], have, *words[place + 1 : -1], look_up(past, opens=False))


def _words(written: Sequence[str]) -> Iterator[Word]:
    is_second = False
    for place, word in enumerate(written):
        if is_second:
            is_second = False
            continue
        after = written[place + 1] if place + 1 < len(written) else ""
        if after in _PHRASE_ENDS and (verb := find_phrase(word.lower(), after)):
            is_second = True
            yield look_up(verb, opens=False)
            continue
        if word.endswith("'s") and _is_short_is(written, place):
            yield look_up(word[:-2], opens=place == 0)
            yield look_up("is", opens=False)
        else:
            yield look_up(word, opens=place == 0)


def _is_short_is(written: Sequence[str], place: int) -> bool:
    """`The alarm's set`, not `the team's list`."""
    following = [look_up(word, opens=True) for word in written[place + 1 : place + 3]]
    if not following or following[0].text in _AFTER_IS:
        return bool(following)
    ends = len(following) == 1 or Part.PUNCTUATION in following[1].parts or Part.HEADLINE_END in following[1].parts
    return following[0].verb is not None and ends
