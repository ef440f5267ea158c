"""Cuts an answer into the sentences that may claim something; code, quotations, questions and drafts may not."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from skales.agent.claim_lexicon import find_verb
from skales.agent.claim_patterns import EARLIER

# What goes on longer without an end is not looked at, so that it costs no more than others.
_LONGEST_SENTENCE = 500
_LONGEST_LINE = 5_000
# Lines of a letter in a draft.
_LONGEST_LETTER = 100
_LONGEST_GREETING = 200
_MOST_LETTERS = 10
# Of a name that holds spaces.
_MOST_WORDS = 6
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_RULE = re.compile(r"^\s*(?:-{3,}|\*{3,}|_{3,})\s*$")
# The last letter of a line that a wrapped paragraph goes on from.
_BREAKS_OFF = re.compile(r"[\w,)`*]")
_MOST_LINES = 20
# Between the head of a table and its rows.
_HEAD_RULE = re.compile(r"\s*\|[\s:|-]{2,}")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
# What is ticked off, and what is not.
_DONE = re.compile(r"^(?:[-*+•]\s+|\d{1,3}[.)]\s+)?(?:\[[xX✓✔]\]|✅|☑️?|✔️?|✓)\s*")
_UNDONE = re.compile(r"^(?:[-*+•]\s+|\d{1,3}[.)]\s+)?(?:\[ ?\]|❌|☐|⬜|⏳|✗|✘|🔲)")
_SENTENCE_END = re.compile(r"[.!?…][*_)]{0,3}\s+(?=[^\s\d])|;\s+")
# Behind these a full stop ends no sentence.
_ABBREVIATION = re.compile(r"\b(?:\d{1,2}|Dr|Mr|Ms|Mrs|Prof|Nr|No|bzw|ca|z\.B|B|e\.g|i\.e|vs|etc)\.$")
# Bold and heading signs, bullets, emoji before the words.
_LEADING_SIGN = re.compile(r"\d{1,3}[.)]\s+|[^\w`'\"“„«(~/]+")
_EMPHASIS = re.compile(r"[*_]{2,}|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)")
_MOST_SIGNS = 3
_QUOTE_SIGN = re.compile(r"[\"“„«‘‚`]")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|‘[^’\n]*’|‚[^‘\n]*‘")
_CODE = re.compile(r"`+([^`\n]*)`+")
# Names of files and addresses, which a call must have met.
_NAME = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}"
    r"|\b(?:README|CHANGELOG|LICENSE|Makefile|Dockerfile)\b(?!\.)"
    r"|(?<![\w/@.-])(?:https?://[^\s)>\]]{1,300}"
    r"|(?:[~\w.-]{1,80}/){0,12}[\w-][\w.-]{0,120}\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w/]))"
)
_FILE_WITH_SPACES = re.compile(r"[^/\n]{1,120}\.[A-Za-z][A-Za-z0-9]{0,4}|(?:[^/\n]{0,80}/){1,12}[^/\n]{0,120}")
_NO_NAMES = frozenset({"e.g", "i.e", "z.b", "d.h", "u.a", "node.js", "next.js", "vue.js", "a.m", "p.m", "asp.net"})
# What follows is a text to read or to take, not an account.
_DRAFT = re.compile(
    r"\b(?:draft|suggestion|proposal|template|example|sample|translation|translates|summary|version|wording|reply could"
    r"|could (?:say|write|read|look)|might (?:say|read)|you can (?:use|send|copy)|reads|says|said|wrote|writes|output|"
    r"poem|story|haiku|changelog|release notes|commit message|history|timeline|cover letter|dialogue|script for|"
    r"entwurf|vorschlag|vorlage|beispiel|übersetzung|zusammenfassung|fassung|könntest? (?:du )?(?:schreiben|so)"
    r"|so könnte"
    r"|gedicht|geschichte|schreibt|steht|lautet|protokoll|ausgabe|verlauf|chronik|anschreiben"
    r"|changelog)\b[^.!?]{0,120}:$",
    re.IGNORECASE,
)
_HEAD_OF_LETTER = re.compile(
    r"^\W{0,6}(?:subject|betreff)\s*:|^\W{0,4}(?:hi|hello|dear|hey|hallo|liebe[rs]?|sehr geehrte[rs]?|guten tag|moin)\b"
    r"[^.!?:]{0,60},?$",
    re.IGNORECASE,
)
_END_OF_LETTER = re.compile(
    r"^\W{0,4}(?:best|best regards|kind regards|regards|cheers|thanks|thank you|sincerely|yours|love|"
    r"viele grüße|liebe grüße|beste grüße|mit freundlichen grüßen|freundliche grüße|grüße|gruß|lg|vg"
    r"|mfg)\b[^.!?:]{0,30}$",
    re.IGNORECASE,
)


class Sentence(Struct, frozen=True):
    """A sentence as it stands, and as it is judged, with quotations taken out.

    `is_past` when the heading above its list speaks of earlier. `listed` is the item that follows it, `introduces` when
    code or text does. `is_checked` for an item with a tick.
    """

    text: str
    spoken: str
    is_past: bool = False
    listed: str = ""
    introduces: bool = False
    is_checked: bool = False

    @property
    def is_earlier(self) -> bool:
        """Whether it, or the heading above its list, speaks of earlier."""
        return self.is_past or bool(EARLIER.search(self.spoken))


def split_answer(answer: str) -> Iterator[Sentence]:
    """The sentences in their order."""
    lines = unicodedata.normalize("NFC", answer).splitlines()
    is_past = False
    kept = list(_whole_lines(_own_lines(lines)))
    for place, line in enumerate(kept):
        if not line.strip():
            continue
        if line.lstrip().startswith("|") and _HEAD_RULE.fullmatch(_following(kept, place)):
            continue
        is_item = bool(_LIST_ITEM.match(line)) or line.lstrip().startswith("|")
        following = _following(kept, place) if line.endswith(":") else ""
        for piece in _pieces(line):
            sentence = _read_sentence(piece, following, is_past=is_past and is_item)
            if sentence is not None:
                yield sentence
        if not is_item:
            is_past = line.rstrip("*_ ").endswith(":") and bool(EARLIER.search(line))


def _whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """A line that goes on in small letters where the one before broke off belongs to it."""
    parts: list[str] = []
    for line in lines:
        if not parts and not line:
            yield line
            continue
        goes_on = bool(parts) and line[:1].islower() and _BREAKS_OFF.search(parts[-1][-1:])
        if parts and not (goes_on and len(parts) < _MOST_LINES):
            yield " ".join(parts)
            parts = []
        parts.append(line)
    if parts:
        yield " ".join(parts)


def _following(lines: Sequence[str], place: int) -> str:
    """The next line that is not empty, of the next few."""
    return next((line for line in lines[place + 1 : place + 4] if line.strip()), "")


def find_names(text: str) -> tuple[str, ...]:
    """Files and addresses a text names, without the signs around them."""
    quoted = (*_CODE.findall(text), *(found.group()[1:-1] for found in _QUOTED.finditer(text)))
    found = [name for name in map(str.strip, quoted) if " " in name and _is_spaced_name(name)]
    rest = text
    for name in found:
        rest = rest.replace(name, " ")
    found += (name.strip("`'\"*_ .") for name in _NAME.findall(rest))
    return tuple(dict.fromkeys(name for name in found if name.lower() not in _NO_NAMES))


def _is_spaced_name(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS and bool(_FILE_WITH_SPACES.fullmatch(text))


def find_names_of(sentence: Sentence) -> tuple[str, ...]:
    """What a sentence names, and the item it introduces."""
    return (*find_names(sentence.text), *find_names(sentence.listed))


def _pieces(line: str) -> Iterator[str]:
    line, start = line[:_LONGEST_LINE], 0
    for end in _SENTENCE_END.finditer(line):
        if not line.startswith(";", end.start()) and _ABBREVIATION.search(
            line, max(0, end.start() - 5), end.start() + 1
        ):
            continue
        yield line[start : end.end()].rstrip()[:_LONGEST_SENTENCE]
        start = end.end()
    yield line[start:][:_LONGEST_SENTENCE]


def _read_sentence(piece: str, following: str, *, is_past: bool) -> Sentence | None:
    plain = " ".join((_read_row(piece) if "|" in piece else piece).split())
    if _UNDONE.match(plain):
        return None
    is_checked = bool(_DONE.match(plain))
    plain = _DONE.sub("", plain)
    plain = _undecorated(plain)
    if not plain or plain.rstrip("*_)\"'”“").endswith("?"):
        return None
    is_list = plain.endswith(":") and bool(_LIST_ITEM.match(following)) and bool(find_names(following))
    introduces = following == _CODE_FOLLOWS or (plain.endswith(":") and not is_list)
    spoken = _CODE.sub(_keep_name, _QUOTED.sub(_keep_name, plain)) if _QUOTE_SIGN.search(plain) else plain
    return Sentence(plain, spoken, is_past, following if is_list else "", introduces, is_checked)


def _read_row(row: str) -> str:
    """The cells of a row. One that is a deed alone, `sent`, is told of what stands before."""
    cells = [cell.strip() for cell in row.split("|") if cell.strip()]
    bare = (re.sub(r"\W+", "", cell).lower() for cell in cells)
    tells = any((verb := find_verb(cell)) is not None and not verb.is_open for cell in bare)
    return (", " if tells else " ").join(cells)


def _undecorated(plain: str) -> str:
    for _ in range(_MOST_SIGNS):
        if sign := _LEADING_SIGN.match(plain):
            plain = plain[sign.end() :]
    return _EMPHASIS.sub("", plain).strip() if "*" in plain or "_" in plain else plain


def _keep_name(found: re.Match[str]) -> str:
    """What is quoted says nothing itself; a name is one word in the sentence."""
    text = found.group()
    may_name = "." in text or "/" in text or "@" in text or "file" in text or "README" in text
    return " NAME.x " if may_name and find_names(text) else " it "


# Stands for a block of code among the lines.
_CODE_FOLLOWS = "\0code"


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are the model's own account."""
    place = letters = 0
    while place < len(lines):
        line = lines[place]
        if fence := _FENCE.match(line):
            place = _skip_fence(lines, place, fence[1])
            yield _CODE_FOLLOWS
            continue
        if line.lstrip().startswith(">"):
            place += 1
            continue
        if letters < _MOST_LETTERS and len(line) < _LONGEST_GREETING and _HEAD_OF_LETTER.match(line.strip(" *_")):
            letters += 1
            place = _skip_letter(lines, place)
            continue
        if not line.startswith("    ") or _LIST_ITEM.match(line):
            yield line
        place += 1
        bare = line[-300:].rstrip(" *_")
        if bare.endswith(":") and _DRAFT.search(bare):
            place = _skip_draft(lines, place)


def _skip_fence(lines: Sequence[str], place: int, fence: str) -> int:
    for end in range(place + 1, len(lines)):
        closing = lines[end].strip()
        if closing.startswith(fence) and not closing.strip(fence[0]):
            return end + 1
    return len(lines)


def _skip_letter(lines: Sequence[str], place: int) -> int:
    """Behind the greeting at its end and the name below, a line drawn across, or at the end of all."""
    reach = lines[place + 1 : place + 1 + _LONGEST_LETTER]
    for end, line in enumerate(reach, place + 1):
        if _RULE.match(line):
            return end + 1
        if len(line) < _LONGEST_GREETING and _END_OF_LETTER.match(line.strip(" *_")):
            return end + 2
    return place + 1 + len(reach) if any(not line.strip() for line in reach) else place + 1


def _skip_draft(lines: Sequence[str], place: int) -> int:
    """Behind the block that an introduction announces: between rules, a letter, a list, or one paragraph."""
    while place < len(lines) and not lines[place].strip():
        place += 1
    if place >= len(lines) or _FENCE.match(lines[place]):
        return place
    if _RULE.match(lines[place]):
        closing = (end for end in range(place + 1, len(lines)) if _RULE.match(lines[end]))
        return next(closing, len(lines) - 1) + 1
    if len(lines[place]) < _LONGEST_GREETING and _HEAD_OF_LETTER.match(lines[place].strip(" *_")):
        return _skip_letter(lines, place)
    while place < len(lines) and lines[place].strip():
        place += 1
    return place
