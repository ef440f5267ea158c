"""Reads the JSON objects of an event, or of a body that is no event stream, whatever happened to the framing."""

import logging
from collections.abc import Sequence

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, parse_json
from skales.providers.complaints import find_error
from skales.providers.faults import Peer, broken_chunk_fault, no_stream_fault

_log = logging.getLogger(__name__)


def parse_event(data: str, peer: Peer, *, is_last: bool) -> Sequence[JsonObject]:
    """The objects of one event: one, except when the blank line between two events is missing.

    Text that is no JSON at all, such as a keep-alive, holds none; nor does a last event that the end of the body cut.
    Raises ProviderError for a damaged one before that.
    """
    try:
        value = parse_json(data)
    except ValueError:
        return _parse_lines(data, peer, is_last=is_last)
    return [as_object(item) for item in ((value,) if isinstance(value, dict) else as_list(value))]


def _parse_lines(data: str, peer: Peer, *, is_last: bool) -> Sequence[JsonObject]:
    try:
        return [as_object(parse_json(line)) for line in data.split("\n") if line.strip()]
    except ValueError as error:
        if is_last:
            return ()
        if not data.lstrip().startswith(("{", "[{")):
            _log.debug("skipped an event that is no JSON: %.80r", data)
            return ()
        raise broken_chunk_fault(peer) from error


def parse_body(stray: str, peer: Peer) -> Sequence[JsonObject]:
    """The objects of a body that is no event stream: an answer in one piece, or a list of chunks.

    Raises ProviderError when it is something else entirely.
    """
    if not stray:
        return ()
    try:
        value = parse_json(stray)
    except ValueError as error:
        raise no_stream_fault(peer, stray) from error
    return [as_object(item) for item in ((value,) if isinstance(value, dict) else as_list(value))]


class ChoicePicker:
    """Picks the choice or candidate that is read of each chunk: the one seen first. Nobody asks for others."""

    def __init__(self) -> None:
        self._index: int | None = None

    def pick(self, rows: JsonValue) -> JsonObject:
        """The row of the choice that is read; empty when the chunk has none."""
        for row in map(as_object, as_list(rows)):
            index = as_int(row.get("index"))
            if row and self._index in (None, index):
                self._index = index
                return row
        return {}


def find_stray_error(stray: str) -> JsonValue:
    """The error that stands outside the event stream; None when there is only noise."""
    try:
        return find_error(as_object(parse_json(stray)))
    except ValueError:
        _log.debug("skipped text outside the event stream: %.80r", stray)
        return None
