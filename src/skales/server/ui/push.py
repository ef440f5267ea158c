"""Frames to a page over one long answer; text frames that wait together become one."""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import groupby

from skales.server.live import Frame
from skales.server.streams import GatheredResponse


class PushResponse(GatheredResponse[Frame]):
    """Sends frames as server-sent events until they end or the page leaves; then the frames are closed."""

    def __init__(
        self, frames: AsyncGenerator[Frame, None], *, beside: AsyncGenerator[Frame, None] | None = None
    ) -> None:
        super().__init__(frames, encode_frames, beside=beside)


def encode_frames(frames: Sequence[Frame]) -> bytes:
    """Frames as server-sent events."""
    return b"".join(encode_frame(frame) for frame in _join_texts(frames))


def encode_frame(frame: Frame) -> bytes:
    """One server-sent event; the data is JSON, so that no line break is ever special."""
    data = json.dumps(frame.data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {frame.name}\n" if frame.name else ""
    place = f"id: {frame.place}\n" if frame.place else ""
    return f"{name}{place}data: {data}\n\n".encode("utf-8", "backslashreplace")


def _join_texts(frames: Sequence[Frame]) -> Iterator[Frame]:
    for is_text, group in groupby(frames, lambda frame: frame.name == ""):
        if is_text:
            yield Frame("", "".join(str(frame.data) for frame in group))
        else:
            yield from group
