"""Frames on the wire: gathered, alive in silence, closed when the page leaves."""

import json
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import anyio
import pytest

from skales.server.live import Frame, Place
from skales.server.streams import Outbox
from skales.server.ui.push import PushResponse, encode_frame, encode_frames

pytestmark = pytest.mark.anyio

PLACE = Place("ab12", 7)


def test_a_frame_is_one_event_with_its_place() -> None:
    assert encode_frame(Frame("block", "<p>a\nb</p>", PLACE)) == b'event: block\nid: ab12-7\ndata: "<p>a\\nb</p>"\n\n'
    assert encode_frame(Frame("", "é")) == 'data: "é"\n\n'.encode()


def test_half_a_character_stays_readable_json() -> None:
    line = encode_frame(Frame("", "a\ud83d")).decode().removeprefix("data: ")
    assert json.loads(line) == "a\ud83d"


async def test_text_that_waits_together_is_sent_as_one() -> None:
    outbox = Outbox(encode_frames)
    for frame in (Frame("", "a"), Frame("", "b"), Frame("block", "x", PLACE), Frame("", "c")):
        outbox.put(frame)
    assert await outbox.take(5) == b'data: "ab"\n\nevent: block\nid: ab12-7\ndata: "x"\n\ndata: "c"\n\n'


async def test_silence_gives_an_empty_chunk_and_the_end_gives_none() -> None:
    outbox = Outbox(encode_frames)
    assert await outbox.take(0.01) == b""
    outbox.put(Frame("", "last"))
    outbox.close()
    assert await outbox.take(5) == b'data: "last"\n\n'
    assert await outbox.take(5) is None


async def test_frames_are_closed_when_the_page_leaves() -> None:
    closed = anyio.Event()
    sent: list[bytes] = []
    first_sent = anyio.Event()

    async def frames() -> AsyncGenerator[Frame, None]:
        try:
            yield Frame("sync", {}, PLACE)
            await anyio.sleep_forever()
        finally:
            closed.set()

    async def receive() -> MutableMapping[str, Any]:
        await first_sent.wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            sent.append(message["body"])
            first_sent.set()

    with anyio.fail_after(5):
        await PushResponse(frames())({"type": "http"}, receive, send)
        await closed.wait()
    assert sent == [b"event: sync\nid: ab12-7\ndata: {}\n\n"]


async def test_the_answer_ends_with_its_frames() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def frames() -> AsyncGenerator[Frame, None]:
        yield Frame("reload", None, PLACE)

    async def receive() -> MutableMapping[str, Any]:
        await anyio.sleep_forever()
        raise AssertionError("unreachable")

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    with anyio.fail_after(5):
        await PushResponse(frames())({"type": "http"}, receive, send)
    assert sent[0]["status"] == 200
    assert dict(sent[0]["headers"])[b"content-type"].startswith(b"text/event-stream")
    assert [message["body"] for message in sent[1:]] == [b"event: reload\nid: ab12-7\ndata: null\n\n", b""]
    assert sent[-1]["more_body"] is False
