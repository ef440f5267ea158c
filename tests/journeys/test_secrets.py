"""A planted secret goes in at every door and comes out at none: no request to a model holds it, and no file does.

What the person put where it belongs, the settings and their own file in the workspace, is left out of the search.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from skales.app.app import App
from skales.app.export import ExportFormat, ExportOptions, export_json, prepare_session
from skales.app.export_markdown import export_markdown
from skales.app.export_outline import Labels
from skales.app.export_pdf import export_pdf
from skales.app.veiled_logs import veiled_logs
from skales.core.approval import Decision
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import ApprovalRequested, Notice, TextDelta, ToolFinished
from skales.core.message import FilePart
from skales.data.paths import DataDirectory
from skales.server.export_html import export_html
from tests.journeys.conftest import OpenApp, collect, end_of, run_turn, wait_for
from tests.scripted import ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

LOOKS = "ghp" + "_" + "Pl4nt3dS3cr3tPl4nt3dS3cr3tPl4nt3dXY"
OWN = "correct-horse-planted-staple"
PLANTED = (LOOKS, OWN)


@pytest.fixture
def planted(home: DataDirectory) -> DataDirectory:
    """The person has stored one secret, and has a file in which both stand."""
    home.settings.write_text(f'{{"providers": {{"openai": {{"apiKey": "{OWN}"}}}}}}', encoding="utf-8")
    home.workspace.mkdir(parents=True, exist_ok=True)
    (home.workspace / ".env").write_text(f"GITHUB_TOKEN={LOOKS}\nOTHER={OWN}\n" + "x = 1\n" * 8_000, encoding="utf-8")
    return home


def find_leaks(home: DataDirectory) -> Sequence[str]:
    """Every file of the data directory in which a planted secret stands, but those the person put it into.

    Nor the copies of those that undo keeps: they have to hold what the file held, are for the person alone, and no
    tool can read them.
    """
    own = {home.settings, home.workspace / ".env", home.workspace / "made.env"}
    files = (
        path
        for path in home.root.rglob("*")
        if path.is_file() and path not in own and not path.is_relative_to(home.undo / "blobs")
    )
    return [f"{path.relative_to(home.root)}: {secret}" for path in files for secret in PLANTED if _holds(path, secret)]


def _holds(path: Path, secret: str) -> bool:
    return secret.encode() in path.read_bytes()


def find_told(provider: ScriptedProvider) -> Sequence[str]:
    """The requests to the model that hold a planted secret."""
    return [secret for request in provider.requests for secret in PLANTED if secret in repr(request)]


def no_secret(events: Sequence[object]) -> bool:
    shown = [repr(event) for event in events if not isinstance(event, TextDelta)]
    return not any(secret in text for text in shown for secret in PLANTED)


async def test_what_the_person_writes_is_masked_with_a_notice(open_scripted: OpenApp, planted: DataDirectory) -> None:
    provider = ScriptedProvider([says("I see.")])
    async with open_scripted(provider=provider) as app:
        session_id, events = await run_turn(app, f"My token is {LOOKS}, the other one {OWN}.")
        (message, _answer) = app.sessions.load(session_id).messages
        found = app.sessions.search("token", 5)
    assert "[secret: GitHub token ghp_…dXY" not in message.text  # the end shown has four characters
    assert "[secret: GitHub token ghp_…3dXY]" in message.text
    assert "[secret: stored secret]" in message.text
    assert [event.text for event in events if isinstance(event, Notice)] == [
        "A secret in your message was hidden from the model and the history"
    ]
    assert found
    assert no_secret(events)
    assert find_told(provider) == []
    assert find_leaks(planted) == []


async def test_ordinary_words_bring_no_notice(open_scripted: OpenApp, planted: DataDirectory) -> None:
    async with open_scripted(says("Fine.")) as app:
        _, events = await run_turn(app, "How do I store a password?")
    assert not any(isinstance(event, Notice) for event in events)


async def test_a_tools_result_is_masked_and_so_is_what_is_spilled(
    open_scripted: OpenApp, planted: DataDirectory
) -> None:
    provider = ScriptedProvider([calls(("read_file", {"path": ".env"})), says(f"It says {LOOKS} and {OWN}.")])
    async with open_scripted(provider=provider) as app:
        _, events = await run_turn(app, "Read it.")
        direct = await app.run_tool("read_file", {"path": ".env"})
        await run_turn(app, '/tool execute_command command="cat .env"')
    (finished,) = (event for event in events if isinstance(event, ToolFinished))
    assert "GITHUB_TOKEN=[secret: GitHub token ghp_…3dXY]" in finished.result.text
    assert list(planted.results.rglob("*.txt"))
    assert not any(secret in repr(direct) for secret in PLANTED)
    assert no_secret(events)
    assert find_told(provider) == []
    assert find_leaks(planted) == []


async def test_failures_are_masked(open_scripted: OpenApp, planted: DataDirectory) -> None:
    steps: list[Step] = [
        calls(("read_file", {"path": f"missing-{LOOKS}.txt"})),
        calls(("http_request", {"url": f"http://127.0.0.1:9/?token={LOOKS}&x={OWN}"})),
        calls(("no_such_tool", {"said": OWN})),
        calls(("read_file", {"wrong": LOOKS})),
        [ProviderError(f"Incorrect API key provided: {OWN}", fault=ProviderFault.BAD_KEY, hint=f"not {LOOKS}")],
    ]
    provider = ScriptedProvider(steps)
    async with open_scripted(provider=provider) as app:
        app.settings.update(lambda raw: raw.update({"safetyMode": "unrestricted"}))
        session_id, events = await run_turn(app, "Try.")
        noticed = app.notices.entries()
        history = app.sessions.load(session_id)
    assert "Incorrect API key provided" in end_of(events).error
    assert [secret for secret in PLANTED if secret in repr(noticed)] == []
    assert [secret for secret in PLANTED if secret in repr(history)] == []
    assert no_secret(events)
    assert find_told(provider) == []
    assert find_leaks(planted) == []


async def test_a_call_runs_with_what_was_asked_and_is_kept_masked(
    open_scripted: OpenApp, planted: DataDirectory
) -> None:
    provider = ScriptedProvider(
        [calls(("write_file", {"path": "made.env", "content": f"TOKEN={LOOKS}"})), says("Written.")]
    )
    async with open_scripted(provider=provider) as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "Write it.")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        assert not any(secret in repr(asked) for secret in PLANTED)
        assert find_leaks(planted) == []
        edited = {**asked.approval.args, "content": f"# mine\n{asked.approval.args['content']}"}
        await app.approvals.decide(asked.approval.id, Decision(approved=True, args=edited))
        await collect(app, session_id, ticket.after)
    assert (planted.workspace / "made.env").read_text(encoding="utf-8") == f"# mine\nTOKEN={LOOKS}"
    assert find_told(provider) == []
    assert find_leaks(planted) == []


async def test_a_marker_is_never_written_in_place_of_the_secret(open_scripted: OpenApp, home: DataDirectory) -> None:
    steps = [calls(("write_file", {"path": "x.env", "content": "A=[secret: GitHub token ghp_…3dXY]"})), says("No.")]
    async with open_scripted(*steps) as app:
        _, events = await run_turn(app, "Copy it.")
    (finished,) = (event for event in events if isinstance(event, ToolFinished))
    assert finished.result.is_error
    assert "marker of a hidden secret" in finished.result.text
    assert not (home.workspace / "x.env").exists()


async def test_memories_are_masked(open_scripted: OpenApp, planted: DataDirectory) -> None:
    async with open_scripted(says("x")) as app:
        memory = app.memories.add(f"The token is {LOOKS}, the word {OWN}", keywords=[OWN])
        assert app.memories.search("token", 3)
    assert "[secret: stored secret]" in memory.content
    assert find_leaks(planted) == []


async def test_attached_text_titles_and_waiting_messages_are_masked(
    open_scripted: OpenApp, planted: DataDirectory
) -> None:
    provider = ScriptedProvider([says(f"Now {LOOKS}")])
    part = FilePart(name="a.env", media_type="text/plain", size_bytes=9, text=f"TOKEN={LOOKS} {OWN}")
    async with open_scripted(provider=provider) as app:
        session = app.sessions.create(title=f"About {OWN}")
        app.sessions.queue(session.id, f"later {LOOKS}", (part,))
        app.sessions.update(session.id, title=f"Named {LOOKS}")
        assert find_leaks(planted) == []
        ticket = await app.turns.start(session.id, f"look {OWN}", [part])
        await collect(app, session.id, ticket.after)
    assert provider.requests
    assert find_told(provider) == []
    assert find_leaks(planted) == []


async def test_comparing_tells_no_model(open_scripted: OpenApp, planted: DataDirectory) -> None:
    provider = ScriptedProvider([says(f"{LOOKS}")])
    async with open_scripted(provider=provider) as app:
        comparison = await app.comparisons.begin(f"Say {LOOKS} and {OWN}", [("scripted", "a"), ("scripted", "b")])
        with anyio.fail_after(5):
            events = [event async for event in app.comparisons.stream(comparison)]
        await app.comparisons.keep(comparison.id, 0)
    assert events
    assert len(provider.requests) == 2
    assert find_told(provider) == []
    assert find_leaks(planted) == []


@pytest.mark.parametrize("form", list(ExportFormat))
async def test_what_slipped_into_an_old_conversation_does_not_leave(
    form: ExportFormat, open_scripted: OpenApp, planted: DataDirectory
) -> None:
    planted.sessions.mkdir(parents=True, exist_ok=True)
    old = planted.sessions / "session_1700000000000.json"
    old.write_text(
        f'{{"id": "session_1700000000000", "messages": [{{"role": "user", "content": "{LOOKS} {OWN}"}}]}}',
        encoding="utf-8",
    )
    async with open_scripted(says("x")) as app:
        session = app.sessions.load(app.sessions.list()[0].id)
        prepared = prepare_session(session, ExportOptions(thoughts=True), app.veil)
    writers: Mapping[ExportFormat, bytes] = {
        ExportFormat.JSON: export_json(prepared).encode(),
        ExportFormat.MARKDOWN: export_markdown(prepared, Labels()).encode(),
        ExportFormat.HTML: export_html(prepared, Labels()).encode() if form is ExportFormat.HTML else b"",
        ExportFormat.PDF: export_pdf(prepared, Labels()) if form is ExportFormat.PDF else b"",
    }
    assert writers[form]
    assert not any(secret.encode() in writers[form] for secret in PLANTED)


async def test_an_old_conversation_that_goes_on_tells_no_model(open_scripted: OpenApp, planted: DataDirectory) -> None:
    planted.sessions.mkdir(parents=True, exist_ok=True)
    content = f'[{{"role": "user", "content": "{LOOKS}"}}, {{"role": "assistant", "content": "{OWN}"}}]'
    path = planted.sessions / "session_1700000000000.json"
    path.write_text(f'{{"id": "session_1700000000000", "messages": {content}}}', encoding="utf-8")
    provider = ScriptedProvider([says("Going on.")])
    async with open_scripted(provider=provider) as app:
        await run_turn(app, "Go on.", app.sessions.list()[0].id)
    assert provider.requests
    assert find_told(provider) == []


async def test_logs_are_masked_with_their_tracebacks(
    open_scripted: OpenApp, planted: DataDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    log = logging.getLogger("some.library")
    async with open_scripted(says("x")) as app:
        with veiled_logs(app.veil), caplog.at_level(logging.DEBUG):
            log.warning("GET https://x.example/?key=%s", LOOKS)
            log.warning("%s and %d", OWN)
            try:
                _fail(app)
            except ValueError:
                log.exception("it failed with %s", OWN)
    assert "it failed with [secret: stored secret]" in caplog.text
    assert "ValueError" in caplog.text
    assert not any(secret in caplog.text for secret in PLANTED)
    log.warning("as before")


def _fail(app: App) -> None:
    raise ValueError(f"no key {LOOKS} at {app.directory.root} for {OWN}")
