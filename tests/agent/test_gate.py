"""What the gate lets through, what it says when it does not, and what it writes down."""

import json
import threading
from dataclasses import replace

import anyio
import pytest

from skales.agent.gate import PassedCall, Proceed, Round
from skales.agent.origin import CallOrigin
from skales.core.approval import Decision, Lasting, Scope
from skales.core.clock import SystemClock
from skales.core.errors import StorageError, ToolError
from skales.core.events import Notice
from skales.core.json import JsonObject
from skales.core.tool import Outcome, Safety, SafetyMode, ToolCall, ToolResult, ToolSpec, Verdict
from skales.data.audit_verify import verify_audit
from skales.data.paths import DataDirectory
from tests.agent.conftest import SESSION, OpenStage, spec

pytestmark = pytest.mark.anyio

FREE = spec("look", Safety.AUTO)
ASKS = spec("change", Safety.CONFIRM, path="path")
YES = Decision(approved=True)


def call(name: str, problem: str = "", **arguments: str) -> ToolCall:
    return ToolCall("c1", name, arguments, problem)


def audit(home: DataDirectory) -> list[dict[str, object]]:
    """The lines about decisions."""
    return [line for line in all_lines(home) if line["kind"] == "decision"]


def all_lines(home: DataDirectory) -> list[dict[str, object]]:
    (log,) = home.logs.glob("audit-*.jsonl")
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


async def test_an_unknown_tool_is_answered_with_its_neighbours(open_stage: OpenStage) -> None:
    stage = open_stage(FREE)
    result = await stage.gate.run(call("loook"), stage.origin())
    assert (result.is_error, "Did you mean look?" in result.text) == (True, True)
    assert stage.gate.describe(call("loook")) == "loook"


async def test_a_switched_off_tool_is_refused_by_the_name_of_its_addon(open_stage: OpenStage) -> None:
    stage = open_stage(spec("send", Safety.AUTO, addon="email"))
    result = await stage.gate.run(call("send"), stage.origin())
    assert "'email'" in result.text
    assert stage.toolbox.ran == []


@pytest.mark.parametrize(
    ("given", "words"),
    [(call("look", problem="it ends in the middle"), "it ends in the middle"), (call("look", wrong="x"), "'wrong'")],
)
async def test_unusable_arguments_are_explained(open_stage: OpenStage, given: ToolCall, words: str) -> None:
    stage = open_stage(FREE)
    result = await stage.gate.run(given, stage.origin())
    assert (result.is_error, words in result.text) == (True, True)


async def test_a_tool_for_people_alone_is_not_started_by_a_model(open_stage: OpenStage) -> None:
    stage = open_stage(spec("define", Safety.MANUAL))
    assert (await stage.gate.run(call("define"), stage.origin())).is_error
    assert not (await stage.gate.run(call("define"), stage.origin(by_user=True))).is_error


@pytest.mark.parametrize(
    ("formats", "arguments"),
    [
        ({"path": "path"}, {"path": "/etc/passwd"}),
        ({"path": "path"}, {"path": "a\0b"}),
        ({"url": "uri"}, {"url": "http://169.254.169.254/"}),
        ({"command": "shell-command"}, {"command": "rm -rf /"}),
    ],
)
async def test_rules_about_arguments_hold_even_for_the_person(
    open_stage: OpenStage, formats: dict[str, str], arguments: JsonObject
) -> None:
    stage = open_stage(spec("reach", Safety.AUTO, **formats))
    for by_user in (False, True):
        result = await stage.gate.run(ToolCall("c", "reach", arguments), stage.origin(by_user=by_user))
        assert result.text.startswith("BLOCKED")
    assert stage.toolbox.ran == []


async def test_a_link_is_judged_itself_and_not_by_what_it_leads_to(open_stage: OpenStage) -> None:
    stage = open_stage(spec("unlink", Safety.AUTO, link="path"), spec("read", Safety.AUTO, path="path"))
    (stage.home.workspace / "out").symlink_to("/etc")
    assert not (await stage.gate.run(call("unlink", link="out"), stage.origin())).is_error
    assert (await stage.gate.run(call("read", path="out"), stage.origin())).is_error


async def test_a_command_that_names_no_usable_file_is_left_to_the_shell(open_stage: OpenStage) -> None:
    stage = open_stage(spec("shell", Safety.AUTO, command="shell-command"), mode=SafetyMode.ADVANCED)
    (stage.home.workspace / "loop").symlink_to("loop")
    assert not (await stage.gate.run(call("shell", command="cat loop"), stage.origin())).is_error


async def test_other_argument_types_carry_no_rule(open_stage: OpenStage) -> None:
    stage = open_stage(spec("many", Safety.AUTO, path="path", other="date"))
    given: JsonObject = {"path": ["a", "b", 3], "other": "today", "more": {"x": 1}}
    assert not (await stage.gate.run(ToolCall("c", "many", given), stage.origin())).is_error
    assert not (await stage.gate.run(ToolCall("c", "many", {"path": None}), stage.origin())).is_error


@pytest.mark.parametrize(
    ("decided", "words"),
    [
        (Decision(approved=False), "BLOCKED: the user declined"),
        (Decision(approved=False, instead="ask Ada"), "ask Ada"),
        (Decision(approved=True, args={"path": "/etc/passwd"}), "BLOCKED"),
    ],
)
async def test_a_no_and_a_forbidden_edit_do_not_run(open_stage: OpenStage, decided: Decision, words: str) -> None:
    stage = open_stage(ASKS)
    result = await stage.gate.run(call("change", path="a"), stage.origin(decided=decided))
    assert (result.is_error, words in result.text) == (True, True)
    assert stage.toolbox.ran == []


async def test_the_person_is_shown_what_would_change(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS, timeout_s=0)
    await stage.gate.run(call("change", path="a"), stage.origin())
    assert stage.asked[0].approval.preview == "--- before\n+++ after change"


async def test_a_preview_that_fails_leaves_the_question_to_the_person(open_stage: OpenStage) -> None:
    stage = open_stage(spec("break_badly", Safety.CONFIRM), timeout_s=0)
    await stage.gate.run(call("break_badly"), stage.origin())
    assert stage.asked[0].approval.preview == ""


async def test_nobody_answering_counts_as_no(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS, timeout_s=0)
    result = await stage.gate.run(call("change", path="a"), stage.origin())
    assert "nobody answered in time" in result.text
    assert not list(stage.home.approvals.glob("*.json"))


@pytest.mark.parametrize(("scope", "reach"), [(Scope.ONCE, []), (Scope.SESSION, [SESSION]), (Scope.ALWAYS, [""])])
async def test_a_wider_yes_is_remembered_as_far_as_it_reaches(
    open_stage: OpenStage, scope: Scope, reach: list[str]
) -> None:
    stage = open_stage(ASKS)
    decided = Decision(approved=True, scope=scope)
    await stage.gate.run(call("change", path="a"), stage.origin(decided=decided))
    assert [grant.session_id for grant in stage.grants.list()] == reach


async def test_a_yes_for_a_conversation_without_one_is_kept_nowhere(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS)
    origin = stage.origin(decided=Decision(approved=True, scope=Scope.SESSION))
    loose = type(origin)(session_id=type(SESSION)(""), surface="test", emit=origin.emit, decided=origin.decided)
    await stage.gate.run(call("change", path="a"), loose)
    assert stage.grants.list() == []


async def test_no_wider_yes_is_offered_for_a_command_that_could_do_anything(open_stage: OpenStage) -> None:
    stage = open_stage(spec("shell", Safety.CONFIRM, command="shell-command"), timeout_s=0)
    await stage.gate.run(call("shell", command="python3 -c 'print(1)'"), stage.origin())
    assert stage.asked[0].approval.covers == ""
    always = Decision(approved=True, scope=Scope.ALWAYS)
    await stage.gate.run(call("shell", command="python3 x.py"), stage.origin(decided=always))
    assert stage.grants.list() == []


@pytest.mark.parametrize(
    ("name", "words"), [("break_well", "It cannot be done. Try later"), ("break_badly", "ZeroDivisionError: oops")]
)
async def test_a_failing_tool_is_a_result_for_the_model(open_stage: OpenStage, name: str, words: str) -> None:
    stage = open_stage(spec(name, Safety.AUTO))
    result = await stage.gate.run(call(name), stage.origin())
    assert (result.is_error, words in result.text) == (True, True)


async def test_each_decision_is_one_line_with_secrets_masked(open_stage: OpenStage) -> None:
    stage = open_stage(FREE, ASKS)
    key = "sk-proj-" + "0123456789abcdefghij"
    await stage.gate.run(call("look", text=key), stage.origin())
    await stage.gate.run(call("change", path="a"), stage.origin(decided=YES))
    await stage.gate.run(call("change", path="/etc/x"), stage.origin())
    await stage.gate.run(call("nothing"), stage.origin(by_user=True))
    lines = audit(stage.home)
    assert [line["decision"] for line in lines] == ["auto", "approved", "blocked", "unknown"]
    assert key not in json.dumps(lines)


async def test_decision_question_and_run_are_linked(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS, timeout_s=0)
    await stage.gate.run(call("change", path="a"), stage.origin())
    (expired,) = audit(stage.home)
    assert (expired["approval"], expired["decision"]) == (stage.asked[0].approval.id, "expired")
    await stage.gate.run(call("change", path="a"), stage.origin(decided=YES))
    *_, decision, run = all_lines(stage.home)
    assert (decision["kind"], run["kind"], run["of"]) == ("decision", "run", decision["n"])
    assert run["ok"] is True
    assert decision["effects"] == ["writes"]


async def test_a_call_that_is_cut_off_has_its_lines(open_stage: OpenStage) -> None:
    async def wait(_passed: PassedCall, _proceed: Proceed) -> ToolResult:
        scope.cancel()
        await anyio.sleep(5)
        raise AssertionError

    stage = open_stage(FREE, ASKS, rounds=[wait])
    with anyio.CancelScope() as scope:
        await stage.gate.run(call("look"), stage.origin())
    assert all_lines(stage.home)[-1]["error"] == "Stopped while it ran"
    with anyio.CancelScope() as scope:
        scope.cancel()
        await stage.gate.run(call("change", path="a"), stage.origin())
    assert audit(stage.home)[-1]["decision"] == "cancelled"
    assert verify_audit(stage.home).is_whole


async def test_what_rounds_do_afterwards_is_done_in_one_thread_in_their_order(open_stage: OpenStage) -> None:
    threads: list[int] = []

    def round_of(name: str) -> Round:
        def settle(result: ToolResult) -> ToolResult:
            threads.append(threading.get_ident())
            return replace(result, text=f"{result.text} {name}")

        async def go(passed: PassedCall, proceed: Proceed) -> ToolResult:
            result = await proceed(replace(passed))
            passed.afterwards.append(settle)
            return result

        return go

    def keep(result: ToolResult) -> str:
        threads.append(threading.get_ident())
        assert all_lines(stage.home)[-1]["kind"] == "run"
        return result.text

    stage = open_stage(FREE, rounds=[round_of("outer"), round_of("inner")])
    assert await stage.gate.run_for(call("look"), stage.origin(), keep) == "done inner outer"
    assert len(set(threads)) == 1
    assert threading.get_ident() not in threads


async def test_a_secret_that_rounds_uncover_afterwards_is_masked_in_the_end(open_stage: OpenStage) -> None:
    key = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5q" * 2

    async def uncover(passed: PassedCall, proceed: Proceed) -> ToolResult:
        result = await proceed(passed)
        passed.afterwards.append(lambda settled: replace(settled, text=f"{settled.text} {key}"))
        return result

    stage = open_stage(FREE, rounds=[uncover])
    assert key not in (await stage.gate.run(call("look"), stage.origin())).text


async def test_what_cannot_be_noted_of_a_result_withholds_it(open_stage: OpenStage) -> None:
    def fail(_result: ToolResult) -> ToolResult:
        raise StorageError("The marks cannot be written")

    async def go(passed: PassedCall, proceed: Proceed) -> ToolResult:
        passed.afterwards.append(fail)
        return await proceed(passed)

    stage = open_stage(FREE, rounds=[go])
    result = await stage.gate.run(call("look"), stage.origin())
    assert (result.text, result.is_error) == ("The marks cannot be written", True)
    assert all_lines(stage.home)[-1]["ok"] is False


async def test_a_call_that_ran_is_kept_although_it_is_stopped_then(open_stage: OpenStage) -> None:
    kept: list[str] = []

    async def go(passed: PassedCall, proceed: Proceed) -> ToolResult:
        result = await proceed(passed)
        scope.cancel()
        return result

    stage = open_stage(FREE, rounds=[go])
    with anyio.CancelScope() as scope:
        await stage.gate.run_for(call("look"), stage.origin(), lambda result: kept.append(result.text))
    assert kept == ["done"]
    assert all_lines(stage.home)[-1]["ok"] is True


async def test_a_call_that_is_refused_is_kept_too(open_stage: OpenStage) -> None:
    stage = open_stage(FREE)
    text = await stage.gate.run_for(call("loook"), stage.origin(), lambda result: result.text)
    assert text.startswith("There is no tool named")


async def test_an_unwritable_audit_log_is_told_and_stops_nothing(open_stage: OpenStage) -> None:
    stage = open_stage(FREE)
    stage.home.logs.write_text("in the way", encoding="utf-8")
    assert not (await stage.gate.run(call("look"), stage.origin())).is_error
    assert {event.level for event in stage.events if isinstance(event, Notice)} == {"warning"}


async def test_a_call_that_cannot_be_noted_down_does_not_run(open_stage: OpenStage) -> None:
    stage = open_stage(FREE)
    (stage.home.root / "run").write_text("in the way", encoding="utf-8")
    result = await stage.gate.run(call("look"), stage.origin())
    assert (result.is_error, stage.toolbox.ran) == (True, [])


@pytest.mark.anyio
async def test_rounds_go_around_a_call_from_the_outside_in(open_stage: OpenStage) -> None:
    seen: list[str] = []

    def around(name: str) -> Round:
        async def go(passed: PassedCall, proceed: Proceed) -> ToolResult:
            seen.append(f"{name} before {passed.decision} {passed.call.name}")
            result = await proceed(passed)
            seen.append(f"{name} after {result.text}")
            return replace(result, text=f"{result.text} by {name}")

        return go

    stage = open_stage(spec("read", Safety.AUTO), rounds=[around("outer"), around("inner")])
    result = await stage.gate.run(ToolCall("1", "read", {}), stage.origin())
    assert result.text == "done by inner by outer"
    assert seen == ["outer before auto read", "inner before auto read", "inner after done", "outer after done by inner"]


@pytest.mark.anyio
async def test_a_round_may_keep_a_call_from_running(open_stage: OpenStage) -> None:
    async def refuse(_passed: PassedCall, _proceed: Proceed) -> ToolResult:
        raise ToolError("There is no room to undo it", hint="Free some space")

    stage = open_stage(spec("read", Safety.AUTO), rounds=[refuse])
    result = await stage.gate.run(ToolCall("1", "read", {}), stage.origin())
    assert result.is_error
    assert "no room to undo" in result.text
    assert stage.toolbox.ran == []


@pytest.mark.anyio
@pytest.mark.parametrize("outcome", [Outcome.DENY, Outcome.ASK])
async def test_the_strictest_judge_counts(open_stage: OpenStage, outcome: Outcome) -> None:
    def judge(tool: ToolSpec, call: ToolCall, origin: CallOrigin) -> Verdict:
        return Verdict(outcome, f"{origin.surface} {tool.name} {call.id}", "taint")

    stage = open_stage(spec("read", Safety.AUTO), judges=[judge], timeout_s=0)
    result = await stage.gate.run(ToolCall("7", "read", {}), stage.origin())
    assert result.is_error
    assert stage.toolbox.ran == []
    assert [event.approval.reason for event in stage.asked] == (["test read 7"] if outcome is Outcome.ASK else [])


SENDS = replace(spec("send", Safety.CONFIRM, url="uri"), asks_unless={"method": ("GET", "HEAD")})


@pytest.mark.parametrize(
    ("given", "mode", "decision"),
    [
        ({"method": "GET"}, SafetyMode.SAFE, "auto"),
        ({"method": "POST"}, SafetyMode.SAFE, "expired"),
        ({}, SafetyMode.SAFE, "expired"),
        ({"method": ["GET"]}, SafetyMode.SAFE, "expired"),
        ({"method": "POST"}, SafetyMode.ADVANCED, "auto"),
        ({"method": "GET", "url": "http://169.254.169.254/"}, SafetyMode.SAFE, "blocked"),
    ],
)
async def test_a_tool_may_run_unasked_with_harmless_arguments(
    open_stage: OpenStage, given: JsonObject, mode: SafetyMode, decision: str
) -> None:
    stage = open_stage(SENDS, mode=mode, timeout_s=0)
    await stage.gate.run(ToolCall("c", "send", given), stage.origin())
    assert audit(stage.home)[0]["decision"] == decision


async def test_harmless_arguments_start_no_tool_that_people_start(open_stage: OpenStage) -> None:
    stage = open_stage(replace(SENDS, safety=Safety.MANUAL))
    assert (await stage.gate.run(ToolCall("c", "send", {"method": "GET"}), stage.origin())).is_error


HEADERS = {"Authorization": "Bearer sk-proj-abcdefghijklmnop1234567890", "Accept": "text/html"}


async def test_a_secret_in_headers_is_on_no_card_and_in_no_log_but_is_sent(open_stage: OpenStage) -> None:
    stage = open_stage(SENDS, timeout_s=0)
    await stage.gate.run(ToolCall("c", "send", {"method": "POST", "headers": HEADERS}), stage.origin())
    shown = json.dumps(stage.asked[0].approval.args)
    assert "1234567890" not in shown + json.dumps(audit(stage.home))
    assert "text/html" in shown
    await stage.gate.run(ToolCall("c", "send", {"headers": HEADERS}), stage.origin(decided=Decision(approved=True)))
    assert stage.toolbox.ran == [("send", {"headers": HEADERS})]


async def test_an_edited_card_keeps_the_secret_that_it_did_not_show(open_stage: OpenStage) -> None:
    stage = open_stage(SENDS, timeout_s=0)
    await stage.gate.run(ToolCall("c", "send", {"body": "a", "headers": HEADERS}), stage.origin())
    masked = stage.asked[0].approval.args["headers"]
    assert isinstance(masked, dict)
    edited: JsonObject = {"body": "b", "headers": {**masked, "Accept": "text/plain"}}
    decided = Decision(approved=True, args=edited)
    await stage.gate.run(ToolCall("c", "send", {"body": "a", "headers": HEADERS}), stage.origin(decided=decided))
    assert stage.toolbox.ran == [("send", {"body": "b", "headers": {**HEADERS, "Accept": "text/plain"}})]


async def test_a_judge_that_cannot_read_lets_nothing_run(open_stage: OpenStage) -> None:
    def judge(_spec: ToolSpec, _call: ToolCall, _origin: CallOrigin) -> Verdict:
        raise StorageError("The outbox cannot be listed")

    stage = open_stage(FREE, judges=[judge])
    result = await stage.gate.run(call("look"), stage.origin())
    assert (result.text, stage.toolbox.ran) == ("BLOCKED: The outbox cannot be listed", [])


async def test_a_round_knows_what_was_agreed_to_whatever_another_put_into_the_call(open_stage: OpenStage) -> None:
    seen: list[object] = []

    async def fill_in(passed: PassedCall, proceed: Proceed) -> ToolResult:
        return await proceed(replace(passed, call=replace(passed.call, arguments={"path": "secret"})))

    async def look(passed: PassedCall, proceed: Proceed) -> ToolResult:
        seen.append((passed.call.arguments, passed.written and passed.written.arguments))
        return await proceed(passed)

    stage = open_stage(FREE, rounds=[fill_in, look])
    await stage.gate.run(call("look", path="a"), stage.origin())
    assert seen == [({"path": "secret"}, {"path": "a"})]


async def test_the_model_and_the_log_are_told_what_a_changed_call_ran_with(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS)
    decided = Decision(approved=True, args={"path": "b"})
    result = await stage.gate.run(call("change", path="a"), stage.origin(decided=decided))
    assert result.text == 'The user changed the arguments before allowing this. It ran with {"path": "b"}\ndone'
    (line,) = audit(stage.home)
    assert (line["args_preview"], line["proposed_preview"]) == ('{"path": "b"}', '{"path": "a"}')
    same = Decision(approved=True, args={"path": "a"})
    assert (await stage.gate.run(call("change", path="a"), stage.origin(decided=same))).text == "done"
    assert "proposed_preview" not in audit(stage.home)[1]


async def test_the_question_that_allowed_a_call_stands_in_the_log(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS, timeout_s=0)
    await stage.gate.run(call("change", path="a"), stage.origin())
    assert audit(stage.home)[0]["approval"] == stage.asked[0].approval.id


async def test_a_wider_yes_is_kept_as_the_card_said_it_and_not_for_what_was_changed(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS)
    for folder in ("notes", "other"):
        (stage.home.workspace / folder).mkdir()
    always = Decision(approved=True, scope=Scope.ALWAYS, by="page")
    await stage.gate.run(
        call("change", path="notes/a"), stage.origin(decided=replace(always, args={"path": "other/b"}))
    )
    assert stage.grants.list() == []
    assert [event.text[:30] for event in stage.events if isinstance(event, Notice)] == [
        "The wider yes was not kept: th"
    ]
    await stage.gate.run(
        call("change", path="notes/a"), stage.origin(decided=replace(always, args={"path": "notes/b"}))
    )
    (grant,) = stage.grants.list()
    assert [at.folder for at in grant.reach.folders] == [str(stage.home.workspace / "notes")]
    assert (grant.about, grant.surface, grant.given_in, grant.session_id) == ("Do change", "page", SESSION, "")


async def test_a_grant_is_used_counted_and_ends_with_its_time(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS, timeout_s=0)
    today = Decision(approved=True, scope=Scope.ALWAYS, lasts=Lasting.TODAY)
    await stage.gate.run(call("change", path="a"), stage.origin(decided=today))
    assert not (await stage.gate.run(call("change", path="b"), stage.origin())).is_error
    (grant,) = stage.grants.list()
    now_ms = SystemClock().now_ms()
    assert now_ms <= grant.expires_ms <= now_ms + 24 * 3_600_000
    uses = json.loads(stage.home.grant_uses.read_text(encoding="utf-8"))
    assert {grant_id: use["count"] for grant_id, use in uses.items()} == {grant.id: 1}
    stage.grants.revoke(grant.id)
    assert (await stage.gate.run(call("change", path="b"), stage.origin())).is_error


async def test_no_earlier_yes_answers_what_a_judge_asks(open_stage: OpenStage) -> None:
    doubts: list[Verdict] = [Verdict(Outcome.ALLOW)]
    stage = open_stage(ASKS, timeout_s=0, judges=[lambda _spec, _call, _origin: doubts[0]])
    always = Decision(approved=True, scope=Scope.ALWAYS)
    await stage.gate.run(call("change", path="a"), stage.origin(decided=always))
    assert not (await stage.gate.run(call("change", path="a"), stage.origin())).is_error
    doubts[0] = Verdict(Outcome.ASK, "it holds a password", "secret")
    assert (await stage.gate.run(call("change", path="a"), stage.origin())).is_error
    # What would cover nothing the next time is not offered either.
    assert stage.asked[0].approval.covers == ""


@pytest.mark.parametrize(
    ("given", "outcome", "rule", "setting"),
    [
        (call("change", path="a"), "ask", "level", "safetyMode"),
        (call("look"), "allow", "level", ""),
        (call("change", path="/etc/passwd"), "deny", "path", "allowedFolders"),
        (call("change", path="../settings.json"), "deny", "path", "blockedFolders"),
        (call("reach", url="http://127.0.0.1/"), "deny", "host", "allowLoopback"),
        (call("shell", command="rm -rf /"), "deny", "command", "safetyMode"),
        (call("define"), "deny", "level", ""),
        (call("send"), "deny", "addon", "addons"),
        (call("nothing"), "deny", "tool", ""),
        (call("look", problem="cut off"), "deny", "arguments", ""),
        (call("look", wrong="x"), "deny", "arguments", ""),
    ],
)
async def test_an_explanation_names_the_rule_that_decides_and_its_setting(
    open_stage: OpenStage, given: ToolCall, outcome: str, rule: str, setting: str
) -> None:
    stage = open_stage(
        FREE,
        ASKS,
        spec("reach", Safety.AUTO, url="uri"),
        spec("shell", Safety.CONFIRM, command="shell-command"),
        spec("define", Safety.MANUAL),
        spec("send", Safety.AUTO, addon="email"),
    )
    explanation = stage.gate.explain(given, stage.origin())
    step = explanation.deciding
    assert (explanation.outcome, step.rule, step.setting) == (outcome, rule, setting)
    assert (stage.toolbox.ran, stage.events) == ([], [])
    assert not list(stage.home.logs.glob("audit-*"))
    result = await stage.gate.run(given, stage.origin(decided=Decision(approved=False)))
    assert result.is_error is (outcome != "allow")


async def test_an_explanation_names_the_earlier_yes_and_does_not_count_as_a_use(open_stage: OpenStage) -> None:
    stage = open_stage(ASKS)
    always = Decision(approved=True, scope=Scope.ALWAYS)
    await stage.gate.run(call("change", path="a"), stage.origin(decided=always))
    step = stage.gate.explain(call("change", path="b"), stage.origin()).deciding
    assert (step.rule, step.outcome, step.about) == ("grant", "allow", stage.grants.list()[0].id)
    assert "change in the folder" in step.words
    assert not stage.home.grant_uses.exists()
    by_user = stage.gate.explain(call("change", path="b"), stage.origin(by_user=True)).deciding
    assert (by_user.rule, by_user.outcome) == ("person", "allow")


async def test_a_card_carries_the_chain_of_rules_and_the_state_of_the_sandbox(open_stage: OpenStage) -> None:
    shell = spec("shell", Safety.CONFIRM, command="shell-command")
    stage = open_stage(shell, timeout_s=0)
    await stage.gate.run(call("shell", command="ls https://u:hunter2secret@example.org"), stage.origin())
    approval = stage.asked[0].approval
    assert [(step.rule, step.decides) for step in approval.why] == [
        ("level", True),
        ("command", False),
        ("grant", False),
    ]
    assert "sandbox" in approval.sandbox
    assert "hunter2secret" not in str(approval.why)
