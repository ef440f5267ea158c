"""What `http_request` and `connector_request` share: checked headers, a body, and an answer as text or JSON."""

import json
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from skales.core.errors import InputError
from skales.core.json import JsonValue, parse_json
from skales.core.ports import Delivery
from skales.core.tool import ToolResult
from skales.security.invisible import strip_invisible
from skales.security.redact import redact
from skales.tools.describe import render_size
from skales.tools.web.charset import decode_body
from skales.tools.web.client import WebReply
from skales.tools.web.quoting import quote_untrusted

MOST_BYTES = 2_000_000
_MOST_BODY = 1_000_000
_MOST_HEADERS = 50
_MOST_HEADER_TEXT = 16_000
_MOST_TEXT = 16_000
_MOST_DATA = 20_000
_ERROR_STATUS = 400
_OVERLOADED = 503

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
# Those belong to the connection, and the name to Skales.
_OWN = frozenset(
    {
        "host", "user-agent", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer",
        "upgrade", "expect", "proxy-authorization", "proxy-connection", "accept-encoding",
    }
)  # fmt: skip
_SHOWN_HEADERS = (
    "content-type", "content-length", "location", "date", "last-modified", "etag", "link", "retry-after", "allow",
    "www-authenticate",
)  # fmt: skip
_TEXT_KINDS = re.compile(
    r"text/|application/(?:[\w.-]+\+)?(?:json|xml)|application/(?:javascript|x-ndjson|ndjson|yaml|x-yaml|graphql|toml"
    r"|x-www-form-urlencoded)|[\w.-]+/[\w.-]+\+(?:json|xml)"
)


class Body(Struct, frozen=True):
    """What is sent, and its type; empty for none."""

    content: bytes = b""
    content_type: str = ""


def check_headers(headers: Mapping[str, JsonValue]) -> Mapping[str, str]:
    """Headers that may be sent. Raises InputError, which never repeats a value."""
    if len(headers) > _MOST_HEADERS:
        raise InputError(f"More than {_MOST_HEADERS} headers are not sent", hint="Send fewer")
    checked: dict[str, str] = {}
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise InputError(f"{name[:60]!r} is not a header's name", hint="Write it like Accept-Language")
        if name.lower() in _OWN:
            raise InputError(f"The header {name} is set by Skales itself", hint="Leave it out")
        text = str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
        if text is None or not _VALUE.fullmatch(text):
            raise InputError(f"The value of the header {name} is no line of plain text", hint="Send a single line")
        checked[name] = text.strip()
    if sum(len(name) + len(text) for name, text in checked.items()) > _MOST_HEADER_TEXT:
        raise InputError("The headers are too long", hint="Send long values in the body")
    return checked


def build_body(text: str, value: Mapping[str, JsonValue] | Sequence[JsonValue] | None, method: str) -> Body:
    """The body from a text or a JSON value. Raises InputError for both, or for one that nobody would read."""
    if text and value is not None:
        raise InputError("A request has one body", hint="Give either body or json")
    if not text and value is None:
        return Body()
    if method in {"GET", "HEAD"}:
        raise InputError(f"{method} sends no body", hint="Put the values into the address, or use POST")
    content = (
        text.encode("utf-8", "replace")
        if value is None
        else json.dumps(value, ensure_ascii=False).encode(errors="replace")
    )
    if len(content) > _MOST_BODY:
        raise InputError(f"The body is larger than {render_size(_MOST_BODY)}", hint="Send less at once")
    return Body(content, "application/json" if value is not None else "text/plain; charset=utf-8")


def with_content_type(headers: Mapping[str, str], body: Body) -> Mapping[str, str]:
    """The headers with the body's type, unless they name one."""
    has_type = any(name.lower() == "content-type" for name in headers)
    return headers if has_type or not body.content_type else {**headers, "Content-Type": body.content_type}


def with_key(headers: Mapping[str, str], key: str) -> Mapping[str, str]:
    """The headers with the key by which a server knows a request that is sent again, unless they name one."""
    has_key = any(name.lower() == "idempotency-key" for name in headers)
    return headers if has_key or not key else {**headers, "Idempotency-Key": key}


async def note_answer(delivery: Delivery, method: str, reply: WebReply) -> None:
    """Say what an answer means for a request that must not be sent twice.

    An answer to another method comes after a redirect, which a server gives when it took the request.
    """
    is_refused = 400 <= reply.status < 500 or reply.status == _OVERLOADED
    if is_refused and reply.method == method:
        await delivery.refuse()
    else:
        await delivery.accept()


async def read_result(reply: WebReply, method: str, shown_address: str) -> ToolResult:
    """The answer for the model: status, telling headers, and the body when it is text. An error status is an error."""
    body, is_cut = await reply.read(MOST_BYTES)
    status = f"{reply.status} {reply.reason}".strip()
    # A header is as much a stranger's word as the body; each name once, since they may be endless.
    head = [
        f"{name}: {' '.join(redact(text).split())[:500]}"
        for name in _SHOWN_HEADERS
        if (text := reply.headers.get(name))
    ]
    content_type = reply.headers.get("content-type", "")
    text, value = _read_body(body, content_type, is_cut=is_cut)
    quoted = quote_untrusted("\n".join([*head, "", text[:_MOST_TEXT]]).strip(), shown_address)
    lines = [f"{method} {shown_address} answered {status}.", quoted]
    if len(text) > _MOST_TEXT:
        lines.append(f"Shown are the first {_MOST_TEXT:,} of {len(text):,} characters.")
    if is_cut:
        lines.append(f"The answer is larger than {render_size(MOST_BYTES)}; the rest is missing.")
    data: dict[str, JsonValue] = {"url": shown_address, "status": reply.status, "content_type": content_type}
    if value is not None and len(text) <= _MOST_DATA:
        data["json"] = value
    return ToolResult(
        text="\n".join(lines),
        summary=f"{method} {shown_address[:120]}: {status[:60]}",
        is_error=reply.status >= _ERROR_STATUS,
        data=data,
    )


def _read_body(body: bytes, content_type: str, *, is_cut: bool) -> tuple[str, JsonValue]:
    """The body as text, JSON set out in lines, and its value when it is JSON."""
    if not body:
        return "(no body)", None
    kind = content_type.partition(";")[0].strip().lower()
    is_text = _TEXT_KINDS.match(kind) is not None if kind else b"\0" not in body[:1024]
    if not is_text:
        return f"({render_size(len(body))} of {kind or 'data'}, which is no text; download_file saves it)", None
    text = strip_invisible(decode_body(body, content_type, is_cut=is_cut).text)[0]
    if "json" in kind and not is_cut:
        try:
            value = parse_json(text)
        except ValueError:
            return text, None
        return json.dumps(value, ensure_ascii=False, indent=1), value
    return text, None
