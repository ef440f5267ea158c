"""Which encoding a text is in, so that it can be read and stored again byte for byte.

A mark at the start is certain, valid UTF-8 nearly so; an old 8-bit encoding is a guess, and is called one.
"""

import codecs
import re
import unicodedata
from collections.abc import Mapping, Sequence

from msgspec import Struct

from skales.core.errors import ToolError

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS: Sequence[tuple[bytes, str]] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Letters of languages that windows-1252 was made for. A statistical guess confuses it with its neighbours on short
# texts, so a text that needs no others counts as windows-1252.
_WESTERN_LETTERS = (
    "äöüßÄÖÜéèêàáçñÉ",
    "àâæçéèêëîïôœùûüÿÀÂÆÇÉÈÊËÎÏÔŒÙÛÜŸ",
    "áéíóúüñÁÉÍÓÚÜÑ¿¡ªº",
    "áâãàçéêíóôõúüÁÂÃÀÇÉÊÍÓÔÕÚÜªº",
    "àèéìíîòóùúÀÈÉÌÍÎÒÓÙÚ",
    "åäöæøéüÅÄÖÆØÉÜ",
    "áéíóúýþæðöÁÉÍÓÚÝÞÆÐÖ",
)
_WESTERN_SIGNS = "€‚„…†‡‰‹›‘’“”•–—™£§©®°±·«»¼½¾×÷µ\xa0"
_FOREIGN = (
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "cp866",
    "koi8_r", "koi8_u", "cp932", "euc_jp", "gb18030", "big5", "cp949",
)  # fmt: skip
_LABELS: Mapping[str, str] = {
    "utf-8": "UTF-8", "utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE", "utf-32-le": "UTF-32 LE",
    "utf-32-be": "UTF-32 BE", "cp932": "Shift JIS", "cp949": "Korean (cp949)", "latin-1": "ISO 8859-1",
}  # fmt: skip
# Controls that occur in text: bell to carriage return, and escape for terminal colours.
_CONTROLS = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f]")
_CONTROL_SHARE = 0.02
# A byte that `surrogateescape` kept apart, and any character outside ASCII.
_STRAY = re.compile("[\udc80-\udcff]")
_BEYOND_ASCII = re.compile("[^\\x00-\\x7f]")
# How much of a text the guesses look at.
_GUESS_BYTES = 64 * 1024


class TextCoding(Struct, frozen=True):
    """How a text is stored: the codec's name, the mark before it, and whether that is more than a guess."""

    codec: str
    mark: bytes = b""
    is_certain: bool = True

    @property
    def label(self) -> str:
        """The name people know: `UTF-8 with BOM`, `windows-1252`."""
        name = _LABELS.get(self.codec, self.codec.replace("cp125", "windows-125"))
        return f"{name} with BOM" if self.mark else name


def detect_coding(sample: bytes, *, is_whole: bool) -> TextCoding | None:
    """The encoding of a text from its first bytes, None when they are no text.

    Args:
        sample: The start of the content.
        is_whole: Whether it ends here; else its last character may be cut.
    """
    for mark, codec in _MARKS:
        if sample.startswith(mark):
            return TextCoding(codec, mark)
    if b"\0" in sample:
        return _detect_wide(sample)
    if len(_CONTROLS.findall(sample)) > len(sample) * _CONTROL_SHARE:
        return None
    if _is_utf8(sample, is_whole=is_whole):
        return TextCoding("utf-8")
    return _detect_old(sample)


def decode_text(content: bytes, coding: TextCoding) -> str:
    """The whole text without its mark, reversible by `encode_text`. Raises ToolError when it is not reversible."""
    body = content[len(coding.mark) :]
    try:
        text = body.decode(coding.codec, _reversible(coding))
        if text.encode(coding.codec, _reversible(coding)) == body:
            return text
    except UnicodeError:
        pass
    raise ToolError(
        f"The text is not valid {coding.label}; changing it could damage it",
        hint="Ask the person to convert the file to UTF-8 first",
        code="encoding",
    )


def encode_text(text: str, coding: TextCoding) -> bytes:
    """The bytes of a text from `decode_text`, with its mark."""
    return coding.mark + text.encode(coding.codec, _reversible(coding))


def require_encodable(text: str, coding: TextCoding) -> None:
    """Raise ToolError that names the first character the encoding has no place for."""
    try:
        text.encode(coding.codec)
    except UnicodeEncodeError as error:
        char = text[error.start]
        name = unicodedata.name(char, "no character of its own")
        raise ToolError(
            f"{char!r} (U+{ord(char):04X}, {name.lower()}) cannot be stored in {coding.label}",
            hint="Use other characters, or ask the person whether the file may become UTF-8",
            code="encoding",
        ) from error


def readable(text: str) -> str:
    """The text with bytes that fitted no character shown as what they are in windows-1252."""
    if text.isascii() or not _STRAY.search(text):
        return text
    return text.translate(_STRAY_BYTES)


def _reversible(coding: TextCoding) -> str:
    """The error mode that keeps invalid bytes apart, so that encoding brings them back."""
    return "surrogatepass" if coding.codec.startswith(("utf-16", "utf-32")) else "surrogateescape"


def _is_utf8(sample: bytes, *, is_whole: bool) -> bool:
    """Whether it is UTF-8, a few broken characters aside."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, is_whole)
    except UnicodeDecodeError:
        text = sample.decode("utf-8", "surrogateescape")
        stray = len(_STRAY.findall(text))
        proper = len(_BEYOND_ASCII.findall(text)) - stray
        return proper >= 2 * stray
    return True


def _detect_wide(sample: bytes) -> TextCoding | None:
    """UTF-16 or UTF-32 without a mark: their zero bytes stand in fixed columns."""
    sample = sample[:_GUESS_BYTES]
    zeros = [sample[column::4].count(0) for column in range(4)]
    rows = max(len(sample) // 4, 1)
    candidates: list[str] = []
    # All of Unicode fits three bytes, and nearly all text fits two.
    if zeros[3] >= rows - 1 and zeros[2] > rows // 2:
        candidates.append("utf-32-le")
    if zeros[0] >= rows - 1 and zeros[1] > rows // 2:
        candidates.append("utf-32-be")
    # An emoji has a zero byte in the other column.
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if even <= odd // 4:
        candidates.append("utf-16-le")
    if odd <= even // 4:
        candidates.append("utf-16-be")
    return next((TextCoding(codec) for codec in candidates if _is_sound(sample, codec)), None)


def _is_sound(sample: bytes, codec: str) -> bool:
    """Whether it decodes to characters that exist and are meant for reading."""
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return False
    odd = sum(unicodedata.category(char) in {"Cc", "Cn", "Co"} and char not in "\t\n\r\f\x1b" for char in text)
    return bool(text) and odd <= len(text) * _CONTROL_SHARE


def _detect_old(sample: bytes) -> TextCoding:
    try:
        western = sample.decode("cp1252")
    except UnicodeDecodeError:
        western = ""
    foreign = {char for char in western if char > "\x7f"} - set(_WESTERN_SIGNS)
    if western and any(foreign <= set(letters) for letters in _WESTERN_LETTERS):
        return TextCoding("cp1252", is_certain=False)
    from charset_normalizer import from_bytes

    best = from_bytes(sample[:_GUESS_BYTES], cp_isolation=list(_FOREIGN)).best()
    if best is not None:
        return TextCoding(best.encoding, is_certain=False)
    return TextCoding("cp1252" if western else "latin-1", is_certain=False)


def _stray_bytes() -> Mapping[int, str]:
    return {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}


_STRAY_BYTES = _stray_bytes()
