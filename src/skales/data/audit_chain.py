"""The form of the audit log's lines and of its anchor: how a line names the one before it. Opens no file.

A line is a JSON object in the order of its keys; the last is `hash`, the SHA-256 of all bytes before it. `prev` is the
hash of the line before, `n` counts them, `day` is the file's, so that no line fits anywhere else. Spec: security.md,
"Audit log".
"""

import hashlib
import json
import re
from collections.abc import Mapping

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_int, as_object, as_text, parse_json

# What the first line names as the one before it.
GENESIS = "0" * 64
FILE_NAME = re.compile(r"audit-(\d{4}-\d{2}-\d{2})\.jsonl")

# Always the same, so that a new anchor covers the old one.
ANCHOR_BYTES = 320

# `json.dumps` makes a new one each time.
_COMPACT = json.JSONEncoder(separators=(",", ":"))

_SEAL = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
_SEAL_BYTES = len(',"hash":""}') + 64


class Place(Struct, frozen=True):
    """A line's place in the chain: its number, the hash it ends with, and the day of its file."""

    number: int
    hash: str
    day: str


class Anchor(Struct, frozen=True):
    """What `audit-head.json` says of the newest line: its place, and how long its file was with it.

    `coming` is the hash of the line that is being added at this moment, empty while nothing is written.
    """

    place: Place
    size_bytes: int
    coming: str = ""


class ChainedLine(Struct, frozen=True):
    """A line whose hash is that of its own bytes."""

    place: Place
    prev: str
    value: JsonObject


def seal_line(facts: Mapping[str, JsonValue], prev: Place, day: str) -> tuple[bytes, Place]:
    """The bytes of the line after `prev`, line end included, and its place."""
    number = prev.number + 1
    record = {"n": number, "day": day, **facts, "prev": prev.hash}
    body = _COMPACT.encode(record).encode("ascii")[:-1]
    digest = hashlib.sha256(body).hexdigest()
    return body + f',"hash":"{digest}"}}\n'.encode("ascii"), Place(number, digest, day)


def read_line(line: bytes) -> ChainedLine | None:
    """A line without its end; None when a single byte of it is not as it was written."""
    body, seal = line[:-_SEAL_BYTES], _SEAL.fullmatch(line[-_SEAL_BYTES:])
    if seal is None or hashlib.sha256(body).hexdigest() != seal[1].decode():
        return None
    value = read_plain(line)
    number, day, prev = as_int(value.get("n")), as_text(value.get("day")), as_text(value.get("prev"))
    if number < 1 or not day or len(prev) != len(GENESIS):
        return None
    return ChainedLine(Place(number, seal[1].decode(), day), prev, value)


def could_begin(torn: bytes, number: int) -> bool:
    """Whether these bytes may be half of the line with this number."""
    begin = f'{{"n":{number},"day":"'.encode("ascii")
    return torn.startswith(begin) or begin.startswith(torn)


def read_plain(line: bytes) -> JsonObject:
    """The object of a line, whoever wrote it; an empty one when it is none."""
    try:
        return as_object(parse_json(line.decode("utf-8", "replace")))
    except ValueError:
        return {}


def digest_of(data: bytes) -> str:
    """What a piece of a file is known by."""
    return hashlib.sha256(data).hexdigest()


def write_anchor(anchor: Anchor) -> bytes:
    """The bytes of the anchor's file."""
    place = anchor.place
    record = {
        "count": place.number,
        "hash": place.hash,
        "day": place.day,
        "sizeBytes": anchor.size_bytes,
        "coming": anchor.coming,
    }
    return json.dumps(record).encode("ascii").ljust(ANCHOR_BYTES - 1) + b"\n"


def read_anchor(data: bytes) -> Anchor | None:
    """None when it is not exactly what we write."""
    value = read_plain(data)
    place = Place(as_int(value.get("count")), as_text(value.get("hash")), as_text(value.get("day")))
    anchor = Anchor(place, as_int(value.get("sizeBytes")), as_text(value.get("coming")))
    return anchor if write_anchor(anchor) == data and place.day else None
