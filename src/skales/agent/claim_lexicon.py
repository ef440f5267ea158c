"""What each word of an answer can be: a verb that tells of a deed, a thing, or a part of the grammar.

The words stand in `claim_deeds.toml` and `claim_grammar.toml`, read when first needed. What is not listed is known by
its form: an English word in `-ed`, a German participle, also behind a separable prefix. Such an open verb counts only
with a thing that lies outside the answer.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from skales.agent.claim_forms import infinitives, plain_forms

_ENGLISH_FORM = re.compile(r"[a-z-]{3,}[^e\W]ed")
# `gespült`, `verschlungen`, `fotografiert`; infinitives such as `gehen` stand among the words of the mind.
_GERMAN_FORM = re.compile(r"ge[a-zäöüß]{3,}(?:t|en)|(?:be|ver|ent|er|zer|miss|über|um|unter)[a-zäöüß]{3,}t|\w{2,}iert")
_NAME_ENDINGS = re.compile(r".*[.@].*|[/~].*", re.DOTALL)
_GERMAN_LIGHT = frozenset({"gegeben", "gemacht", "genommen", "hinterlassen", "angenommen", "aufgegeben"})
_UMLAUTS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))


class Action(StrEnum):
    """What an answer may say was done. `DONE` is a deed of no known kind, `PLACED` that something is now somewhere."""

    SENT = "sent"
    WRITTEN = "written"
    DELETED = "deleted"
    RAN = "ran"
    OPERATED = "operated"
    SCHEDULED = "scheduled"
    MOVED = "moved"
    ORDERED = "ordered"
    SWITCHED = "switched"
    COMMITTED = "committed"
    DONE = "done"
    PLACED = "placed"


class Part(StrEnum):
    """The part a word plays in a clause."""

    ME = "me"
    OTHERS = "others"
    NEGATION = "negation"
    MODAL = "modal"
    CONDITION = "condition"
    OPENER = "opener"
    RELATIVE = "relative"
    SAYING = "saying"
    DEFINITE = "definite"
    OWN = "own"
    BREAK = "break"
    JOINT = "joint"
    HAVE = "have"
    BE_NOW = "be_now"
    BE_THEN = "be_then"
    ADVERB = "adverb"
    ATTRIBUTIVE = "attributive"
    HEADLINE_OBJECT = "headline_object"
    HEADLINE_END = "headline_end"
    PRONOUN = "pronoun"
    TEXT_PART = "text_part"
    LOOKING = "looking"
    COUNTED = "counted"
    HEDGE = "hedge"
    PERCEIVED = "perceived"
    NOW = "now"
    STATIVE = "stative"
    NOBODY = "nobody"
    # What is worked out from the other tables.
    BE = "be"
    NUMBER = "number"
    NAME = "name"
    THING = "thing"
    TEXT = "text"
    MADE = "made"
    ABSTRACT = "abstract"
    PERSON = "person"
    PUNCTUATION = "punctuation"


class Verb(Struct, frozen=True):
    """A form that tells of a deed. A strong one does whatever follows it; an open one is known by its form alone."""

    action: Action
    is_english: bool
    is_strong: bool = False
    is_open: bool = False


class Word(Struct, frozen=True):
    """A word of a sentence, in small letters unless it is the name of a file or an address."""

    text: str
    parts: frozenset[Part]
    verb: Verb | None = None
    is_capital: bool = False


class _Tables(Struct, frozen=True):
    parts: Mapping[str, frozenset[Part]]
    verbs: Mapping[str, Verb]
    plain: Mapping[str, str]
    mind: frozenset[str]
    phrases: Mapping[str, str]
    light: Mapping[str, frozenset[str]]
    prefixes: tuple[str, ...]
    numbers: Mapping[str, int]
    thing_endings: tuple[str, ...]
    made_endings: tuple[str, ...]


@lru_cache(maxsize=8_192)
def look_up(written: str, *, opens: bool) -> Word:
    """What a word can be. `opens` when it is the first of its sentence, whose capital says nothing."""
    tables = _tables()
    if _NAME_ENDINGS.fullmatch(written):
        return Word(written, frozenset({Part.NAME, Part.THING}))
    text = written.lower()
    parts = tables.parts.get(text, frozenset())
    if not text[0].isalnum():
        return Word(text, parts | {Part.PUNCTUATION})
    is_capital = written[0].isupper()
    if len(written) > 1 and written.isupper() and not opens:
        return Word(text, parts, is_capital=True)
    return Word(
        text,
        parts | _by_ending(text, is_capital=is_capital),
        find_verb(text, is_noun=is_capital and not opens),
        is_capital,
    )


def find_verb(text: str, *, is_noun: bool = False) -> Verb | None:
    """The deed a word in small letters tells of. A German noun has a capital, and is none that only looks like one."""
    tables = _tables()
    found = tables.verbs.get(text)
    if found is not None or text in tables.mind or (text in tables.parts and text not in tables.verbs):
        return found
    for two, one in _UMLAUTS:
        if two in text and (spelt := tables.verbs.get(text.replace(two, one))):
            return spelt
    return None if is_noun or len(text) < 5 else _by_form(text)


def find_past(plain: str) -> str:
    """The past of a verb in its plain form or in `-ing`, empty when it is none of a known deed."""
    return _tables().plain.get(plain, "")


def find_phrase(first: str, second: str) -> str:
    """The one verb in whose place two words stand, such as `taken down`; empty when they are none."""
    return _tables().phrases.get(f"{first} {second}", "")


def find_light_verb(text: str, others: Iterable[str]) -> Verb | None:
    """The deed of a verb such as `took` beside a word such as `screenshot`."""
    things = _tables().light.get(text)
    if things is None or things.isdisjoint(others):
        return None
    return Verb(Action.DONE, is_english=text.isascii() and text not in _GERMAN_LIGHT, is_strong=True)


def find_number(text: str) -> int:
    """The number a word in small letters says, 0 for none."""
    return int(text) if text.isdecimal() and len(text) <= 4 else _tables().numbers.get(text, 0)


def _by_form(text: str) -> Verb | None:
    tables = _tables()
    if text.startswith("re") and (again := tables.verbs.get(text[2:].lstrip("-"))) and again.is_english:
        return again
    rest = next((text[len(prefix) :] for prefix in tables.prefixes if text.startswith(prefix)), "")
    if rest in tables.mind:
        return None
    if rest.startswith(("ge", "be", "ver")) and (stem := tables.verbs.get(rest)) and not stem.is_english:
        return Verb(stem.action, is_english=False, is_strong=stem.is_strong)
    if _GERMAN_FORM.fullmatch(text) or (rest.startswith("ge") and _GERMAN_FORM.fullmatch(rest)):
        return Verb(Action.DONE, is_english=False, is_open=True)
    if _ENGLISH_FORM.fullmatch(text):
        return Verb(Action.DONE, is_english=True, is_open=True)
    return None


def _by_ending(text: str, *, is_capital: bool) -> frozenset[Part]:
    tables = _tables()
    if text.endswith(("s", "n")) and text not in tables.parts:
        text = text[:-1]
    last = text.rpartition("-")[2]
    parts = set(tables.parts.get(last, ())) & {Part.THING, Part.TEXT, Part.MADE}
    if is_capital and text.endswith(tables.thing_endings):
        parts.add(Part.THING)
    if is_capital and text.endswith(tables.made_endings):
        parts.add(Part.MADE)
    if text.isdecimal():
        parts.add(Part.NUMBER)
    if text.endswith("ly") and len(text) > 5:
        parts.add(Part.ADVERB)
    return frozenset(parts)


@cache
def _tables() -> _Tables:
    grammar, deeds = _read("claim_grammar.toml"), _read("claim_deeds.toml")
    parts: dict[str, set[Part]] = {}

    def add(part: Part, words: str) -> None:
        for word in words.split():
            parts.setdefault(word, set()).add(part)

    for name, words in grammar["parts"].items():
        add(Part(name), words)
    for name in ("be_now", "be_then"):
        add(Part.BE, grammar["parts"][name])
    for words in grammar["numbers"].values():
        add(Part.NUMBER, words)
    for name, part in (
        ("things", Part.THING),
        ("texts", Part.TEXT),
        ("made", Part.MADE),
        ("people", Part.PERSON),
        ("abstract", Part.ABSTRACT),
    ):
        add(part, deeds[name]["words"])
    add(Part.THING, deeds["made"]["words"])
    prefixes = tuple(sorted(deeds["prefixes"]["words"].split(), key=len, reverse=True))
    verbs = {**_verbs(deeds["weak"], is_strong=False), **_verbs(deeds["strong"], is_strong=True)}
    return _Tables(
        parts={word: frozenset(found) for word, found in parts.items()},
        verbs=verbs,
        plain={
            form: past
            for past, verb in verbs.items()
            for form in (plain_forms(past) if verb.is_english else infinitives(past, prefixes))
        },
        mind=frozenset(deeds["mind"]["words"].split()),
        phrases=deeds["phrases"],
        light={verb: frozenset(things.split()) for verb, things in deeds["light"].items()},
        prefixes=prefixes,
        numbers={word: int(number) for number, words in grammar["numbers"].items() for word in words.split()},
        thing_endings=tuple(deeds["things"]["endings"].split()),
        made_endings=tuple(deeds["made"]["endings"].split()),
    )


def _verbs(table: Mapping[str, Mapping[str, str]], *, is_strong: bool) -> Mapping[str, Verb]:
    return {
        word: Verb(Action(action), is_english=language == "english", is_strong=is_strong)
        for action, languages in table.items()
        for language, words in languages.items()
        for word in words.split()
    }


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("skales.agent").joinpath(name).read_text(encoding="utf-8"))
