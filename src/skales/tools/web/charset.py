"""Turns the bytes of a fetched text into characters, with the encoding a browser would use.

Order: byte-order mark, Content-Type header, label inside the page, valid UTF-8, a guess, windows-1252. Labels mean
what browsers make of them (`ISO-8859-1` is windows-1252); an unknown label counts as none.
Spec: HTML Standard, "Determining the character encoding"; Encoding Standard, "Names and labels".
"""

import codecs
import re
from typing import Protocol, cast

from msgspec import Struct

_PRESCAN_BYTES = 1024
_GUESS_BYTES = 100_000
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))

_HEADER_CHARSET = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;]*))", re.IGNORECASE)
_CONTENT_CHARSET = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"<\?xml\s[^>]*?\bencoding\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")

# Steps of the prescan: a comment, a tag with its attributes, another declaration.
_COMMENT = re.compile(rb"<!--.*?(?<=--)>", re.DOTALL)
_TAG = re.compile(rb"</?([a-zA-Z][^\t\n\f\r />]*)")
_DECLARATION = re.compile(rb"<[!/?][^>]*>?")
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r /=>]*)"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(\"[^\"]*\"|'[^']*'|[^\t\n\f\r >\"'][^\t\n\f\r >]*))?"
)

# What a guess may say, in the library's spelling, and what the web calls it.
_GUESSABLE = {
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "iso8859_2": "iso-8859-2",
    "koi8_r": "koi8-r",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "gb18030": "gb18030",
    "big5": "big5",
    "cp949": "euc-kr",
}
_LATIN_GUESSES = {"cp1250", "cp1252", "cp1254", "iso8859_2"}
_LAST_WORD = "windows-1252"
# All bytes beyond ASCII but the euro sign, the dots, quotes and dashes of windows-1252.
_OTHER_LETTERS = re.compile(rb"[\x81-\x84\x86-\x90\x98\x9a-\xff]")


class Decoded(Struct, frozen=True):
    """The text, and the name of the encoding it was read with."""

    text: str
    encoding: str


class _Encoding(Protocol):
    """What we use of `webencodings.Encoding`."""

    name: str
    codec_info: codecs.CodecInfo


def decode_body(body: bytes, content_type: str, *, is_cut: bool = False) -> Decoded:
    """Decode a body as a browser would; bytes that mean nothing become U+FFFD.

    Args:
        body: The bytes after content decoding.
        content_type: The Content-Type header, empty when there is none.
        is_cut: Whether the body ends in the middle, perhaps of a character.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decode_as(body[len(mark) :], name)
    label = _header_label(content_type) or _page_label(body) or _xml_label(body)
    if label:
        return _decode_as(body, label)
    if _is_utf8(body, is_cut=is_cut):
        return Decoded(body.decode("utf-8", "replace"), "utf-8")
    return _decode_as(body, _guess(body))


def encoding_name(label: str) -> str:
    """The encoding a browser uses for a label, empty for one it does not know."""
    found = _lookup(label)
    return found.name if found else ""


def _lookup(label: str) -> _Encoding | None:
    import webencodings  # type: ignore[import-untyped]

    return cast("_Encoding | None", webencodings.lookup(label))


def _decode_as(body: bytes, name: str) -> Decoded:
    match name:
        case "euc-jp":
            return Decoded(_decode_euc_jp(body), name)
        case "iso-2022-jp":
            return Decoded(_decode_iso_2022_jp(body), name)
        case "replacement":
            # Encodings that hide markup from filters: browsers show one sign for the whole page.
            return Decoded("�" if body else "", name)
        case "gbk":
            # The standard decodes both names with the larger set.
            return Decoded(body.decode("gb18030", "replace"), name)
        case _:
            encoding = _lookup(name)
            assert encoding is not None, name
            text, _used = encoding.codec_info.decode(body, "replace")
            return Decoded(text, name)


def _header_label(content_type: str) -> str:
    found = _HEADER_CHARSET.search(content_type)
    return encoding_name(_one_of(found)) if found else ""


def _one_of(found: re.Match[str]) -> str:
    return next((group for group in found.groups() if group), "")


def _page_label(body: bytes) -> str:
    """The label of a `<meta>` element in the first 1,024 bytes; of several, the first that is known."""
    head, position = body[:_PRESCAN_BYTES], 0
    while (position := head.find(b"<", position)) >= 0:
        if comment := _COMMENT.match(head, position):
            position = comment.end()
        elif tag := _TAG.match(head, position):
            attributes, position = _read_attributes(head, tag.end())
            label = _meta_label(attributes) if tag[0].lower() == b"<meta" else ""
            if label:
                return label
        elif declaration := _DECLARATION.match(head, position):
            position = declaration.end()
        else:
            position += 1
    return ""


def _read_attributes(head: bytes, position: int) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    while found := _ATTRIBUTE.match(head, position):
        value = found[2] or b""
        if value[:1] in {b'"', b"'"}:
            value = value[1:-1]
        attributes.setdefault(found[1].decode("latin-1").lower(), value.decode("latin-1"))
        position = found.end()
    return attributes, position


def _meta_label(attributes: dict[str, str]) -> str:
    label = encoding_name(attributes.get("charset", ""))
    if not label and attributes.get("http-equiv", "").strip().lower() == "content-type":
        found = _CONTENT_CHARSET.search(attributes.get("content", ""))
        label = encoding_name(_one_of(found)) if found else ""
    return _readable_by_prescan(label)


def _xml_label(body: bytes) -> str:
    found = _XML_DECLARATION.match(body[:_PRESCAN_BYTES])
    return _readable_by_prescan(encoding_name((found[1] or found[2] or b"").decode("latin-1"))) if found else ""


def _readable_by_prescan(name: str) -> str:
    """A label that could be read as ASCII cannot be UTF-16; the standard takes it for UTF-8."""
    return {"utf-16be": "utf-8", "utf-16le": "utf-8", "x-user-defined": _LAST_WORD}.get(name, name)


def _is_utf8(body: bytes, *, is_cut: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body, final=not is_cut)
    except UnicodeDecodeError:
        return False
    return True


def _guess(body: bytes) -> str:
    """The likely encoding of bytes that carry no label and are not UTF-8.

    Latin encodings look alike to a guesser, and it likes the rarer ones; windows-1252 wins where it is possible.
    Scripts other than Latin are taken for real only where their letters are the most.
    """
    from charset_normalizer import from_bytes

    words = _without_markup(body[:_GUESS_BYTES])
    is_latin = len(_OTHER_LETTERS.findall(words)) < len(re.findall(rb"[A-Za-z]", words))
    matches = from_bytes(words, cp_isolation=list(_GUESSABLE))
    best = matches.best()
    if best is None or best.encoding not in _GUESSABLE or (is_latin and best.encoding not in _LATIN_GUESSES):
        return _LAST_WORD
    possible = {name for match in matches for name in (match.encoding, *match.could_be_from_charset)}
    if "cp1252" in possible and (best.encoding in _LATIN_GUESSES or not best.coherence):
        return _LAST_WORD
    if best.encoding in {"cp949", "gb18030", "big5"} and _is_kana(body[:_GUESS_BYTES]):
        return "euc-jp"
    return _GUESSABLE[best.encoding]


def _without_markup(body: bytes) -> bytes:
    """Only the words: tags and scripts are ASCII in every encoding and drown the letters that tell."""
    words = body
    for tag in (b"script", b"style"):
        words = _without_element(words, tag)
    words = re.sub(rb"<[^<>]*>", b" ", words)
    return words if words.strip() else body


def _without_element(body: bytes, tag: bytes) -> bytes:
    """Without these elements and their content; one that never ends stays."""
    kept: list[bytes] = []
    lower, start = body.lower(), 0
    while (begin := lower.find(b"<" + tag, start)) >= 0 and (end := lower.find(b"</" + tag, begin)) >= 0:
        kept.append(body[start:begin])
        start = end
    return b" ".join([*kept, body[start:]])


def _is_kana(body: bytes) -> bool:
    """Whether the bytes read as EUC-JP are Japanese: hiragana and katakana make up much of any such text."""
    letters = [char for char in _decode_euc_jp(body) if not char.isascii()]
    kana = sum(1 for char in letters if "\u3041" <= char <= "\u30fa")
    return "�" not in letters and kana * 3 > len(letters)


# The Encoding Standard reads all Japanese encodings with Microsoft's extensions (circled digits, the wide tilde).
# Python has them for Shift_JIS only, so the two-byte codes of the others are moved there.

_EUC_RUN = re.compile(rb"[\x00-\x7f]+|(?:\x8e[\xa1-\xdf])+|(?:\x8f[\xa1-\xfe]{2})+|(?:[\xa1-\xfe]{2})+|.", re.DOTALL)
_ISO_ESCAPE = re.compile(rb"\x1b(\([BJI]|\$[@B])")


def _decode_euc_jp(body: bytes) -> str:
    return "".join(_euc_run(run[0]) for run in _EUC_RUN.finditer(body))


def _euc_run(run: bytes) -> str:
    match run[0]:
        case lead if lead < 0x80:
            return run.decode("ascii")
        case 0x8E if len(run) > 1:
            return run[1::2].decode("cp932", "replace")
        case 0x8F if len(run) > 1:
            return run.decode("euc_jp", "replace")
        case _ if len(run) > 1:
            return _jis_text(bytes(byte - 0x80 for byte in run))
        case _:
            return "�"


def _decode_iso_2022_jp(body: bytes) -> str:
    pieces = _ISO_ESCAPE.split(body)
    text = [pieces[0].decode("ascii", "replace")]
    for escape, run in zip(pieces[1::2], pieces[2::2], strict=True):
        match escape:
            case b"$B" | b"$@":
                text.append(_decode_jis_run(run))
            case b"(I":
                text.append(bytes(byte | 0x80 for byte in run).decode("cp932", "replace"))
            case _:
                text.append(run.decode("ascii", "replace"))
    return "".join(text)


def _decode_jis_run(run: bytes) -> str:
    """Two-byte codes; a line end inside them returns to plain text, as senders that forget the escape mean it."""
    codes, newline, rest = run.partition(b"\n")
    even = len(codes) // 2 * 2
    return _jis_text(codes[:even]) + "�" * (len(codes) - even) + (newline + rest).decode("ascii", "replace")


def _jis_text(codes: bytes) -> str:
    """Pairs of row and cell of JIS X 0208 (0x21 to 0x7E each) as text, by way of Shift_JIS."""
    return "".join(_jis_letter(row, cell) for row, cell in zip(codes[0::2], codes[1::2], strict=True))


def _jis_letter(row: int, cell: int) -> str:
    if not (0x21 <= row <= 0x7E and 0x21 <= cell <= 0x7E):
        return "�"
    lead = (row + 1) // 2 + (0x70 if row <= 0x5E else 0xB0)
    trail = cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)
    try:
        return bytes((lead, trail)).decode("cp932")
    except UnicodeDecodeError:
        return "�"
