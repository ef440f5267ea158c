"""Downloads: the right bytes under the right name, whole and by itself."""

import io
import json
import zipfile
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.core.ids import SessionId
from skales.core.message import ImagePart, Message, Role, TextPart, text_message
from skales.core.tool import ToolCall

Said = Callable[..., SessionId]

SECRET = "sk-proj-Zk3xQ9vT2mB7nL4pR8wY1cF6hJ5dS0gA"
ALL = "steps=true&thoughts=true&receipts=true"


@pytest.fixture
def session_id(said: Said) -> SessionId:
    call = ToolCall("c1", "read_file", {"path": "a.txt"})
    return said(
        Message(
            role=Role.USER, content=(TextPart(f"<b>Use</b> {SECRET}"), ImagePart("image/png", "iVBORw0KGgo=", "p"))
        ),
        Message(role=Role.ASSISTANT, tool_calls=(call,), reasoning="Let me think"),
        Message(role=Role.TOOL, tool_call_id="c1", content=(TextPart("</pre><script>alert(1)</script>"),)),
        Message(role=Role.ASSISTANT, content=(TextPart("**Done** <script>alert(2)</script>\n\n```py\nx=1\n```"),)),
        title='Grüße "/ all\r\nof it',
    )


@pytest.mark.parametrize(
    ("form", "media_type", "start"),
    [
        ("md", "text/markdown; charset=utf-8", b"# Gr"),
        ("json", "application/json", b"{"),
        ("html", "text/html; charset=utf-8", b"<!doctype html>"),
        ("pdf", "application/pdf", b"%PDF-"),
    ],
)
def test_each_form_is_a_download(page: TestClient, session_id: str, form: str, media_type: str, start: bytes) -> None:
    answer = page.get(f"/ui/sessions/{session_id}/export?format={form}&{ALL}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.headers["cache-control"] == "no-store"
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith("attachment; ")
    assert disposition.endswith(f"%20Gr%C3%BC%C3%9Fe%20all%20of%20it.{form}")
    assert answer.content.startswith(start)
    assert SECRET.encode() not in answer.content


def test_the_html_file_needs_nothing_and_does_nothing(page: TestClient, session_id: str) -> None:
    tree = HTMLParser(page.get(f"/ui/sessions/{session_id}/export?format=html&{ALL}").text)
    assert not tree.css("script, link, iframe, object, embed, form")
    assert all(not name.startswith("on") for node in tree.css("*") for name in node.attributes)
    assert [image.attributes["src"] for image in tree.css("img")] == ["data:image/png;base64,iVBORw0KGgo="]
    policy = tree.css("meta[http-equiv]")[0].attributes["content"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    (style,) = tree.css("style")
    assert "url(" not in style.text()
    assert "@import" not in style.text()
    assert tree.css(".person .text")[0].text().startswith("<b>Use</b> [secret: OpenAI key sk-proj-…")
    assert tree.css(".prose strong")[0].text() == "Done"
    assert "</pre><script>alert(1)</script>" in tree.css(".step pre + p + pre")[0].text()


def test_the_options_count_and_nothing_is_added_unasked(page: TestClient, session_id: str) -> None:
    whole = page.get(f"/ui/sessions/{session_id}/export?format=md&{ALL}").text
    plain = page.get(f"/ui/sessions/{session_id}/export?format=md").text
    assert "read_file" in whole
    assert "Let me think" in whole
    assert "read_file" not in plain
    assert "Let me think" not in plain


def test_an_unknown_form_is_refused(page: TestClient, session_id: str) -> None:
    assert page.get(f"/ui/sessions/{session_id}/export?format=docx").status_code in (400, 422)
    assert page.get("/ui/history/export?format=pdf").status_code == 400


@pytest.mark.parametrize("form", ["md", "json"])
def test_all_conversations_come_in_one_archive(page: TestClient, said: Said, session_id: str, form: str) -> None:
    said(text_message(Role.USER, "Second"), title="Second")
    answer = page.get(f"/ui/history/export?format={form}")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["x-entries"] == "2"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        contents = [archive.read(name).decode() for name in names]
    assert sorted(name[11:] for name in names) == [f"Grüße all of it.{form}", f"Second.{form}"]
    assert SECRET not in "".join(contents)


def test_the_archive_of_json_can_be_read_again(page: TestClient, session_id: str) -> None:
    with zipfile.ZipFile(io.BytesIO(page.get("/ui/history/export?format=json").content)) as archive:
        (content,) = (json.loads(archive.read(name)) for name in archive.namelist())
    assert content["exportVersion"] == 1
    assert content["id"] == session_id
    assert len(content["messages"]) == 4
