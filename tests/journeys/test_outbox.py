"""What goes out goes out once: repeats ask, errors before the first byte do not count, doubt waits for a person."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence

import anyio
import pytest

from skales.app.app import App
from skales.app.outbox import OutboxAnswer, answer_outbox, list_outbox, report_outbox
from skales.core.approval import Decision
from skales.core.errors import NotFoundError
from skales.core.events import ApprovalRequested, ToolFinished, TurnEvent
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.ports import CallReady, Finished, FinishReason
from skales.core.tool import ToolCall
from skales.data.document import write_object
from skales.data.grants import Grant, Reach, ReachKind
from skales.data.outbox import OutboxState
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp, collect, run_turn
from tests.scripted import Piece, says
from tests.servers.json_site import JsonSite

pytestmark = pytest.mark.anyio


@pytest.fixture
def site() -> Iterator[JsonSite]:
    with JsonSite({"/orders": {"taken": True}, "/bad": (400, {}), "/busy": (503, {}), "/broken": (500, {})}) as site:
        yield site


@pytest.fixture(autouse=True)
def unasked(home: DataDirectory) -> None:
    """Tools that ask run unasked, so that every question here is one of the outbox."""
    write_object(home.settings, {"safetyMode": "advanced", "allowLoopback": True})


@pytest.fixture
def untainted(home: DataDirectory) -> None:
    """What was read asks nothing either: the mode in which taint only warns."""
    write_object(home.settings, {"safetyMode": "unrestricted", "allowLoopback": True})


def order(number: int, address: str, item: int = 7, **more: JsonValue) -> list[Piece]:
    """The model's wish to order something."""
    arguments: dict[str, JsonValue] = {"url": address, "method": "POST", "json": {"item": item}, **more}
    return [CallReady(ToolCall(f"call_{number}", "http_request", arguments)), Finished(FinishReason.TOOL_CALLS)]


async def talk(
    app: App, text: str, session_id: SessionId | None = None, *, yes: bool = False
) -> tuple[SessionId, Sequence[TurnEvent]]:
    """One turn; every question gets the same answer."""
    session_id = session_id or app.sessions.create().id
    ticket = await app.turns.start(session_id, text)
    seen: list[TurnEvent] = []
    with anyio.fail_after(10):
        async for numbered in app.turns.follow(session_id, ticket.after):
            seen.append(numbered.event)
            if isinstance(numbered.event, ApprovalRequested):
                await app.approvals.decide(numbered.event.approval.id, Decision(approved=yes))
    return session_id, seen


def reasons(events: Sequence[TurnEvent]) -> list[str]:
    return [event.approval.reason for event in events if isinstance(event, ApprovalRequested)]


def results(events: Sequence[TurnEvent]) -> list[str]:
    return [event.result.text for event in events if isinstance(event, ToolFinished)]


def states(app: App) -> list[OutboxState]:
    return [intent.state for intent in reversed(app.outbox.store.list())]


def posts(site: JsonSite) -> list[Mapping[str, str]]:
    return [head for line, head in zip(site.requests, site.headers, strict=True) if line.startswith("POST")]


async def test_a_request_that_changes_something_is_written_down_and_carries_its_key(
    open_scripted: OpenApp, site: JsonSite
) -> None:
    async with open_scripted(order(1, f"{site.url}/orders"), says("Done.")) as app:
        await talk(app, "Order it")
        ((intent,), (head,)) = (list_outbox(app)[1], posts(site))
        assert (intent.state, intent.draft.tool, intent.draft.call_id) == (OutboxState.SENT, "http_request", "call_1")
        assert head["idempotency-key"] == intent.key


@pytest.mark.usefixtures("untainted")
async def test_what_only_reads_is_not_counted(open_scripted: OpenApp, site: JsonSite) -> None:
    look: dict[str, JsonValue] = {"url": f"{site.url}/orders", "method": "GET"}
    reads = [CallReady(ToolCall(f"call_{n}", "http_request", look)) for n in range(2)]
    async with open_scripted([*reads, Finished(FinishReason.TOOL_CALLS)], says("Done.")) as app:
        _session, events = await talk(app, "Look")
        assert (reasons(events), app.outbox.store.list()) == ([], [])
        assert all("idempotency-key" not in head for head in site.headers)


@pytest.mark.parametrize("yes", [True, False])
async def test_the_same_again_in_a_turn_asks_first_and_says_when(
    open_scripted: OpenApp, site: JsonSite, yes: bool
) -> None:
    # Written in another order and with a default spelled out, it is the same.
    again: dict[str, JsonValue] = {"json": {"item": 7}, "timeout_s": 30, "method": "POST", "url": f"{site.url}/orders"}
    same: list[Piece] = [CallReady(ToolCall("call_2", "http_request", again)), Finished(FinishReason.TOOL_CALLS)]
    async with open_scripted(order(1, f"{site.url}/orders"), same, says("Done.")) as app:
        _session, events = await talk(app, "Order it", yes=yes)
        (reason,) = reasons(events)
        assert reason.startswith("The same was sent already, on 20")
        assert len(posts(site)) == (2 if yes else 1)
        assert len({head["idempotency-key"] for head in posts(site)}) == len(posts(site))


async def test_a_lasting_yes_does_not_cover_sending_twice(open_scripted: OpenApp, site: JsonSite) -> None:
    async with open_scripted(order(1, f"{site.url}/orders"), order(2, f"{site.url}/orders"), says("Done.")) as app:
        app.settings.update(lambda raw: raw.update({"safetyMode": "safe"}))
        reach = Reach(kind=ReachKind.PLACES, origins={"url": site.url}, fixed={"method": "POST"})
        app.grants.add(Grant(id="", tool="http_request", session_id="", reach=reach))
        _session, events = await talk(app, "Order it")
        assert (len(reasons(events)), len(posts(site))) == (1, 1)


@pytest.mark.usefixtures("untainted")
async def test_another_content_and_another_turn_are_not_asked_about(open_scripted: OpenApp, site: JsonSite) -> None:
    address = f"{site.url}/orders"
    steps = [order(1, address), order(2, address, item=8), says("Done."), order(3, address), says("Done.")]
    async with open_scripted(*steps) as app:
        session_id, first = await talk(app, "Order both")
        _session, second = await talk(app, "Order it once more", session_id)
        assert (reasons(first), reasons(second), len(posts(site))) == ([], [], 3)


async def test_the_same_call_of_a_person_runs(open_scripted: OpenApp, site: JsonSite) -> None:
    async with open_scripted(says("Done.")) as app:
        for _ in range(2):
            await app.run_tool("http_request", {"url": f"{site.url}/orders", "method": "POST"})
        assert (len(posts(site)), states(app)) == (2, [OutboxState.SENT] * 2)


@pytest.mark.usefixtures("untainted")
@pytest.mark.parametrize("path", ["/bad", "/busy"])
async def test_what_the_other_side_did_not_take_may_be_tried_again(
    open_scripted: OpenApp, site: JsonSite, path: str
) -> None:
    async with open_scripted(order(1, site.url + path), order(2, site.url + path), says("No.")) as app:
        _session, events = await talk(app, "Order it")
        assert (reasons(events), states(app)) == ([], [OutboxState.FAILED] * 2)


async def test_what_broke_at_the_other_side_arrived(open_scripted: OpenApp, site: JsonSite) -> None:
    async with open_scripted(order(1, f"{site.url}/broken"), order(2, f"{site.url}/broken"), says("No.")) as app:
        _session, events = await talk(app, "Order it")
        assert (len(reasons(events)), states(app)) == (1, [OutboxState.SENT])


async def test_nothing_counts_before_the_first_byte(open_scripted: OpenApp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    nowhere = "http://nowhere.invalid/"
    steps = [order(1, address), order(2, address), order(3, nowhere), order(4, nowhere), says("No.")]
    async with open_scripted(*steps) as app:
        _session, events = await talk(app, "Order it")
        assert (reasons(events), states(app)) == ([], [OutboxState.FAILED] * 4)
        assert all("may have arrived" not in text for text in results(events))


@pytest.fixture
def silent() -> Iterator[tuple[str, list[bytes]]]:
    """A server that reads what it is sent and hangs up without a word."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _address = server.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(65536))

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/orders", heard
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


async def test_a_server_that_hangs_up_leaves_one_question_and_the_model_is_told(
    open_scripted: OpenApp, silent: tuple[str, list[bytes]]
) -> None:
    address, heard = silent
    async with open_scripted(order(1, address), order(2, address), says("I do not know.")) as app:
        _session, events = await talk(app, "Order it")
        assert len(heard) == 1
        assert "It may have arrived all the same. Do not send it again" in results(events)[0]
        assert "may have arrived" in reasons(events)[0]
        (question,) = list_outbox(app)[0]
        assert question.note.startswith("The answer of 127.0.0.1")
        notices = [entry for entry in app.notices.entries() if entry.subject == "unsure"]
        assert [entry.text for entry in notices] == [question.draft.action]


async def test_a_yes_to_the_same_call_settles_the_doubt(
    open_scripted: OpenApp, silent: tuple[str, list[bytes]]
) -> None:
    address, heard = silent
    async with open_scripted(order(1, address), order(2, address), says("I do not know.")) as app:
        await talk(app, "Order it", yes=True)
        assert len(heard) == 2
        assert states(app) == [OutboxState.DROPPED, OutboxState.MAYBE]


async def test_stopping_while_the_server_thinks_leaves_a_question(open_scripted: OpenApp, site: JsonSite) -> None:
    site.hold.clear()
    async with open_scripted(order(1, f"{site.url}/orders"), says("Done.")) as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "Order it")
        with anyio.fail_after(5):
            while not site.requests:  # noqa: ASYNC110 - a thread's list has no event
                await anyio.sleep(0.005)
        app.turns.stop(session_id)
        events = await collect(app, session_id, ticket.after)
        (question,) = list_outbox(app)[0]
        assert question.note == "It was stopped while it was sent"
        assert "Interrupted while it was sent" in results(events)[0]


async def test_sending_again_that_cannot_run_stays_a_question(
    open_scripted: OpenApp, home: DataDirectory, silent: tuple[str, list[bytes]]
) -> None:
    address, heard = silent
    async with open_scripted(order(1, address), says("I do not know.")) as app:
        await talk(app, "Order it")
        app.settings.update(lambda raw: raw.update({"allowLoopback": False}))
        (question,) = list_outbox(app)[0]
        intent, result = await answer_outbox(app, question.id, OutboxAnswer.AGAIN, "test")
        assert result is not None
        assert result.text.startswith("BLOCKED")
        assert (intent.state, len(heard)) == (OutboxState.MAYBE, 1)
        assert not list((home.root / "run" / "started").iterdir())


async def test_an_answer_about_nothing_is_refused(open_scripted: OpenApp) -> None:
    async with open_scripted(says("Hello.")) as app:
        for wrong in ("out_0000000000000000", "../settings", ""):
            with pytest.raises(NotFoundError):
                await answer_outbox(app, wrong, OutboxAnswer.SENT, "test")


async def test_secrets_in_what_is_sent_are_not_shown(open_scripted: OpenApp, site: JsonSite) -> None:
    address = f"{site.url}/orders?api_key=sk-abcdefghijklmnopqrstuvwxyz123456"
    async with open_scripted(order(1, address), says("Done.")) as app:
        await talk(app, "Order it")
        assert "sk-abcdefghijkl" not in json.dumps(report_outbox(app))


async def test_what_cannot_be_written_down_is_not_sent(
    open_scripted: OpenApp, home: DataDirectory, site: JsonSite
) -> None:
    home.outbox.write_text("in the way", encoding="utf-8")
    async with open_scripted(order(1, f"{site.url}/orders"), says("No.")) as app:
        _session, events = await run_turn(app, "Order it")
        assert (site.requests, len(results(events))) == ([], 1)
        assert [event.result.is_error for event in events if isinstance(event, ToolFinished)] == [True]


async def test_tools_that_send_once_are_known(open_scripted: OpenApp) -> None:
    async with open_scripted(says("Hello.")) as app:
        once = {spec.name for spec in app.toolbox.specs() if spec.once}
        assert once == {"http_request", "connector_request", "ftp_publish", "ftp_upload", "deploy_project"}
