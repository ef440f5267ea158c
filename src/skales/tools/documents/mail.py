"""Reads e-mail files: who, when, what about, the text, and which files are attached. Spec: EML-01.

Plain text wins over HTML, an attached mail is an attachment and not part of the text, and nothing is loaded that the
mail refers to.
"""

import binascii
import email.utils
import re
from collections.abc import Iterator, Sequence
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from typing import BinaryIO, cast

from msgspec import Struct, field

from skales.core.errors import InputError, ToolError
from skales.tools.describe import render_size, visible
from skales.tools.documents.mail_words import decode_bytes, decode_header
from skales.tools.documents.markup import read_markup

_LIMIT_BYTES = 64 * 1024 * 1024
_MOST_PARTS = 2_000
_SHOWN = ("From", "To", "Cc", "Reply-To", "Subject", "Date")
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError, binascii.Error)


class Attachment(Struct, frozen=True):
    """A file that came with a mail."""

    name: str
    media_type: str
    content: bytes


class Mail(Struct):
    """A mail as its reader sees it. `headers` are decoded; `inline_images` counts pictures inside the text."""

    headers: dict[str, str] = field(default_factory=dict[str, str])
    senders: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    receivers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    date: str = ""
    text: str = ""
    is_from_html: bool = False
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    inline_images: int = 0


class _Found(Struct):
    """What the parts of a mail are, in order."""

    plain: list[str] = field(default_factory=list[str])
    html: list[bytes] = field(default_factory=list[bytes])
    mail: Mail = field(default_factory=Mail)
    parts: int = 0


def read_mail(stream: BinaryIO, part: str) -> Iterator[str]:
    """The lines of a mail file, each with its line end. Raises ToolError.

    Args:
        stream: The file.
        part: The number of an attachment that is text; empty for the mail itself.
    """
    stream.seek(0)
    content = stream.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise ToolError(
            f"It is a mail of more than {render_size(_LIMIT_BYTES)}", hint="Read a part of it as text with part=raw"
        )
    mail = parse_mail(content)
    return _attachment_lines(mail, part) if part.strip() else _lines(mail)


def parse_mail(content: bytes) -> Mail:
    """The mail in these bytes. Raises ToolError when it is damaged beyond reading."""
    try:
        message = BytesParser(policy=compat32).parsebytes(content)
        found = _Found()
        _sort(message, found, is_inside_related=False)
        mail = found.mail
        _take_headers(message, mail)
        mail.text = "\n\n".join(text.strip("\n") for text in found.plain if text.strip())
        if not mail.text and found.html:
            mail.text = "\n\n".join(read_markup(html) for html in found.html)
            mail.is_from_html = True
    except _DAMAGED as error:
        raise ToolError(
            f"It is an e-mail, but damaged: {error}", hint="Read it as plain text with part=raw", code="damaged"
        ) from error
    return mail


def _take_headers(message: "Message[str, str]", mail: Mail) -> None:
    raw: dict[str, str] = {}
    for name, value in message.raw_items():
        raw.setdefault(name.lower(), str(value))
    mail.headers = {name: decode_header(raw[name.lower()]) for name in _SHOWN if name.lower() in raw}
    mail.senders = _addresses(raw.get("from", ""))
    mail.receivers = _addresses(raw.get("to", ""))
    mail.date = _moment(mail.headers.get("Date", ""))


def _addresses(raw: str) -> list[tuple[str, str]]:
    """Name and address of each. Words are decoded after the commas were read: a name may hold one."""
    unfolded = re.sub(r"\r?\n(?=[ \t])", "", raw)
    return [
        (decode_header(name), address.strip())
        for name, address in email.utils.getaddresses([unfolded])
        if name or address
    ]


def _moment(text: str) -> str:
    try:
        return email.utils.parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, OverflowError):
        return text


def _sort(part: "Message[str, str]", found: _Found, *, is_inside_related: bool) -> None:
    found.parts += 1
    if found.parts > _MOST_PARTS:
        raise ValueError(f"it has more than {_MOST_PARTS:,} parts")
    kind = part.get_content_type()
    inner = _inner_parts(part)
    if kind == "message/rfc822" or (kind.startswith("multipart/") and _is_attached(part)):
        _attach(part, found)
    elif kind == "multipart/alternative":
        _choose(inner, found, is_inside_related=is_inside_related)
    elif inner:
        for child in inner:
            _sort(child, found, is_inside_related=is_inside_related or kind == "multipart/related")
    else:
        _sort_leaf(part, kind, found, is_inside_related=is_inside_related)


def _sort_leaf(part: "Message[str, str]", kind: str, found: _Found, *, is_inside_related: bool) -> None:
    if kind.startswith("image/") and not _is_attached(part) and (is_inside_related or part.get("Content-ID")):
        found.mail.inline_images += 1
    elif _is_attached(part) or kind not in {"text/plain", "text/html"} or _file_name(part):
        _attach(part, found)
    elif kind == "text/plain":
        found.plain.append(_plain_text(part))
    else:
        found.html.append(_html_text(part))


def _choose(parts: Sequence["Message[str, str]"], found: _Found, *, is_inside_related: bool) -> None:
    """Take the plain text of several forms of one content; the others only for what hangs on them."""
    has_plain = any(child.get_content_type() == "text/plain" and not _is_attached(child) for child in parts)
    for child in parts:
        before = len(found.html)
        _sort(child, found, is_inside_related=is_inside_related)
        if has_plain:
            del found.html[before:]


def _inner_parts(part: "Message[str, str]") -> Sequence["Message[str, str]"]:
    payload = part.get_payload()
    return cast("list[Message[str, str]]", payload) if isinstance(payload, list) else ()


def _is_attached(part: "Message[str, str]") -> bool:
    return part.get_content_disposition() == "attachment"


def _attach(part: "Message[str, str]", found: _Found) -> None:
    kind = part.get_content_type()
    inner = _inner_parts(part)
    content = inner[0].as_bytes() if kind == "message/rfc822" and inner else _payload(part)
    name = _file_name(part)
    if not name and kind == "message/rfc822" and inner:
        subject = decode_header(dict(inner[0].raw_items()).get("Subject", ""))
        name = f"{_safe_name(subject) or 'mail'}.eml"
    found.mail.attachments.append(Attachment(name or "unnamed", kind, content))


def _file_name(part: "Message[str, str]") -> str:
    return _safe_name(decode_header(part.get_filename("") or ""))


def _safe_name(name: str) -> str:
    """The name without folders; a name is a stranger's word and may hold anything."""
    return visible(re.split(r"[/\\]", name)[-1]).strip(". ")[:200]


def _payload(part: "Message[str, str]") -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _charset(part: "Message[str, str]") -> str:
    return str(part.get_content_charset("") or "")


def _html_text(part: "Message[str, str]") -> bytes:
    return decode_bytes(_payload(part), _charset(part)).encode("utf-8", "replace")


def _plain_text(part: "Message[str, str]") -> str:
    text = decode_bytes(_payload(part), _charset(part)).replace("\r\n", "\n").replace("\r", "\n")
    if str(part.get_param("format", "")).lower() != "flowed":
        return text
    return "\n".join(_unflow(text.split("\n"), deletes_space=str(part.get_param("delsp", "")).lower() == "yes"))


def _unflow(lines: Sequence[str], *, deletes_space: bool) -> Iterator[str]:
    """Paragraphs of flowed text whole again. RFC 3676, section 4."""
    pending, depth = "", 0
    for line in lines:
        quoted = len(line) - len(line.lstrip(">"))
        body = line[quoted:].removeprefix(" ")
        if pending and quoted != depth:
            yield pending
            pending = ""
        start = pending or (f"{'>' * quoted} " if quoted else "")
        if body.endswith(" ") and body != "-- ":
            pending, depth = start + (body[:-1] if deletes_space else body), quoted
        else:
            yield start + body
            pending = ""
    if pending:
        yield pending


def _lines(mail: Mail) -> Iterator[str]:
    for name, value in mail.headers.items():
        yield f"{name}: {visible(mail.date if name == 'Date' else value)}\n"
    yield "\n"
    yield from (f"{line}\n" for line in mail.text.split("\n"))
    if mail.is_from_html:
        yield "[The mail has no plain text; this is its HTML as text]\n"
    if mail.attachments:
        yield "--- attachments ---\n"
    for number, file in enumerate(mail.attachments, start=1):
        yield f"{number}. {file.name} ({visible(file.media_type)}, {render_size(len(file.content))})\n"
    if mail.inline_images:
        yield f"[Not shown: {mail.inline_images} picture{'' if mail.inline_images == 1 else 's'} inside the text]\n"


def _attachment_lines(mail: Mail, part: str) -> Iterator[str]:
    number = int(part) if part.strip().isdecimal() else 0
    if not 1 <= number <= len(mail.attachments):
        raise InputError(f"There is no attachment {part!r}", hint=f"The mail has {len(mail.attachments)}, from 1")
    file = mail.attachments[number - 1]
    if file.media_type == "message/rfc822":
        return _lines(parse_mail(file.content))
    if file.media_type == "text/html":
        return iter([read_markup(file.content)])
    if not file.media_type.startswith("text/") or b"\0" in file.content:
        raise ToolError(f"The attachment {file.name!r} is {visible(file.media_type)}, not text", code="binary")
    return iter([decode_bytes(file.content, "").replace("\r\n", "\n")])
