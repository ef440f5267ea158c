"""What a turn does with its history, its tools and its limits, seen from the app's own face."""

import json

import anyio
import pytest

from skales.core.approval import Decision, Scope
from skales.core.errors import NotFoundError, ProviderError, ProviderFault
from skales.core.events import (
    ApprovalRequested,
    MessageQueued,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnd,
)
from skales.core.ids import SessionId
from skales.core.message import Role
from skales.core.ports import Finished, FinishReason, TextPiece
from skales.data.paths import DataDirectory
from skales.data.started import StartedCalls
from tests.journeys.conftest import OpenApp, collect, end_of, run_turn, wait_for
from tests.scripted import Hang, ScriptedProvider, calls, says

pytestmark = pytest.mark.anyio

CUT = ProviderError("The stream ended early", fault=ProviderFault.STREAM_CUT)


def on_disk(home: DataDirectory, session_id: SessionId) -> list[dict[str, object]]:
    messages = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))["messages"]
    assert isinstance(messages, list)
    return messages


async def test_an_answer_streams_and_is_on_disk_with_its_model(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted(says("Paris.")) as app:
        session_id, events = await run_turn(app, "Capital of France?")
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Paris."
    assert end_of(events).end is TurnEnd.COMPLETED
    user, answer = on_disk(home, session_id)
    assert (user["role"], user["content"]) == ("user", "Capital of France?")
    assert (answer["content"], answer["provider"], answer["model"]) == ("Paris.", "scripted", "demo")


async def test_the_users_message_is_on_disk_before_the_provider_is_asked(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    seen: list[object] = []

    def step(_request: object) -> list[TextPiece | Finished]:
        (file,) = home.sessions.glob("*.json")
        seen.append(json.loads(file.read_text(encoding="utf-8"))["messages"][-1]["content"])
        return [TextPiece("ok"), Finished(FinishReason.STOP)]

    async with open_scripted(step) as app:
        await run_turn(app, "remember me")
    assert seen == ["remember me"]


async def test_parallel_calls_run_in_order_and_their_results_go_back(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    (home.workspace / "a.txt").write_text("alpha", encoding="utf-8")
    (home.workspace / "b.txt").write_text("beta", encoding="utf-8")
    provider = ScriptedProvider(
        [calls(("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})), says("alpha and beta")]
    )
    async with open_scripted(provider=provider) as app:
        _, events = await run_turn(app, "read both")
    assert [event.first_of_batch for event in events if isinstance(event, ToolStarted)] == [True, False]
    results = [message for message in provider.requests[1].messages if message.role is Role.TOOL]
    assert "alpha" in results[0].text
    assert "beta" in results[1].text


async def test_a_tool_that_does_not_exist_is_explained_to_the_model(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([calls(("read_fil", {"path": "a"})), says("sorry")])
    async with open_scripted(provider=provider) as app:
        _, events = await run_turn(app, "go")
    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    assert finished.result.is_error
    assert "read_file" in provider.requests[1].messages[-1].text


async def test_wrong_argument_types_are_explained_to_the_model(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([calls(("read_file", {"path": "a", "start": "soon"})), says("sorry")])
    async with open_scripted(provider=provider) as app:
        await run_turn(app, "go")
    assert "start" in provider.requests[1].messages[-1].text


async def test_a_path_outside_is_blocked_without_asking(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([calls(("write_file", {"path": "/etc/hosts", "content": "x"})), says("no")])
    async with open_scripted(provider=provider) as app:
        _, events = await run_turn(app, "go")
    assert not [event for event in events if isinstance(event, ApprovalRequested)]
    assert "BLOCKED" in provider.requests[1].messages[-1].text


async def test_the_own_settings_cannot_be_read_in_any_mode(open_scripted: OpenApp, home: DataDirectory) -> None:
    provider = ScriptedProvider([calls(("read_file", {"path": str(home.settings)})), says("no")])
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("fileAccessMode", "unrestricted")
        app.settings.set_value("safetyMode", "unrestricted")
        await run_turn(app, "go")
    assert "BLOCKED" in provider.requests[1].messages[-1].text


async def test_a_confirm_tool_waits_and_runs_after_yes(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted(calls(("write_file", {"path": "n.txt", "content": "hi"})), says("done")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        assert [path.stem for path in home.approvals.glob("*.json")] == [asked.approval.id]
        assert not (home.workspace / "n.txt").exists()
        await app.approvals.decide(asked.approval.id, Decision(approved=True))
        await collect(app, session_id)
        with pytest.raises(NotFoundError):
            await app.approvals.decide(asked.approval.id, Decision(approved=True))
    assert (home.workspace / "n.txt").read_text(encoding="utf-8") == "hi"
    assert not list(home.approvals.glob("*.json"))


async def test_no_and_instead_reaches_the_model(open_scripted: OpenApp, home: DataDirectory) -> None:
    provider = ScriptedProvider([calls(("write_file", {"path": "n.txt", "content": "hi"})), says("fine")])
    async with open_scripted(provider=provider) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        await app.approvals.decide(asked.approval.id, Decision(approved=False, instead="use notes.md"))
        await collect(app, session_id)
    assert "use notes.md" in provider.requests[1].messages[-1].text
    assert not (home.workspace / "n.txt").exists()


async def test_edited_arguments_run_instead_and_bad_ones_do_not_use_the_question_up(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted(calls(("write_file", {"path": "n.txt", "content": "hi"})), says("done")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        with pytest.raises(Exception, match="content"):
            await app.approvals.decide(asked.approval.id, Decision(approved=True, args={"path": "m.txt"}))
        edited = Decision(approved=True, args={"path": "m.txt", "content": "ho"})
        await app.approvals.decide(asked.approval.id, edited)
        await collect(app, session_id)
    assert (home.workspace / "m.txt").read_text(encoding="utf-8") == "ho"
    assert not (home.workspace / "n.txt").exists()


async def test_a_yes_for_the_conversation_covers_its_next_call_and_no_other_conversation(
    open_scripted: OpenApp,
) -> None:
    steps = (
        calls(("write_file", {"path": "1.txt", "content": "1"})),
        calls(("write_file", {"path": "2.txt", "content": "2"})),
        says("done"),
        calls(("write_file", {"path": "3.txt", "content": "3"})),
    )
    async with open_scripted(*steps) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        await app.approvals.decide(asked.approval.id, Decision(approved=True, scope=Scope.SESSION))
        events = await collect(app, session_id)
        assert len([event for event in events if isinstance(event, ApprovalRequested)]) == 1
        other = app.sessions.create().id
        await app.turns.start(other, "write")
        assert isinstance(await wait_for(app, other, ApprovalRequested), ApprovalRequested)


async def test_an_approval_survives_an_orderly_end_and_its_turn_goes_on(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted(calls(("write_file", {"path": "n.txt", "content": "hi"}))) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        await wait_for(app, session_id, ApprovalRequested)
        app.turns.leave()
    async with open_scripted(says("written")) as app:
        (pending,) = await app.approvals.pending()
        await app.approvals.decide(pending.id, Decision(approved=True))
        await collect(app, session_id)
    assert (home.workspace / "n.txt").read_text(encoding="utf-8") == "hi"
    assert [message["role"] for message in on_disk(home, session_id)] == ["user", "assistant", "tool", "assistant"]


async def test_an_approval_survives_a_restart_and_its_turn_goes_on(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted(calls(("write_file", {"path": "n.txt", "content": "hi"}))) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        saved = (home.approvals / f"{asked.approval.id}.json").read_bytes()
        history = (home.sessions / f"{session_id}.json").read_bytes()
    # As kill -9 would have left it.
    (home.approvals / f"{asked.approval.id}.json").write_bytes(saved)
    (home.sessions / f"{session_id}.json").write_bytes(history)
    provider = ScriptedProvider([says("written")])
    async with open_scripted(provider=provider) as app:
        (pending,) = await app.approvals.pending()
        await app.approvals.decide(pending.id, Decision(approved=True))
        await collect(app, session_id)
    assert (home.workspace / "n.txt").read_text(encoding="utf-8") == "hi"
    assert [message["role"] for message in on_disk(home, session_id)] == ["user", "assistant", "tool", "assistant"]


async def test_a_call_that_may_have_run_before_a_crash_is_not_run_again(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    provider = ScriptedProvider([says("ok")])
    async with open_scripted(provider=provider) as app:
        session_id = app.sessions.create().id
    messages = [
        {"role": "user", "content": "write"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "write_file", "arguments": '{"path": "n.txt", "content": "hi"}'},
                }
            ],
        },
    ]
    file = home.sessions / f"{session_id}.json"
    file.write_text(
        json.dumps({**json.loads(file.read_text(encoding="utf-8")), "messages": messages}), encoding="utf-8"
    )
    async with open_scripted(provider=provider) as app:
        StartedCalls(home).mark(session_id, "c1")
        await app.turns.resume(session_id)
        await collect(app, session_id)
    assert "not known" in provider.requests[0].messages[-1].text
    assert not (home.workspace / "n.txt").exists()


async def test_stop_keeps_the_partial_text_and_the_session_goes_on(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted([TextPiece("Once upon"), Hang()], says("a time")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "tell")
        await wait_for(app, session_id, TextDelta)
        assert app.turns.stop(session_id)
        events = await collect(app, session_id)
        assert end_of(events).end is TurnEnd.STOPPED
        await run_turn(app, "go on", session_id)
    contents = [(message["content"], message.get("incomplete")) for message in on_disk(home, session_id)]
    assert contents == [("tell", None), ("Once upon", "stopped"), ("go on", None), ("a time", None)]


async def test_a_cut_stream_keeps_its_text_and_names_the_cause(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted([TextPiece("Half"), CUT]) as app:
        session_id, events = await run_turn(app, "tell")
    assert (end_of(events).end, end_of(events).error) == (TurnEnd.FAILED, "The stream ended early")
    assert on_disk(home, session_id)[1]["incomplete"] == "cut"


async def test_a_message_sent_meanwhile_is_queued_on_disk_and_answered_next(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    provider = ScriptedProvider([[TextPiece("one"), Hang()], says("two")])
    async with open_scripted(provider=provider) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "first")
        await wait_for(app, session_id, TextDelta)
        assert (await app.turns.start(session_id, "second")).queued
        ticket = await app.turns.start(session_id, "third")
        await wait_for(app, session_id, MessageQueued)
        assert json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))["queued"] == [
            "second",
            "third",
        ]
        app.turns.stop(session_id)
        await collect(app, session_id, ticket.after)
        with anyio.fail_after(5):
            while app.turns.running(session_id):
                await anyio.lowlevel.checkpoint()
    contents = [message["content"] for message in on_disk(home, session_id)]
    assert contents == ["first", "one", "second\n\nthird", "two"]
    assert not json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8")).get("queued")


async def test_messages_that_waited_through_a_restart_come_before_the_next_one(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted(says("ok")) as app:
        session_id = app.sessions.create().id
        app.sessions.queue(session_id, "earlier")
        await run_turn(app, "later", session_id)
    assert [message["content"] for message in on_disk(home, session_id)] == ["earlier\n\nlater", "ok"]


async def test_the_third_identical_call_is_guarded_and_the_fifth_ends_the_turn(open_scripted: OpenApp) -> None:
    async with open_scripted(calls(("list_directory", {"path": "."}))) as app:
        _, events = await run_turn(app, "loop")
    finished = [event for event in events if isinstance(event, ToolFinished)]
    assert [event.result.is_error for event in finished] == [False, False, True, True, True]
    assert end_of(events).end is TurnEnd.LIMIT


async def test_forty_steps_are_the_limit(open_scripted: OpenApp) -> None:
    numbers = iter(range(1000))

    def step(_request: object) -> list[object]:
        number = next(numbers)
        names = ("list_directory", "find_files", "get_file_info")
        return list(calls((names[number % 3], {"path": f"./{number}"})))

    async with open_scripted(step) as app:
        _, events = await run_turn(app, "loop")
    assert end_of(events).end is TurnEnd.LIMIT
    assert "40" in end_of(events).error


async def test_a_long_result_goes_to_a_file_and_the_model_gets_head_tail_and_path(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    command = "for n in $(seq 0 1999); do echo line $n of many, each with some words; done"
    provider = ScriptedProvider([calls(("execute_command", {"command": command})), says("read")])
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("safetyMode", "advanced")
        await run_turn(app, "count")
    told = provider.requests[1].messages[-1].text
    (spilled,) = home.results.rglob("*.txt")
    assert len(told) <= 20_000
    assert "line 0 " in told
    assert "line 1999" in told
    assert str(spilled) in told
    assert "line 1000 of many" in spilled.read_text(encoding="utf-8")


async def test_a_tool_command_runs_without_a_model_and_without_asking(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    provider = ScriptedProvider([says("unused")])
    async with open_scripted(provider=provider) as app:
        _, events = await run_turn(app, '/tool write_file path=n.txt content="hi there"')
    assert end_of(events).end is TurnEnd.COMPLETED
    assert (home.workspace / "n.txt").read_text(encoding="utf-8") == "hi there"
    assert provider.requests == []


async def test_a_tool_command_with_an_unknown_tool_says_so(open_scripted: OpenApp) -> None:
    async with open_scripted(says("unused")) as app:
        _, events = await run_turn(app, "/tool fly")
    assert "fly" in end_of(events).error


async def test_ask_user_waits_for_words(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([calls(("ask_user", {"question": "Which?", "options": ["a", "b"]})), says("b then")])
    async with open_scripted(provider=provider) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "choose")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        assert asked.approval.options == ("a", "b")
        await app.approvals.decide(asked.approval.id, Decision(approved=True, instead="b"))
        await collect(app, session_id)
    assert provider.requests[1].messages[-1].text == "The person answered: b"


async def test_no_answer_in_time_means_no(open_scripted: OpenApp, home: DataDirectory) -> None:
    provider = ScriptedProvider([calls(("write_file", {"path": "n.txt", "content": "hi"})), says("ok")])
    async with open_scripted(provider=provider) as app:
        app.settings.update(lambda raw: raw.update({"approvalTimeoutSeconds": 5}))
        session_id = app.sessions.create().id
        started = await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested, started.after)
        assert isinstance(asked, ApprovalRequested)
        assert asked.approval.expires_ms - asked.approval.created_ms == 5000


@pytest.mark.parametrize("command", ["cat {}", "head -c 10 < {}", "cp {} here.txt", "sh -c 'cat {}'"])
async def test_the_shell_does_not_reach_the_own_settings(
    open_scripted: OpenApp, home: DataDirectory, command: str
) -> None:
    provider = ScriptedProvider([calls(("execute_command", {"command": command.format(home.settings)})), says("no")])
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("safetyMode", "unrestricted")
        await run_turn(app, "go")
    assert "BLOCKED" in provider.requests[1].messages[-1].text


@pytest.mark.parametrize("mode", ["safe", "advanced"])
async def test_a_dangerous_command_is_blocked_without_asking(open_scripted: OpenApp, mode: str) -> None:
    provider = ScriptedProvider([calls(("execute_command", {"command": "rm -rf / --no-preserve-root"})), says("no")])
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("safetyMode", mode)
        _, events = await run_turn(app, "go")
    assert not [event for event in events if isinstance(event, ApprovalRequested)]
    assert "BLOCKED" in provider.requests[1].messages[-1].text


async def test_an_always_for_a_command_covers_that_command_alone(open_scripted: OpenApp) -> None:
    steps = (
        calls(("execute_command", {"command": "echo one"})),
        calls(("execute_command", {"command": "echo two"})),
        calls(("execute_command", {"command": "echo three && touch pwned"})),
    )
    async with open_scripted(*steps) as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "go")
        first = await wait_for(app, session_id, ApprovalRequested, ticket.after)
        assert isinstance(first, ApprovalRequested)
        assert "echo" in first.approval.covers
        await app.approvals.decide(first.approval.id, Decision(approved=True, scope=Scope.ALWAYS))
        with anyio.fail_after(5):
            while (asked := await app.approvals.pending()) == [] or asked[0].id == first.approval.id:
                await anyio.lowlevel.checkpoint()
        assert asked[0].args["command"] == "echo three && touch pwned"


async def test_an_unknown_session_is_an_error_and_nothing_starts(open_scripted: OpenApp) -> None:
    async with open_scripted(says("x")) as app:
        with pytest.raises(NotFoundError):
            await app.turns.start(SessionId("session_404"), "hello")
        with pytest.raises(NotFoundError):
            await app.turns.start(SessionId("../settings"), "hello")


async def test_old_messages_that_do_not_fit_the_window_are_left_out_with_a_notice(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([says("short " * 2000), says("second")], window_tokens=9000)
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("compactAtPercent", "0")
        session_id, _ = await run_turn(app, "long please " * 500)
        _, events = await run_turn(app, "and now " * 1000, session_id)
    assert [event for event in events if isinstance(event, Notice)]
    assert len(provider.requests[1].messages) == 2
