"""What leaves the program: masked, named safely, in forms that say the same."""

import io
import json
import zipfile

import pytest
from msgspec import structs

from skales.app.export import ExportFormat, ExportOptions, export_json, name_file, prepare_session, safe_name
from skales.app.export_all import stream_archive
from skales.app.export_markdown import export_markdown
from skales.app.export_outline import Labels
from skales.core.ids import SessionId
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.tool import ToolCall
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Session, Waiting, session_from_disk
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock

SECRET = "sk-proj-Zk3xQ9vT2mB7nL4pR8wY1cF6hJ5dS0gA"
WHEN_MS = 1_930_000_000_000
EVERYTHING = ExportOptions(steps=True, thoughts=True, receipts=True)
NOTHING = ExportOptions(steps=False, thoughts=False, receipts=False)


def make_session(*messages: Message, title: str = "A title") -> Session:
    return Session(
        id=SessionId("session_1"),
        title=title,
        provider="openai",
        model="gpt",
        agent_id="",
        created_ms=WHEN_MS,
        updated_ms=WHEN_MS,
        messages=messages,
    )


def full_session(secret: str = SECRET) -> Session:
    call = ToolCall("c1", "fetch", {"url": "https://a.example", "api_key": secret}, raw=json.dumps({"api_key": secret}))
    session = make_session(
        Message(
            role=Role.USER,
            content=(
                TextPart(f"Use {secret}"),
                ImagePart("image/png", "iVBORw0KGgo=", f"{secret}.png"),
                FilePart("notes.txt", "text/plain", 9, f"key {secret}", "/home/me/private/notes.txt"),
            ),
        ),
        Message(role=Role.ASSISTANT, tool_calls=(call,), reasoning=f"I shall use {secret}"),
        Message(role=Role.TOOL, tool_call_id="c1", content=(TextPart(f"token {secret}"),)),
        Message(
            role=Role.ASSISTANT,
            content=(TextPart(f"Done with {secret}"),),
            provider="openai",
            model="gpt",
            usage=Usage(1200, 34),
            duration_ms=1400,
            native={"format": "x", "blocks": [secret]},
            extra={"note": secret, "reasoning": f"once more {secret}"},
        ),
        title=f"About {secret}",
    )
    return structs.replace(session, queued=(Waiting(f"and {secret}"),), extra={"theirs": secret})


def test_no_form_carries_a_secret_or_the_place_of_a_file() -> None:
    prepared = prepare_session(full_session(), EVERYTHING)
    for text in (export_json(prepared), export_markdown(prepared, Labels())):
        assert SECRET not in text
        assert "[secret: OpenAI key sk-proj-…" in text
        assert "/home/me/private" not in text


def test_what_the_options_leave_out_is_in_no_form() -> None:
    prepared = prepare_session(full_session(secret="plain words"), NOTHING)
    for text in (export_json(prepared), export_markdown(prepared, Labels())):
        assert "fetch" not in text
        assert "token plain words" not in text
        assert "I shall use" not in text
        assert "once more" not in text
        assert "1,200" not in text
        assert "1200" not in text
    assert [message.role for message in prepared.messages] == [Role.USER, Role.ASSISTANT, Role.ASSISTANT]


def test_the_json_form_is_the_sessions_own_file_with_a_version() -> None:
    content = json.loads(export_json(prepare_session(full_session(secret="words"), EVERYTHING)))
    assert content.pop("exportVersion") == 1
    again = session_from_disk(SessionId("session_1"), content, mtime_ms=0)
    assert again.title == "About words"
    assert [message.text for message in again.messages] == ["Use words", "", "token words", "Done with words"]
    assert again.extra == {"theirs": "words"}


def test_markdown_says_who_spoke_and_keeps_code_in_its_fence() -> None:
    call = ToolCall("c1", "read_file", {"path": "a.md"})
    session = make_session(
        text_message(Role.USER, "Read it", timestamp_ms=WHEN_MS),
        Message(role=Role.ASSISTANT, tool_calls=(call,)),
        Message(role=Role.TOOL, tool_call_id="c1", content=(TextPart("````\ninside\n````\n"),), is_error=True),
        Message(role=Role.ASSISTANT, content=(TextPart("**Done**"),), model="gpt", usage=Usage(1200, 34)),
    )
    lines = export_markdown(prepare_session(session, EVERYTHING), Labels()).splitlines()
    assert lines[0] == "# A title"
    assert [line for line in lines if line.startswith("## You")]
    assert "### `read_file` (Not done)" in lines
    assert lines[lines.index("`````text") + 1 : lines.index("`````")] == ["````", "inside", "````"]
    assert "**Done**" in lines
    assert "<sub>gpt · 1,200 tokens in, 34 out</sub>" in lines


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Plain title", "Plain title"),
        ("a/b\\c:d*e?", "a b c d e"),
        ("../../etc/passwd", "etc passwd"),
        ("  spaces \n and lines ", "spaces and lines"),
        ("ends with dots...", "ends with dots"),
        ("", "Conversation"),
        ("///", "Conversation"),
        ("CON", "Conversation CON"),
        ("nul.txt", "Conversation nul.txt"),
        ("Grüße 你好", "Grüße 你好"),
        ("right\u202eto left", "right to left"),
        ("half \ud83d", "half"),
        ("x" * 300, "x" * 80),
    ],
)
def test_a_title_becomes_a_name_that_every_file_system_takes(title: str, expected: str) -> None:
    assert safe_name(title) == expected


def test_a_file_is_named_by_its_day_and_title() -> None:
    assert name_file("Notes", WHEN_MS, "md").endswith(" Notes.md")


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> SessionStore:
    return SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)


def fill(store: SessionStore, clock: FixedClock, *titles: str) -> list[SessionId]:
    ids: list[SessionId] = []
    for title in titles:
        clock.advance(60)
        ids.append(store.create(title=title).id)
        store.append(ids[-1], text_message(Role.USER, f"About {title}"))
    return ids


def read_archive(store: SessionStore, form: ExportFormat) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(b"".join(stream_archive(store, form, EVERYTHING, Labels()))))


def test_the_archive_holds_every_conversation_under_a_name_of_its_own(store: SessionStore, clock: FixedClock) -> None:
    ids = fill(store, clock, "Same", "same", "Other")
    store.update(ids[2], folder="Work/../x")
    with read_archive(store, ExportFormat.MARKDOWN) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert sorted(name[11:] for name in names if "/" not in name) == ["Same (2).md", "same.md"]
        (sorted_name,) = [name for name in names if "/" in name]
        assert sorted_name.startswith("Work .. x/")
        assert "About Other" in archive.read(sorted_name).decode()
    store.close()


def test_the_archive_is_sent_conversation_by_conversation(store: SessionStore, clock: FixedClock) -> None:
    fill(store, clock, "One", "Two", "Three")
    pieces = list(stream_archive(store, ExportFormat.JSON, EVERYTHING, Labels()))
    assert len(pieces) == 4
    assert all(piece.startswith(b"PK\x03\x04") for piece in pieces[:3])
    store.close()


def test_a_conversation_that_cannot_be_read_does_not_stop_the_archive(
    store: SessionStore, clock: FixedClock, home: DataDirectory
) -> None:
    ids = fill(store, clock, "Good", "Bad")
    assert len(store.list()) == 2
    pieces = stream_archive(store, ExportFormat.MARKDOWN, EVERYTHING, Labels())
    (home.sessions / f"{ids[0]}.json").unlink()
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert [name[11:] for name in archive.namelist()] == ["Bad.md"]
    store.close()
