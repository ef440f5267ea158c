"""Files for a message over HTTP: taken in, shown, forgotten, sent."""

from collections.abc import Callable, Iterator

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.app.attachments import MAX_FILE_BYTES, MAX_FILES
from skales.core.ids import SessionId
from skales.core.message import FilePart, ImagePart, TextPart
from skales.data.paths import DataDirectory
from tests.scripted import Hang, ScriptedProvider
from tests.server.ui.conftest import Look

JSON = {"accept": "application/json"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def attach(page: TestClient, name: str = "notes.md", content: bytes = b"buy milk", kind: str = "text/plain") -> str:
    answered = page.post("/ui/attachments", files={"file": (name, content, kind)}, headers=JSON)
    assert answered.status_code == 200, answered.text
    return str(answered.json()["id"])


def test_a_file_is_taken_and_shown_as_a_card(page: TestClient) -> None:
    told = page.post("/ui/attachments", files={"file": ("notes.md", b"buy milk")}, headers=JSON).json()
    card = HTMLParser(told["html"]).css_first("li.attachment")
    assert card is not None
    assert card.attributes["data-id"] == told["id"]
    assert "notes.md" in card.text()
    assert card.css_first('button[aria-label="Remove notes.md"]') is not None


def test_what_the_browser_says_of_a_file_counts_nothing(page: TestClient) -> None:
    told = page.post("/ui/attachments", files={"file": ("cat.html", PNG, "text/html")}, headers=JSON).json()
    assert told["kind"] == "picture"
    shown = page.get(f"/ui/attachments/{told['id']}/picture")
    assert (shown.headers["content-type"], shown.content) == ("image/png", PNG)
    assert shown.headers["x-content-type-options"] == "nosniff"
    told = page.post("/ui/attachments", files={"file": ("a.png", b"<script>", "image/png")}, headers=JSON).json()
    assert told["kind"] == "document"
    assert page.get(f"/ui/attachments/{told['id']}/picture").status_code == 404


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../settings.json", "settings.json"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("<img src=x onerror=alert(1)>.txt", "_img src=x onerror=alert(1)_.txt"),
        ("Café 日本.txt", "Café 日本.txt"),
    ],
)
def test_a_name_is_shown_as_what_it_is(page: TestClient, name: str, shown: str) -> None:
    told = page.post("/ui/attachments", files={"file": (name, b"x")}, headers=JSON).json()
    card = HTMLParser(told["html"]).css_first("li")
    assert card is not None
    assert card.attributes["data-name"] == shown
    assert card.css_first("img") is None


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "'it.bin' is empty"), (b"\0\0\0\x18ftypheic" + bytes(9), "'it.bin' is a HEIC picture")],
)
def test_what_cannot_be_attached_is_refused_with_words(
    page: TestClient, home: DataDirectory, content: bytes, words: str
) -> None:
    refused = page.post("/ui/attachments", files={"file": ("it.bin", content)}, headers=JSON)
    assert refused.status_code == 400
    assert refused.json()["error"].startswith(words)
    assert refused.json()["hint"]
    assert list(home.uploads.iterdir()) == []


def test_a_size_that_is_announced_is_refused_before_anything_is_read(page: TestClient, home: DataDirectory) -> None:
    headers = {**JSON, "content-length": str(MAX_FILE_BYTES * 2), "content-type": "multipart/form-data; boundary=x"}
    refused = page.post("/ui/attachments", headers=headers, content=b"--x--")
    assert refused.json()["error"].endswith("is larger than 50 MB")
    assert not home.uploads.exists()


def test_a_size_that_is_not_announced_is_refused_on_the_way(page: TestClient, home: DataDirectory) -> None:
    sent = 0

    def stream() -> Iterator[bytes]:
        nonlocal sent
        yield b'--x\r\ncontent-disposition: form-data; name="file"; filename="big"\r\n\r\n'
        for _ in range(MAX_FILE_BYTES // (1024 * 1024) + 5):
            sent += 1
            yield bytes(1024 * 1024)
        yield b"\r\n--x--\r\n"

    headers = {**JSON, "content-type": "multipart/form-data; boundary=x"}
    refused = page.post("/ui/attachments", headers=headers, content=stream())
    assert refused.status_code == 400
    assert refused.json()["error"].endswith("is larger than 50 MB")
    assert not home.uploads.exists()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "multipart/form-data"),
        (b"nonsense", "multipart/form-data; boundary=x"),
        (b"a=b", "application/x-www-form-urlencoded"),
        (
            b'--x\r\ncontent-disposition: form-data; name="file"\r\n\r\nno file\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
        (
            b'--x\r\ncontent-disposition: form-data; name="other"; filename="a"\r\n\r\na\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
    ],
    ids=["no boundary", "nonsense", "no form", "a field", "another name"],
)
def test_a_request_without_a_file_is_refused(page: TestClient, body: bytes, kind: str) -> None:
    refused = page.post("/ui/attachments", headers={**JSON, "content-type": kind}, content=body)
    assert refused.status_code == 400
    assert refused.json()["error"]


def test_one_request_takes_one_file(page: TestClient) -> None:
    files = [("file", ("a.txt", b"a")), ("file", ("b.txt", b"b"))]
    assert page.post("/ui/attachments", files=files, headers=JSON).status_code == 400


def test_a_draft_finds_the_files_that_are_still_there_in_its_order(page: TestClient) -> None:
    first, second = attach(page, "a.txt"), attach(page, "b.txt")
    tree = HTMLParser(page.get(f"/ui/attachments?id={second},gone,{first}").text)
    assert [card.attributes["data-id"] for card in tree.css("li")] == [second, first]
    assert page.get("/ui/attachments").text.strip() == ""


def test_a_file_can_be_forgotten_once(page: TestClient) -> None:
    staged = attach(page)
    assert page.delete(f"/ui/attachments/{staged}").status_code == 204
    assert page.delete(f"/ui/attachments/{staged}", headers=JSON).status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_files_need_the_pages_cookie(client: TestClient, method: str) -> None:
    address = "/ui/attachments/x" if method == "DELETE" else "/ui/attachments"
    assert client.request(method, address, headers={"accept": "*/*"}).status_code == 401


def test_a_message_takes_its_files_along(
    page: TestClient, app: App, home: DataDirectory, look: Look, finish: Callable[[str], None]
) -> None:
    ids = [attach(page), attach(page, "cat.png", PNG)]
    told = page.post("/ui/chat/send", data={"text": "Look", "attachments": ",".join(ids)}, headers=JSON).json()
    assert told["took"] is True
    session_id = told["go"].removeprefix("/chat/")
    finish(session_id)
    file, picture, text = app.sessions.load(SessionId(session_id)).messages[0].content
    assert isinstance(file, FilePart)
    assert file.text == "buy milk"
    assert isinstance(picture, ImagePart)
    assert text == TextPart("Look")
    assert list(home.uploads.iterdir()) == []
    said = look(told["go"]).css_first(".message-user")
    assert said is not None
    assert said.css_first('img[alt="cat.png"]') is not None
    assert [name.text() for name in said.css(".sent-files .name")] == ["notes.md"]


def test_a_message_may_be_a_file_alone(page: TestClient, app: App, look: Look, finish: Callable[[str], None]) -> None:
    told = page.post("/ui/chat/send", data={"text": "", "attachments": attach(page)}, headers=JSON).json()
    session_id = told["go"].removeprefix("/chat/")
    finish(session_id)
    assert app.sessions.load(SessionId(session_id)).title == "notes.md"
    assert look(told["go"]).css_first(".sent-files") is not None


def test_a_file_that_is_gone_refuses_the_message_and_makes_no_conversation(page: TestClient, app: App) -> None:
    kept = attach(page)
    refused = page.post("/ui/chat/send", data={"text": "Look", "attachments": f"{kept},gone"}, headers=JSON)
    assert (refused.status_code, refused.json()["hint"]) == (404, "Attach it again")
    assert app.sessions.count() == 0
    assert app.attachments.find(kept).name == "notes.md"


def test_too_many_files_refuse_the_message(page: TestClient, app: App) -> None:
    many = ",".join(str(number) for number in range(MAX_FILES + 1))
    refused = page.post("/ui/chat/send", data={"text": "Look", "attachments": many}, headers=JSON)
    assert refused.status_code == 400
    assert app.sessions.count() == 0


def test_a_message_to_a_conversation_that_is_gone_leaves_its_files_waiting(
    page: TestClient, app: App, home: DataDirectory
) -> None:
    kept = attach(page)
    data = {"text": "Look", "attachments": kept, "session_id": "session_1"}
    assert page.post("/ui/chat/send", data=data, headers=JSON).status_code == 404
    assert app.attachments.find(kept).name == "notes.md"
    assert not home.attachments.exists()


def test_a_message_that_waits_shows_the_names_of_its_files(
    page: TestClient, provider: ScriptedProvider, look: Look, app: App
) -> None:
    provider.steps = [[Hang()]]
    told = page.post("/ui/chat/send", data={"text": "first"}, headers=JSON).json()
    session_id = told["go"].removeprefix("/chat/")
    data = {"text": "second", "attachments": attach(page), "session_id": session_id}
    assert page.post("/ui/chat/send", data=data, headers=JSON).json()["queued"] is True
    waiting = look(told["go"]).css_first(".queued .said")
    assert waiting is not None
    assert waiting.text(strip=True, separator=" ").split() == ["notes.md", "second"]
    page.post("/ui/chat/send", data={"text": "/kill"}, headers=JSON)
