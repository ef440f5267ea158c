"""Finds what an endpoint complains about in whatever body it wrote: JSON of any vendor, a web page, plain text.

Reads only; what the complaint means is decided in `faults`.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime

from msgspec import Struct, structs

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text, parse_json

# The longest wait a person is kept in; a longer wish is cut to it.
LONGEST_WAIT_S = 60.0
_LONGEST_MESSAGE = 400
# A router's JSON in a gateway's JSON in a message is about what occurs.
_MAX_DEPTH = 8
_MESSAGE_KEYS = ("message", "msg", "error_msg", "status_msg", "detail", "title", "reason")
_CODE_KEYS = ("code", "type", "status", "status_code", "error_code")
_INNER_KEYS = ("error", "errors", "base_resp", "message", "detail", "header")

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_HTML_START = re.compile(r"\s*(?:<!doctype html|<html|<head|<body|<\?xml|<!--)", re.IGNORECASE)
# Vendors print keys with stars in the middle; the ends are still part of the key.
_MASKED = re.compile(r"[\w-]*\*{3,}[\w-]*")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_WAIT_IN_TEXT = re.compile(r"(?:try again|retry) (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?)\s?(ms|s)", re.IGNORECASE)


class Complaint(Struct, frozen=True):
    """`message` is one line for people, `codes` all machine words joined, `status` a number the body itself names.

    `wait_s` is the pause the body asks for in a field of its own.
    """

    message: str = ""
    codes: str = ""
    status: int = 0
    is_page: bool = False
    wait_s: float | None = None

    @property
    def words(self) -> str:
        """Everything in lower case, for looking up what is meant."""
        return f"{self.codes} {self.message}".lower()


def read_body(text: str) -> Complaint:
    """The complaint in a whole response body."""
    if _HTML_START.match(text):
        return Complaint(message=_tidy(_page_title(text)), is_page=True)
    try:
        value = parse_json(text)
    except ValueError:
        return Complaint(message=_tidy(text))
    complaint = read_json(value)
    return complaint if complaint.message else structs.replace(complaint, message=_tidy(text))


def read_json(value: JsonValue) -> Complaint:
    """The complaint in parsed JSON."""
    messages: list[str] = []
    codes: list[str] = []
    _collect(value, messages, codes, depth=0)
    codes.extend(_find_texts(value, "quotaId"))
    numbers = (int(code) for code in codes if code.isdigit())
    return Complaint(
        message=_tidy(messages[0] if messages else ""),
        codes=" ".join(codes),
        status=next((number for number in numbers if 400 <= number < 600), 0),
        wait_s=_find_delay(value),
    )


def find_error(chunk: JsonObject) -> JsonValue:
    """The error part of a JSON object that should have been an answer; None when there is none."""
    if error := chunk.get("error"):
        return error
    if "base_resp" in chunk:
        base = as_object(chunk["base_resp"])
        if as_int(base.get("status_code")):
            return base
    if chunk.get("choices"):
        return None
    is_error = chunk.get("object") == "error" or chunk.get("errors") or chunk.get("detail")
    return chunk if is_error or (chunk.get("message") and chunk.get("code")) else None


def read_retry_after(headers: Mapping[str, str], complaint: Complaint, now_ms: int) -> float | None:
    """How many seconds the endpoint wants us to wait, at most a minute; None when it names none.

    `headers` has lower-case names.
    """
    wish = _parse_seconds(headers.get("retry-after-ms", ""), 0.001)
    if wish is None:
        wish = _parse_seconds(headers.get("retry-after", ""), 1.0)
    if wish is None:
        wish = _parse_date(headers.get("retry-after", ""), now_ms)
    if wish is None:
        wish = complaint.wait_s
    if wish is None:
        wish = _find_wait(complaint.message)
    return None if wish is None else min(max(wish, 0.0), LONGEST_WAIT_S)


def _collect(value: JsonValue, messages: list[str], codes: list[str], *, depth: int) -> None:
    """Gather from the inside out: what an upstream said explains more than the router's own words."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        _collect_text(value, messages, codes, depth=depth)
    elif isinstance(value, Mapping):
        for key in _INNER_KEYS:
            if isinstance(value.get(key), Mapping) or (key in ("error", "errors") and value.get(key)):
                _collect(value[key], messages, codes, depth=depth + 1)
        codes.extend(_scalar(value[key]) for key in _CODE_KEYS if key in value and _scalar(value[key]))
        _collect_upstream(value, messages, codes, depth=depth)
        place = ".".join(as_text(part) for part in as_list(value.get("loc")) if as_text(part))
        if place and as_text(value.get("msg")):
            messages.append(f"{place}: {as_text(value['msg'])}")
        for key in _MESSAGE_KEYS:
            _collect(value.get(key), messages, codes, depth=depth + 1)
    else:
        for item in as_list(value):
            _collect(item, messages, codes, depth=depth + 1)


def _collect_text(text: str, messages: list[str], codes: list[str], *, depth: int) -> None:
    """A message, or JSON written into a message."""
    if text.lstrip().startswith(("{", "[")):
        try:
            _collect(parse_json(text), messages, codes, depth=depth + 1)
        except ValueError:
            messages.append(text)
    elif text.strip():
        messages.append(text)


def _collect_upstream(value: JsonObject, messages: list[str], codes: list[str], *, depth: int) -> None:
    """Routers say "Provider returned error" and put the real words into `metadata.raw`."""
    raw = as_text(as_object(value.get("metadata")).get("raw"))
    if raw:
        _collect(raw, messages, codes, depth=depth + 1)


def _find_texts(value: JsonValue, key: str, *, depth: int = 0) -> Iterator[str]:
    """Every text under a key, wherever it stands: Google puts the facts of a refusal into a list of details."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        if text := as_text(value.get(key)):
            yield text
        parts: Iterable[JsonValue] = value.values()
    else:
        parts = as_list(value)
    for part in parts:
        yield from _find_texts(part, key, depth=depth + 1)


def _find_delay(value: JsonValue) -> float | None:
    """`retryDelay` of google.rpc.RetryInfo, a duration such as `34.07s`."""
    told = (_DURATION.fullmatch(text) for text in _find_texts(value, "retryDelay"))
    return next((float(found.group(1)) for found in told if found), None)


def _scalar(value: JsonValue) -> str:
    if isinstance(value, bool):
        return ""
    return str(value) if isinstance(value, str | int) else ""


def _page_title(text: str) -> str:
    found = _TITLE.search(text) or _HEADING.search(text)
    return html.unescape(_TAG.sub(" ", found.group(1))) if found else ""


def _tidy(text: str) -> str:
    """One line without control characters, masked keys and a final period."""
    words = _MASKED.sub("…", " ".join(text.split()))
    words = "".join(character for character in words if character.isprintable())
    if len(words) > _LONGEST_MESSAGE:
        return words[: _LONGEST_MESSAGE - 1] + "…"
    return words.rstrip(". ")


def _parse_seconds(text: str, factor: float) -> float | None:
    try:
        seconds = float(text) * factor
    except ValueError:
        return None
    # "nan" and "inf" parse as numbers too.
    return seconds if abs(seconds) < 1e9 else None


def _parse_date(text: str, now_ms: int) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now_ms / 1000
    except (ValueError, TypeError, OverflowError):
        return None


def _find_wait(message: str) -> float | None:
    found = _WAIT_IN_TEXT.search(message)
    if found is None:
        return None
    minutes, amount, unit = found.groups()
    return int(minutes or 0) * 60 + float(amount) * (0.001 if unit.lower() == "ms" else 1.0)
