"""An answer that says more than was done is marked, on disk and on every surface."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from skales.app.export import ExportOptions, export_json, prepare_session
from skales.app.export_markdown import export_markdown
from skales.app.export_outline import Labels
from skales.app.export_pdf import export_pdf
from skales.cli.turn_view import TurnView
from skales.core.event_json import event_from_json, event_to_json
from skales.core.events import AnswerSaved, TurnEvent
from skales.core.evidence import Unconfirmed, unconfirmed_of
from skales.data.paths import DataDirectory
from skales.server.conversation_views import AnswerEntry
from skales.server.export_html import export_html
from skales.server.frames import DevKitFrames
from skales.server.ui.pages import render
from skales.server.ui.transcript import Setting, build_entries
from tests.journeys.conftest import OpenApp, run_turn
from tests.scripted import ScriptedProvider, calls, says

pytestmark = pytest.mark.anyio

CLAIM = "I deleted `old.txt`."
REASON = "No call of this turn deleted anything"


def saved_answer(events: Sequence[TurnEvent]) -> AnswerSaved:
    return [event for event in events if isinstance(event, AnswerSaved)][-1]


async def test_a_claim_without_a_call_is_told_and_kept(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted(says(f"Done. {CLAIM}")) as app:
        session_id, events = await run_turn(app, "Delete old.txt")
    event = saved_answer(events)
    assert event.unconfirmed == (Unconfirmed(CLAIM, REASON),)
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event
    message = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))["messages"][-1]
    assert message["unconfirmed"] == [{"sentence": CLAIM, "reason": REASON}]


async def test_it_is_there_after_a_restart_and_a_rewrite(open_scripted: OpenApp) -> None:
    async with open_scripted(says(CLAIM)) as app:
        session_id, _ = await run_turn(app, "Delete old.txt")
    async with open_scripted(says("You are welcome.")) as app:
        await run_turn(app, "Thanks", session_id)
        messages = app.sessions.load(session_id).messages
    assert unconfirmed_of(messages[1].extra) == (Unconfirmed(CLAIM, REASON),)
    assert unconfirmed_of(messages[3].extra) == ()


async def test_a_call_that_did_it_confirms_it(open_scripted: OpenApp) -> None:
    said = "I added the task “Buy milk”."
    provider = ScriptedProvider([calls(("create_task", {"title": "Buy milk"})), says(said), says(said)])
    async with open_scripted(provider=provider) as app:
        session_id, events = await run_turn(app, "Remind me of milk")
        _, later = await run_turn(app, "And once more", session_id)
    assert saved_answer(events).unconfirmed == ()
    assert saved_answer(later).unconfirmed == (Unconfirmed(said, "No call of this turn wrote or changed anything"),)


async def test_the_page_shows_it_below_the_answer_and_marks_the_sentence(open_scripted: OpenApp) -> None:
    async with open_scripted(says(f"Done. {CLAIM}")) as app:
        session_id, _ = await run_turn(app, "Delete old.txt")
        messages = list(enumerate(app.sessions.load(session_id).messages))
        entries = build_entries(messages, Setting(app.gate.describe, app.clock.now_ms()))
    answer = next(entry for entry in entries if isinstance(entry, AnswerEntry))
    html = render(answer)
    assert [(claim.sentence, claim.reason) for claim in answer.unconfirmed] == [(CLAIM, REASON)]
    assert '<mark class="unconfirmed">I deleted ' in html
    assert REASON in html


async def test_every_export_has_it(open_scripted: OpenApp) -> None:
    async with open_scripted(says(CLAIM)) as app:
        session_id, _ = await run_turn(app, "Delete old.txt")
        prepared = prepare_session(app.sessions.load(session_id), ExportOptions())
    line = f"Not confirmed: {CLAIM} ({REASON})"
    assert line in export_markdown(prepared, Labels())
    assert line in export_html(prepared, Labels())
    assert json.loads(export_json(prepared))["messages"][-1]["unconfirmed"][0]["reason"] == REASON
    bare = structs.replace(prepared, messages=tuple(replace(message, extra={}) for message in prepared.messages))
    assert len(export_pdf(prepared, Labels())) > len(export_pdf(bare, Labels()))


async def test_the_terminal_and_scripts_are_told(open_scripted: OpenApp, capsys: pytest.CaptureFixture[str]) -> None:
    async with open_scripted(says(CLAIM)) as app:
        session_id, events = await run_turn(app, "Delete old.txt")
    view, frames = TurnView(), DevKitFrames(session_id)
    lines = b""
    for event in events:
        view.show(event)
        lines += frames.render(event)
    assert f"Not confirmed: {CLAIM} ({REASON})" in capsys.readouterr().err
    assert view.as_json(session_id)["unconfirmed"] == [{"sentence": CLAIM, "reason": REASON}]
    sent = [json.loads(line[6:]) for line in lines.decode().splitlines() if line.startswith("data: ")]
    (text,) = [frame for frame in sent if frame["type"] == "text"]
    assert (text["content"], text["unconfirmed"][0]["sentence"]) == (CLAIM, CLAIM)
