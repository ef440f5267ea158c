"""Decodes what mail headers hold: encoded words, raw 8-bit bytes, folds. Spec: EML-01; RFC 2047, RFC 2231.

Senders cut letters in two and leave rules out. Readers must not: neighbours of one charset are joined as bytes first.
"""

import base64
import binascii
import codecs
import quopri
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

_WORD = re.compile(r"=\?([A-Za-z0-9_.:+-]{1,60})(?:\*[A-Za-z0-9-]{0,40})?\?([BbQq])\?([^?\r\n]*)\?=")
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_ENDS = re.compile(r"[\r\n]+")
# Charsets that mail names smaller than what senders put in.
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}


class _Word(Struct, frozen=True):
    charset: str
    encoding: str
    text: str


def decode_header(raw: str) -> str:
    """The header's value as people read it, on one line; `raw` may hold undecoded bytes as lone surrogates."""
    text = _ENDS.sub(" ", _FOLD.sub("", raw))
    return "".join(_decoded(_pieces(_from_bytes(text)))).strip()


def decode_bytes(content: bytes, charset: str) -> str:
    """The text of bytes whose charset was named, perhaps wrongly or not at all."""
    name = _codec(charset)
    for codec in (name, "utf-8") if name else ("utf-8",):
        try:
            return content.decode(codec)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode(name or "cp1252", "replace")


def _codec(charset: str) -> str:
    try:
        found = codecs.lookup(charset.strip().strip("\"'"))
    except (LookupError, ValueError):
        return ""
    # Python keeps codecs under this roof that make no text.
    return _WIDER.get(found.name, found.name) if _makes_text(found) else ""


def _makes_text(found: codecs.CodecInfo) -> bool:
    return bool(getattr(found, "_is_text_encoding", True))


def _from_bytes(raw: str) -> str:
    """A header that was never encoded: UTF-8 nowadays, else what Western programs sent."""
    if not any("\udc80" <= sign <= "\udcff" for sign in raw):
        return raw
    return decode_bytes(raw.encode("utf-8", "surrogateescape"), "")


def _pieces(text: str) -> Iterator[str | _Word]:
    """Plain texts and encoded words; blanks between two words belong to neither."""
    place = 0
    was_word = False
    for found in _WORD.finditer(text):
        between = text[place : found.start()]
        if between and not (was_word and between.isspace()):
            yield between
        yield _Word(found[1].lower(), found[2].upper(), found[3])
        was_word, place = True, found.end()
    if place < len(text):
        yield text[place:]


def _decoded(pieces: Iterator[str | _Word]) -> Iterator[str]:
    for charset, group in groupby(pieces, key=lambda piece: piece.charset if isinstance(piece, _Word) else None):
        members = list(group)
        if charset is None:
            yield from (piece for piece in members if isinstance(piece, str))
        else:
            yield decode_bytes(_joined([piece for piece in members if isinstance(piece, _Word)]), charset)


def _joined(words: Sequence[_Word]) -> bytes:
    """The bytes of neighbours; base64 that was cut in the middle of a group of four is put together first."""
    parts: list[bytes] = []
    for encoding, group in groupby(words, key=lambda word: word.encoding):
        texts = [word.text for word in group]
        if encoding == "Q":
            parts += [quopri.decodestring(text.encode("ascii", "replace"), header=True) for text in texts]
        elif all(len(text) % 4 == 0 for text in texts):
            parts += [_base64(text) for text in texts]
        else:
            parts.append(_base64("".join(text.rstrip("=") for text in texts)))
    return b"".join(parts)


def _base64(text: str) -> bytes:
    kept = re.sub(r"[^A-Za-z0-9+/]", "", text)
    kept = kept[:-1] if len(kept) % 4 == 1 else kept
    try:
        return base64.b64decode(kept + "=" * (-len(kept) % 4))
    except binascii.Error:
        return b""
