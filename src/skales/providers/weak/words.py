"""Words as the offer compares them: without endings, without filler, with everyday synonyms. English only.

Other languages lose nothing but the narrowing by words; files, addresses and quotes are found in any.
"""

import re
from collections.abc import Mapping
from functools import cache


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())


_WORD = re.compile(r"[^\W_]+")
_STOP = word_set(
    "a about all am an and any are as at be been but by can could did do does for from get give had has have "
    "he her his how i if in into is it its just know let like me my need no not now of on or our out over "
    "please she should so some tell than thanks that the their them then there these they this to up us use "
    "used want was we were what when where which who why will with would you your"
)
# A person's word → words tools are described with. Only everyday verbs and nouns; a tool's own example does the rest.
_SYNONYMS: Mapping[str, str] = {
    "add": "create",
    "article": "page",
    "change": "edit write",
    "computer": "system",
    "content": "read",
    "cpu": "processor system",
    "delete": "remove trash",
    "directory": "folder",
    "disk": "system",
    "display": "show read",
    "erase": "delete trash",
    "find": "search",
    "folder": "directory list",
    "google": "search web",
    "internet": "web",
    "link": "page fetch",
    "look": "search read",
    "machine": "computer system",
    "make": "create write",
    "mention": "search",
    "new": "create",
    "note": "memory",
    "occur": "search",
    "open": "read fetch",
    "os": "system",
    "pc": "computer system",
    "print": "read show",
    "put": "write",
    "ram": "memory system",
    "recall": "memory search",
    "remember": "memory store",
    "remove": "delete trash",
    "rename": "move",
    "save": "write store",
    "say": "read",
    "show": "read list",
    "site": "page web",
    "todo": "task",
    "unzip": "extract archive",
    "url": "page web",
    "view": "read",
    "visit": "fetch page",
    "website": "page web",
    "zip": "archive compress",
}
# Of so many requests that alone they point to no tool.
_VAGUE = (
    "add change check create data edit find get good help list look make name new open put read run save say "
    "send set show start text update view work write"
)


def stems(text: str) -> list[str]:
    """The words of a text without endings and filler words, in order."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Stem → stems that tools may use instead."""
    return {_stem(word): tuple(stems(others)) for word, others in _SYNONYMS.items()}


@cache
def vague() -> frozenset[str]:
    """Stems that alone point to no tool."""
    return frozenset(stems(_VAGUE))


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            root = word[: -len(ending)]
            return f"{root}y" if ending == "ies" else root.removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word
