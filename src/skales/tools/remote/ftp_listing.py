"""Reads what FTP servers say of a folder: MLSD lines (RFC 3659), and the listings of Unix and Windows before it."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from skales.core.clock import Clock
from skales.tools.remote.place import RemoteEntry, RemoteKind

_UNIX = re.compile(
    r"(?P<kind>[-dlbcpsD])[-rwxsStTlL]{9}[.+@]?\s+\d+\s+\S+(?:\s+\S+)??\s+(?P<size>\d+)\s+"
    r"(?P<month>[A-Za-z]{3})\s+(?P<day>\d{1,2})\s+(?P<when>\d{4}|\d{1,2}:\d{2})\s(?P<name>.+)"
)
_WINDOWS = re.compile(
    r"(?P<month>\d{2})-(?P<day>\d{2})-(?P<year>\d{2,4})\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?P<half>[AP]M)?\s+"
    r"(?P<size><DIR>|<JUNCTION>|\d+)\s+(?P<name>.+)"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MLSD_KINDS = {"file": RemoteKind.FILE, "dir": RemoteKind.FOLDER}
_SELF = ("cdir", "pdir")


def parse_mlsd(lines: Sequence[str]) -> list[RemoteEntry]:
    """The entries of an MLSD answer; the folder itself and its parent are no entries."""
    return [entry for line in lines if (entry := _mlsd_entry(line)) is not None]


def parse_list(lines: Sequence[str], clock: Clock) -> list[RemoteEntry]:
    """The entries of a LIST answer, as far as they are of a known form. Times are of the server's own zone."""
    year = datetime.fromtimestamp(clock.now_ms() / 1000, UTC).year
    found = [entry for line in lines if (entry := _unix_entry(line, year) or _windows_entry(line)) is not None]
    return [entry for entry in found if entry.name not in (".", "..")]


def _mlsd_entry(line: str) -> RemoteEntry | None:
    facts_text, blank, name = line.partition(" ")
    if not blank or not name:
        return None
    pairs = (fact.partition("=") for fact in facts_text.split(";") if fact)
    facts = {key.lower(): value for key, _, value in pairs}
    kind = facts.get("type", "").lower()
    if kind in _SELF:
        return None
    size = facts.get("size", "")
    found = RemoteKind.LINK if "slink" in kind or "symlink" in kind else _MLSD_KINDS.get(kind, RemoteKind.OTHER)
    return RemoteEntry(name, found, int(size[:18]) if size.isdecimal() else -1, _mlsd_time(facts.get("modify", "")))


def _mlsd_time(text: str) -> int:
    try:
        return int(datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 0


def _unix_entry(line: str, year: int) -> RemoteEntry | None:
    match = _UNIX.fullmatch(line)
    if match is None or match["month"].lower() not in _MONTHS:
        return None
    kinds = {"-": RemoteKind.FILE, "d": RemoteKind.FOLDER, "l": RemoteKind.LINK}
    kind = kinds.get(match["kind"], RemoteKind.OTHER)
    name = match["name"].partition(" -> ")[0] if kind is RemoteKind.LINK else match["name"]
    hour, _, minute = match["when"].partition(":")
    date = (year, _MONTHS.index(match["month"].lower()) + 1, int(match["day"]))
    moment = _moment((*date, int(hour), int(minute))) if minute else _moment((int(hour), *date[1:], 0, 0))
    return RemoteEntry(name, kind, int(match["size"][:18]), moment)


def _windows_entry(line: str) -> RemoteEntry | None:
    match = _WINDOWS.fullmatch(line)
    if match is None:
        return None
    year, hour = int(match["year"]), int(match["hour"])
    year += 0 if year > 99 else 2000 if year < 70 else 1900
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "PM" else 0)
    moment = _moment((year, int(match["month"]), int(match["day"]), hour, int(match["minute"])))
    kinds = {"<DIR>": RemoteKind.FOLDER, "<JUNCTION>": RemoteKind.LINK}
    kind = kinds.get(match["size"], RemoteKind.FILE)
    return RemoteEntry(match["name"], kind, int(match["size"][:18]) if kind is RemoteKind.FILE else -1, moment)


def _moment(parts: tuple[int, int, int, int, int]) -> int:
    try:
        return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 0
