"""kill -9 at every step of a sending: nothing goes out twice unless a person says so, and one question is left.

What arrived is counted at a real mail server and a real HTTP server. The second life resumes the conversation with a
model that stubbornly asks for the same call again.
"""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from skales.app.app import App
from skales.app.outbox import OutboxAnswer, answer_outbox, report_outbox
from skales.app.wiring import build_app
from skales.core.approval import Decision
from skales.core.clock import SystemClock
from skales.core.errors import ConflictError
from skales.core.events import ApprovalRequested
from skales.core.ids import RandomIds, SessionId
from skales.core.json import JsonValue
from skales.core.ports import CallReady, Finished, FinishReason
from skales.core.tool import ToolCall
from skales.data.document import write_object
from skales.data.instance import InstanceLock
from skales.data.outbox import OutboxState
from skales.data.paths import DataDirectory
from tests.process.conftest import TOKEN, environment, run_skales, start_server
from tests.process.outbox_child import POINTS, add_mail_tool
from tests.scripted import ScriptedChooser, ScriptedProvider, says
from tests.servers.json_site import JsonSite

pytestmark = pytest.mark.anyio

# Where nobody can know any more whether it arrived. What is known needs no question.
UNSURE = ("after the mark", "before sending", "after sending began", "before it is accepted")
# Nothing was let run, so that the second life sends it, once and without a question.
UNTOUCHED = ("before the intent", "after the intent")
ARRIVED = ("before it is accepted", "after it is accepted", "before the result", "after the result")


@dataclass
class Mailbox:
    """What a mail server took."""

    keys: list[str] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - its name there
        head = (envelope.original_content or b"").decode().splitlines()[0]
        self.keys.append(head.partition("<")[2].partition("@")[0])
        return "250 Taken"


@dataclass
class Place:
    """A server that counts, and the call that sends to it. `keys` are what each arrival was known by."""

    tool: str
    arguments: dict[str, JsonValue]
    keys: list[str]


@pytest.fixture(params=["mail", "http"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "mail":
        mailbox = Mailbox()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        controller = Controller(mailbox, hostname="127.0.0.1", port=port)
        controller.start()
        try:
            yield Place("send_test_mail", {"to": "ana@example.org", "text": "Hello", "port": port}, mailbox.keys)
        finally:
            controller.stop()
        return
    keys: list[str] = []
    with JsonSite({}) as site:

        def count(_body: object) -> dict[str, bool]:
            keys.append(site.headers[-1].get("idempotency-key", ""))
            return {"taken": True}

        site.answers["/orders"] = count
        yield Place("http_request", {"url": f"{site.url}/orders", "method": "POST", "json": {"item": 7}}, keys)


@pytest.fixture
def sending_home(home: DataDirectory) -> DataDirectory:
    write_object(home.settings, {"safetyMode": "advanced", "allowLoopback": True})
    return home


@pytest.fixture
def mail_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    add_mail_tool(monkeypatch)


def start(home: DataDirectory, place: Place, point: str) -> subprocess.Popen[bytes]:
    """The first life."""
    words = [str(home.root), place.tool, json.dumps(place.arguments), point]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.process.outbox_child", *words],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def live_and_die(home: DataDirectory, place: Place, point: str) -> int:
    """The whole first life; its exit code."""
    return start(home, place, point).wait(timeout=50)


@asynccontextmanager
async def second_life(home: DataDirectory, place: Place) -> AsyncIterator[App]:
    lock = InstanceLock(home)
    lock.acquire(exclusive=True)
    same = ToolCall("call_once_more", place.tool, place.arguments)
    provider = ScriptedProvider([[CallReady(same), Finished(FinishReason.TOOL_CALLS)], says("Done.")])
    app = build_app(home, lock, SystemClock(), RandomIds(), ScriptedChooser(provider))
    app.outbox.recover(is_alone=True)
    async with anyio.create_task_group() as tasks:
        app.turns.open(tasks)
        yield app
        tasks.cancel_scope.cancel()
    await app.close()


async def go_on(app: App, *, says_yes: bool) -> list[ApprovalRequested]:
    """Resume the conversation; questions are answered, and returned."""
    (summary,) = app.sessions.list()
    asked: list[ApprovalRequested] = []
    with anyio.fail_after(20):
        ticket = await app.turns.resume(SessionId(summary.id))
        async for numbered in app.turns.follow(SessionId(summary.id), ticket.after):
            if isinstance(numbered.event, ApprovalRequested):
                asked.append(numbered.event)
                await app.approvals.decide(numbered.event.approval.id, Decision(approved=says_yes))
    return asked


def waiting(app: App) -> Any:
    return report_outbox(app)["waiting"]


@pytest.mark.usefixtures("mail_tool")
@pytest.mark.parametrize("point", POINTS)
async def test_killed_at_any_step_it_is_sent_at_most_once(
    sending_home: DataDirectory, place: Place, point: str
) -> None:
    assert await anyio.to_thread.run_sync(live_and_die, sending_home, place, point) == -9
    arrived = len(place.keys)
    assert arrived == (1 if point in ARRIVED else 0)
    async with second_life(sending_home, place) as app:
        assert len(waiting(app)) == (1 if point in UNSURE else 0)
        asked = await go_on(app, says_yes=False)
        arrived = arrived or int(point in UNTOUCHED)
        assert len(place.keys) == arrived
        # The stubborn model was stopped by a question that says when it was sent.
        assert ["sent" in event.approval.reason for event in asked] == [True]
        assert len(waiting(app)) == (1 if point in UNSURE else 0)
    async with second_life(sending_home, place) as app:
        assert len(waiting(app)) == (1 if point in UNSURE else 0)
        assert len(place.keys) == arrived


@pytest.mark.usefixtures("mail_tool")
@pytest.mark.parametrize("answer", list(OutboxAnswer))
async def test_a_person_settles_it_once(sending_home: DataDirectory, place: Place, answer: OutboxAnswer) -> None:
    await anyio.to_thread.run_sync(live_and_die, sending_home, place, "before it is accepted")
    async with second_life(sending_home, place) as app:
        (question,) = waiting(app)
        intent, result = await answer_outbox(app, question["id"], answer, "test")
        sent_again = answer is OutboxAnswer.AGAIN
        assert (result is not None, bool(result and result.is_error)) == (sent_again, False)
        assert intent.state is (OutboxState.DROPPED if answer is OutboxAnswer.DROP else OutboxState.SENT)
        # The same key, so that a server that knows keys does not take it twice.
        assert place.keys == [question["key"]] * (2 if sent_again else 1)
        for late in OutboxAnswer:
            with pytest.raises(ConflictError):
                await answer_outbox(app, question["id"], late, "test")
        assert (waiting(app), len(place.keys)) == ([], 2 if sent_again else 1)


@pytest.mark.usefixtures("mail_tool")
async def test_two_people_who_say_again_at_once_send_it_once(sending_home: DataDirectory, place: Place) -> None:
    await anyio.to_thread.run_sync(live_and_die, sending_home, place, "after sending began")
    async with second_life(sending_home, place) as app:
        (question,) = waiting(app)
        refused: list[ConflictError] = []

        async def say_again() -> None:
            try:
                await answer_outbox(app, question["id"], OutboxAnswer.AGAIN, "test")
            except ConflictError as error:
                refused.append(error)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(say_again)
        assert (len(place.keys), len(refused)) == (1, 4)


async def test_the_program_that_starts_next_asks(sending_home: DataDirectory, place: Place) -> None:
    write_object(sending_home.devkit, {"enabled": True, "version": "0.5.0", "api": {"token": TOKEN}})
    await anyio.to_thread.run_sync(live_and_die, sending_home, place, "before it is accepted")
    served = await anyio.to_thread.run_sync(start_server, sending_home)
    try:
        async with httpx2.AsyncClient(base_url=served.url, headers=served.headers, trust_env=False) as client:
            (question,) = (await client.get("/api/outbox")).json()["waiting"]
            asked = await anyio.to_thread.run_sync(run_skales, sending_home, "outbox")
            assert question["id"] in asked.stdout
            answers = [await client.post(f"/api/outbox/{question['id']}/sent") for _ in range(2)]
            assert [answer.status_code for answer in answers] == [200, 409]
            assert (await client.get("/api/outbox")).json()["waiting"] == []
    finally:
        assert await anyio.to_thread.run_sync(served.stop) == 0
    assert len(place.keys) == 1


async def test_killed_while_the_server_thinks_it_is_a_question(sending_home: DataDirectory) -> None:
    """The request is with the server, whose answer never comes home."""
    arrived, children = threading.Event(), list[subprocess.Popen[bytes]]()

    def kill(_body: object) -> dict[str, bool]:
        arrived.set()
        children[0].kill()
        return {"taken": True}

    with JsonSite({"/orders": kill}) as site:
        site.hold.clear()
        arguments: dict[str, JsonValue] = {"url": f"{site.url}/orders", "method": "POST", "json": {"item": 7}}
        children.append(start(sending_home, Place("http_request", arguments, []), "never"))
        site.hold.set()
        assert await anyio.to_thread.run_sync(lambda: children[0].wait(timeout=50)) == -9
        assert arrived.is_set()
        place = Place("http_request", arguments, [])
        site.answers["/orders"] = {"taken": True}
        async with second_life(sending_home, place) as app:
            (question,) = waiting(app)
            assert question["note"] == "Skales ended while it was sent"
            await go_on(app, says_yes=False)
            assert site.requests == ["POST /orders"]
