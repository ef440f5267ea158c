"""What a message names outright: files, addresses, quoted words, numbers. A weak model may then only choose among them.

Not a parser of intent: it finds spellings. English words for folders are known; other languages profit from
extensions, slashes and quotes. Spec: local-models.md, "Behaviour on local models".
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from skales.providers.weak.words import word_set

_URL = re.compile(r"\bhttps?://[^\s<>\"'`»”)\]]+", re.IGNORECASE)
# Top-level domains that are no file extensions, so that `notes.md` and `run.sh` stay files.
_DOMAIN = re.compile(
    r"(?<![\w@./-])(?:www\.[\w-]+(?:\.[\w-]+)+|(?:[\w-]+\.)+(?:com|org|net|edu|gov|io|dev|app|de|fr|uk|eu|info|ai|ch|at))"
    r"(?::\d+)?(?:/[^\s<>\"'`»”)\]]*)?(?![\w@])",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«([^»\n]{1,300})»|`([^`\n]{1,300})`"
    r"|(?<!\w)'([^'\n]{1,300})'(?!\w)"
)
_FILE = re.compile(
    r"(?<![\w@])(?:"
    r"[A-Za-z]:[\\/][^\s\"'`,;!?]*"  # C:\Users\ada
    r"|(?:~|\.{1,2})?[\\/][^\s\"'`,;!?]+"  # /etc/hosts ./src ~/notes
    r"|[\w.-]+[\\/][^\s\"'`,;!?]*"  # docs/guide
    r"|\.?[\w-]+(?:\.[\w-]+)*\.(?=\d*[A-Za-z])[A-Za-z0-9]{1,8}"  # report.pdf
    r"|\.[A-Za-z][\w-]+"  # .env
    r"|(?:Makefile|Dockerfile|Procfile|LICENSE|README|CHANGELOG|AUTHORS)"
    r")(?![\w@])"
)
_FOLDER = re.compile(
    r"\b(?:folder|directory)\s+(?:named\s+|called\s+)?([\w.-]+)|\b(?:the|my|our|in|inside)\s+([\w.-]+)\s+(?:folder|directory)\b",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"\b(?:(?:this|current|working)\s+(?:folder|directory)|workspace(?:\s+folder)?|(?:root|top)\s+folder)\b",
    re.IGNORECASE,
)
_HOME = re.compile(r"\bhome\s+(?:folder|directory)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_NO_FILE = frozenset({"e.g", "i.e", "and/or", "either/or", "he/she", "she/he", "his/her", "n/a", "w/o", "a.m", "p.m"})
_NO_FOLDER = word_set(
    "a an and are as at by called current do does for from have has here home in into is it its my named new "
    "of on or our right root same so that the their there these this those to top under what where which whole "
    "with working workspace your"
)
_EDGE = ".,;:!?)("


class Mentions(Struct, frozen=True):
    """What was found, each in order of appearance.

    `words` is the message with blanks in its place. `runs` are what free text must be copied from, None when the model
    may write its own; see `spans`.
    """

    paths: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    words: str = ""
    runs: tuple[str, ...] | None = None


def find_mentions(text: str) -> Mentions:
    """What the text names. A quoted path is a path; other quoted words may be one as well, when nothing else is."""
    urls: list[str] = []
    quoted: list[str] = []
    files: list[tuple[int, str]] = []

    def take_url(found: re.Match[str]) -> str:
        url = found.group().rstrip(_EDGE)
        urls.append(url if "://" in url else f"https://{url}")
        return " " * len(found.group())

    def take_quoted(found: re.Match[str]) -> str:
        inner = next(group for group in found.groups() if group is not None)
        if _FILE.fullmatch(inner):
            files.append((found.start(), inner))
        else:
            quoted.append(inner)
        return " " * len(found.group())

    def take_file(found: re.Match[str]) -> str:
        name = found.group().rstrip(_EDGE)
        if name.lower() in _NO_FILE or re.fullmatch(r"[\d/.-]+", name):
            return found.group()
        files.append((found.start(), name))
        return " " * len(found.group())

    rest = _DOMAIN.sub(take_url, _URL.sub(take_url, text))
    rest = _FILE.sub(take_file, _QUOTED.sub(take_quoted, rest))
    files.extend(_folders(rest))
    return Mentions(
        paths=_unique(name for _, name in sorted(files, key=lambda found: found[0])),
        urls=_unique(urls),
        quoted=_unique(quoted),
        numbers=_unique(_NUMBER.findall(rest)),
        words=rest,
    )


def _folders(text: str) -> list[tuple[int, str]]:
    found = [(match.start(), ".") for match in _HERE.finditer(text)]
    found.extend((match.start(), "~") for match in _HOME.finditer(text))
    for match in _FOLDER.finditer(text):
        name = (match.group(1) or match.group(2)).rstrip(_EDGE)
        if name and name.lower() not in _NO_FOLDER:
            found.append((match.start(), name))
    return found


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
