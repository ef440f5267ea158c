"""Which of many tools a message may be about, by words. A weak model chooses well only among a few.

Names and worked examples weigh more than descriptions, rare words more than frequent ones; a file or an address in
the message speaks for tools that take one. No meaning, no model: the same message always gets the same offer.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import PurePath

from skales.core.json import as_list, as_object
from skales.core.tool import Effect, ToolSpec, property_formats
from skales.providers.weak.mentions import Mentions
from skales.providers.weak.words import stems, synonyms, vague

_NAME, _EXAMPLE, _DESCRIPTION, _ARGUMENT = 3.0, 2.0, 1.0, 0.7
_SYNONYM = 0.8  # of what the person's own word would count
_NEEDS_IT, _TAKES_IT = 2.0, 1.0  # the message names a file or address, and the tool needs or takes one
_ONLY_LOOKS = 1.0  # the message asks to see something, and the tool changes nothing
_MIN_SCORE = 1.2  # below it nothing but chance connects message and tool

# Questions about the world rather than about this computer, whatever words they share with a tool.
_KNOWLEDGE = re.compile(
    r"\s*(?:what(?:'s| is| are) an? |what (?:does|do) .{1,60} (?:mean|stand for)\b"
    r"|how (?:do|does|can|should) (?:i|you|we|one|an?) |why |explain |define |describe (?:what|how|why))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;:]\s")
_LETTERS = re.compile(r"[^\W\d_]+")
_POLITE = frozenset({"can", "could", "will", "would"})
_LOOKING = frozenset({"display", "list", "print", "show", "tell", "view"})
_CHANGING = frozenset({Effect.WRITES, Effect.DESTRUCTIVE, Effect.OUTBOUND})
_FILE_WORDS = frozenset(stems("document file folder directory"))


def choose_offer(
    message: str, mentions: Mentions, tools: Sequence[ToolSpec], *, limit: int, min_share: float
) -> tuple[ToolSpec, ...]:
    """The at most `limit` tools the message may be about, the likeliest first; none when nothing points to one.

    `min_share` of the best score, 0 to 1, is what the others need to stay in the offer.
    """
    named = bool(mentions.paths or mentions.urls)
    if not tools or (_KNOWLEDGE.match(message) and not named):
        return ()
    asked = _asked(mentions)
    weights = [_weights(tool) for tool in tools]
    rarity = _rarity(weights)
    looks = _asks_to_look(message)
    scores = [
        _score(asked, words, rarity) + _bonus(tool, mentions, looks=looks)
        for tool, words in zip(tools, weights, strict=True)
    ]
    floor = max(_MIN_SCORE, max(scores) * min_share)
    telling = set(asked) - vague()
    fit = [
        index
        for index, score in enumerate(scores)
        if score >= floor and (_takes(tools[index], mentions) or _is_pointed_at(telling, weights[index]))
    ]
    return tuple(tools[index] for index in sorted(fit, key=lambda index: -scores[index])[:limit])


def _takes(tool: ToolSpec, mentions: Mentions) -> bool:
    """Whether the message names something the tool takes."""
    kinds = set(property_formats(tool).values())
    return bool(("path" in kinds and mentions.paths) or ("uri" in kinds and mentions.urls))


def _is_pointed_at(telling: Set[str], words: Mapping[str, float]) -> bool:
    """One word of the tool's name or example will do; of its description it takes two."""
    return sum(min(words.get(stem, 0.0), _EXAMPLE) for stem in telling) >= _EXAMPLE


def _asked(mentions: Mentions) -> Mapping[str, float]:
    """Stem → how much it counts."""
    found = dict.fromkeys(stems(mentions.words), 1.0)
    for path in mentions.paths:
        found.setdefault(*(("file", _SYNONYM) if PurePath(path).suffix else ("folder", _SYNONYM)))
    for stem in list(found):
        for synonym in synonyms().get(stem, ()):
            found.setdefault(synonym, _SYNONYM)
    return found


def _weights(tool: ToolSpec) -> Mapping[str, float]:
    """Every stem that belongs to the tool, with the weight of the most telling place it stands in."""
    found: dict[str, float] = {}

    def note(words: Iterable[str], weight: float) -> None:
        for word in words:
            found[word] = max(found.get(word, 0.0), weight)

    note(stems(tool.name.replace("_", " ")), _NAME)
    if tool.example:
        note(stems(tool.example.request), _EXAMPLE)
    note(stems(_SENTENCE_END.split(tool.description, maxsplit=1)[0]), _DESCRIPTION)  # what follows are conditions
    for name, schema in as_object(tool.parameters.get("properties")).items():
        values = [value for value in as_list(as_object(schema).get("enum")) if isinstance(value, str)]
        note(stems(" ".join([name, *values]).replace("_", " ")), _ARGUMENT)
    return found


def _rarity(weights: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Stem → 1 for a word of one tool only, falling to 0 for a word of very many."""
    known = Counter(stem for words in weights for stem in words)
    top = math.log(1 + len(weights))
    return {stem: math.log(1 + len(weights) / count) / top for stem, count in known.items()}


def _score(asked: Mapping[str, float], words: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    return sum(share * words[stem] * rarity[stem] for stem, share in asked.items() if stem in words)


def _bonus(tool: ToolSpec, mentions: Mentions, *, looks: bool) -> float:
    formats = property_formats(tool)
    taken = {"path": bool(mentions.paths), "uri": bool(mentions.urls)}
    needed = {formats.get(str(name)) for name in as_list(tool.parameters.get("required"))}
    speaks_of = {"path": not _FILE_WORDS.isdisjoint(stems(mentions.words)), "uri": False}
    if any(kind in needed and not named and not speaks_of[kind] for kind, named in taken.items()):
        return -math.inf  # the message holds nothing it could be called with
    kinds = [kind for kind in sorted(set(formats.values())) if taken.get(kind)]
    bonus = sum(_NEEDS_IT if kind in needed else _TAKES_IT for kind in kinds)
    return bonus + (_ONLY_LOOKS if looks and _CHANGING.isdisjoint(tool.effects) else 0.0)


def _asks_to_look(message: str) -> bool:
    """Whether it asks to know rather than to do; "can you …?" asks to do."""
    first = next((word for word in _LETTERS.findall(message.lower()) if word != "please"), "")
    return first in _LOOKING or ("?" in message and first not in _POLITE)
