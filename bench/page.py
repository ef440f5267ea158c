"""A conversation as our page has it: the page is loaded, its event stream stays open, messages go by other requests."""

import json
import re
from asyncio import IncompleteReadError
from collections.abc import Mapping
from typing import Self
from urllib.parse import urlencode

from bench.client import Connection
from bench.programs import Program

_PLACE = re.compile(rb'data-place="([^"]+)"')
_COOKIE = re.compile(rb"set-cookie: *([^;\r]+)", re.IGNORECASE)
_FORM = "application/x-www-form-urlencoded"
_RUNNING = re.compile(rb'"running": ?true')
_SYNC = b"event: sync\n"
_FRAME_END = b"\n\n"
_TURN = b"event: turn\n"
_TURN_END = b"event: end\n"


class PageChat:
    """One open page. `ask` sends a message and waits until the stream says that the turn has ended."""

    def __init__(self, program: Program, headers: Mapping[str, str], stream: Connection, session_id: str) -> None:
        self._program = program
        self._headers = headers
        self._stream = stream
        self._session_id = session_id

    @classmethod
    async def open(cls, program: Program) -> Self:
        """Begin a conversation, load its page, attach, and wait for the end of the first answer."""
        headers = {"accept": "application/json", "cookie": await _take_cookie(program)}
        control = await Connection.open(program.url, headers)
        told = await control.post("/ui/chat/send", urlencode({"text": "hello"}).encode(), _FORM)
        address: str = json.loads(told.body)["go"]
        shown = (await control.get(address)).body
        while True:
            place = _PLACE.search(shown)
            assert place, shown
            stream = await Connection.open(program.url, {**headers, "connection": "close"})
            try:
                await stream.get(f"/ui{address}/events?after={place.group(1).decode()}", until=_SYNC)
                # An answer that is over already needs no end: the stream of a page that came late may not have it.
                if _RUNNING.search(await stream.read_until(_FRAME_END)):
                    await stream.read_until(_TURN_END)
            except IncompleteReadError:  # an answer came between: the stream says `reload` and ends
                await stream.aclose()
                shown = (await control.get(f"/ui{address}/transcript")).body
            else:
                await control.aclose()
                return cls(program, headers, stream, address.rpartition("/")[2])

    async def ask(self, text: str) -> None:
        """One turn."""
        form = urlencode({"text": text, "session_id": self._session_id})
        # The server has closed a connection that was silent for five seconds; a browser then takes a new one, too.
        control = await Connection.open(self._program.url, self._headers)
        answer = await control.post("/ui/chat/send", form.encode(), _FORM)
        assert answer.status == 200, answer
        await control.aclose()
        await self._stream.read_until(_TURN)
        await self._stream.read_until(_TURN_END)

    async def aclose(self) -> None:
        """Leave the page."""
        await self._stream.aclose()


async def open_and_leave(program: Program) -> None:
    """A new conversation on a page of its own, for one answer."""
    await (await PageChat.open(program)).aclose()


async def _take_cookie(program: Program) -> str:
    first = await Connection.open(program.url, {"accept": "text/html"})
    head = (await first.get("/chat")).head
    await first.aclose()
    cookie = _COOKIE.search(head)
    assert cookie, head
    return cookie.group(1).decode()
