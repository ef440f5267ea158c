"""Bytes of an event stream to events, by the grammar of the HTML standard, and nothing of what the events mean.

A body that is no event stream shows as `stray` text: lines that no event stream has. The wire format looks at it when
no event came. Spec: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from msgspec import Struct

from skales.core.errors import ProviderError, ProviderFault

# A picture in an answer may take megabytes; beyond this the endpoint is broken or hostile.
MAX_EVENT_BYTES = 16 * 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ServerEvent(Struct, frozen=True):
    """One dispatched event. `name` is empty unless the stream named it."""

    name: str
    data: str


class EventStreamParser:
    """Feed it pieces of any size; it gives whole events. Not reusable for a second stream."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_event_bytes
        self._tail: list[bytes] = []
        self._tail_bytes = 0
        self._skip_newline = False
        self._at_start = True
        self._name = b""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._stray: list[bytes] = []
        self._stray_bytes = 0

    @property
    def stray(self) -> str:
        """What stood outside every field, line by line: the whole body when it is no event stream."""
        return b"\n".join(self._stray).decode("utf-8", "replace").strip()

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """The events that this piece completes. Raises ProviderError when one grows beyond the limit."""
        # A CR ends its line at once; an LF right after it belongs to it, also when it comes in the next piece.
        if self._skip_newline and piece:
            self._skip_newline = False
            piece = piece.removeprefix(b"\n")
        if b"\r" in piece:
            self._skip_newline = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = piece.split(b"\n")
        self._keep_tail(lines[0])
        if len(lines) == 1:
            return []
        lines[0] = self._take_tail()
        self._keep_tail(lines.pop())
        events: list[ServerEvent] = []
        for line in lines:
            self._read_line(line, events)
        return events

    def finish(self) -> list[ServerEvent]:
        """What an unfinished last line and event still hold when the body ends.

        The standard drops them; endpoints that forget the last blank line are more common than cut events, and a cut
        one does not parse as JSON.
        """
        events: list[ServerEvent] = []
        self._read_line(self._take_tail(), events)
        self._read_line(b"", events)
        return events

    def _keep_tail(self, text: bytes) -> None:
        self._tail.append(text)
        self._tail_bytes += len(text)
        self._check_size(self._tail_bytes)

    def _take_tail(self) -> bytes:
        line = b"".join(self._tail)
        self._tail = []
        self._tail_bytes = 0
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        return line

    def _read_line(self, line: bytes, events: list[ServerEvent]) -> None:
        if not line:
            if self._data:
                events.append(self._dispatch())
            self._name = b""
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._data.append(value)
                self._data_bytes += len(value)
                self._check_size(self._data_bytes)
            case b"event":
                self._name = value
            case b"" | b"id" | b"retry":
                # Comments keep the connection alive; ids and retries serve a reconnection that chats do not have.
                pass
            case _:
                self._stray.append(line)
                self._stray_bytes += len(line)
                self._check_size(self._stray_bytes)

    def _dispatch(self) -> ServerEvent:
        data = b"\n".join(self._data).decode("utf-8", "replace")
        self._data = []
        self._data_bytes = 0
        return ServerEvent(self._name.decode("utf-8", "replace"), data)

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > self._max_bytes:
            raise ProviderError(
                f"The endpoint sent one event larger than {self._max_bytes // 1024} KB",
                fault=ProviderFault.BAD_ANSWER,
                hint="Check that the base URL is a chat endpoint",
            )
