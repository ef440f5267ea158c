"""The DevKit contract: status order, exact words, shapes, frames. Spec: http-api.md."""

import json
import re

import pytest
from starlette.testclient import TestClient

from skales.app.app import App
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from tests.scripted import ScriptedProvider, calls, says

TOKEN = {"authorization": "Bearer my-own-secret", "content-type": "application/json"}
GUARDED = [
    ("GET", "/api/cli/tools"),
    ("GET", "/api/cli/model"),
    ("PUT", "/api/cli/model"),
    ("GET", "/api/cli/sessions"),
    ("DELETE", "/api/cli/sessions?id=x"),
    ("GET", "/api/cli/memory"),
    ("POST", "/api/cli/memory"),
    ("DELETE", "/api/cli/memory?id=x"),
    ("GET", "/api/cli/status"),
    ("POST", "/api/cli/chat"),
]


def switch_on(home: DataDirectory, token: str = "my-own-secret") -> None:
    write_object(home.devkit, {"enabled": True, "version": "0.5.0", "api": {"enabled": True, "token": token}})


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_switched_off_is_403(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, path, headers=TOKEN)
    assert (answer.status_code, answer.json()) == (403, {"error": "DevKit not enabled"})


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_no_token_set_is_500(client: TestClient, home: DataDirectory, method: str, path: str) -> None:
    switch_on(home, token="")
    answer = client.request(method, path, headers=TOKEN)
    assert (answer.status_code, answer.json()) == (500, {"error": "DevKit token not configured"})


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize("given", ["", "Bearer wrong", "my-own-secret", "Basic my-own-secret"])
def test_a_wrong_token_is_401(client: TestClient, home: DataDirectory, method: str, path: str, given: str) -> None:
    switch_on(home)
    answer = client.request(method, path, headers={"authorization": given})
    assert (answer.status_code, answer.json()) == (401, {"error": "Invalid DevKit token"})


def test_devkit_status_and_docs_are_open(client: TestClient, home: DataDirectory) -> None:
    assert client.get("/api/cli/devkit-status").json() == {"enabled": False, "version": None}
    assert client.get("/api/cli/devkit-docs").json() == {"error": "DevKit not enabled"}


def test_devkit_docs_give_the_page_text(client: TestClient, home: DataDirectory) -> None:
    switch_on(home)
    home.devkit_page.write_text("# Mine\n", encoding="utf-8")
    assert client.get("/api/cli/devkit-status").json() == {"enabled": True, "version": "0.5.0"}
    assert client.get("/api/cli/devkit-docs").json() == {"content": "# Mine\n"}


def test_the_status_has_every_field_the_client_reads(client: TestClient, home: DataDirectory) -> None:
    switch_on(home)
    status = client.get("/api/cli/status", headers=TOKEN).json()
    assert status["app"] == "Skales"
    assert {"version", "author", "homepage", "provider", "model", "timestamp"} <= set(status)
    counts = {"memory_count", "session_count", "tools_count", "uptime_ms"}
    assert all(isinstance(status[name], int) for name in counts)
    assert status["devkit_version"] == "0.5.0"
    assert client.post("/api/cli/status", headers=TOKEN).status_code == 405


def test_tools_are_listed_with_their_gate(client: TestClient, home: DataDirectory) -> None:
    switch_on(home)
    tools = client.get("/api/cli/tools", headers=TOKEN).json()["tools"]
    assert {"name", "description", "enabled"} == set(tools[0])
    assert "read_file" in [tool["name"] for tool in tools]


def test_the_model_is_read_and_switched_but_never_created(client: TestClient, home: DataDirectory, app: App) -> None:
    switch_on(home)
    put = client.put
    assert put("/api/cli/model", headers=TOKEN, json={"provider": "openai"}).json() == {
        "error": "Both provider and model are required"
    }
    answer = put("/api/cli/model", headers=TOKEN, json={"provider": "openai", "model": "gpt-5.5"})
    assert (answer.status_code, answer.json()) == (400, {"error": "Unknown provider: openai"})
    app.settings.set_provider("openai", api_key="sk-abcdefghijklmnop")
    answer = put("/api/cli/model", headers=TOKEN, json={"provider": "openai", "model": "gpt-5.5"})
    assert answer.json() == {"success": True, "provider": "openai", "model": "gpt-5.5"}
    assert client.get("/api/cli/model", headers=TOKEN).json() == {
        "provider": "openai",
        "model": "gpt-5.5",
        "baseUrl": "",
        "enabled": True,
    }


def test_sessions_are_listed_read_and_deleted(client: TestClient, home: DataDirectory, app: App) -> None:
    switch_on(home)
    session = app.sessions.create(title="Mine")
    listed = client.get("/api/cli/sessions", headers=TOKEN).json()
    assert listed["count"] == 1
    assert {"id", "title", "provider", "model", "messageCount", "createdAt", "updatedAt"} <= set(listed["sessions"][0])
    assert client.get(f"/api/cli/sessions?id={session.id}", headers=TOKEN).json()["session"]["messages"] == []
    answer = client.delete(f"/api/cli/sessions?id={session.id}", headers=TOKEN)
    assert answer.json() == {"success": True, "deleted": session.id}
    for method in ("GET", "DELETE"):
        answer = client.request(method, f"/api/cli/sessions?id={session.id}", headers=TOKEN)
        assert (answer.status_code, answer.json()["error"]) == (404, "Session not found")


def test_memories_are_added_listed_and_deleted(client: TestClient, home: DataDirectory) -> None:
    switch_on(home)
    assert client.get("/api/cli/memory", headers=TOKEN).json() == {"memories": [], "count": 0}
    body = {"content": "Likes tea", "category": "preference", "keywords": "tea"}
    added = client.post("/api/cli/memory", headers=TOKEN, json=body).json()
    assert added["success"] is True
    memory = added["memory"]
    assert (memory["content"], memory["category"], memory["relevance_keywords"]) == ("Likes tea", "preference", [])
    assert memory["source_conversation_id"] == "devkit-cli"
    client.post("/api/cli/memory", headers=TOKEN, json={"content": "Lives in Graz", "keywords": ["graz"]})
    listed = client.get("/api/cli/memory", headers=TOKEN).json()
    assert (listed["count"], {found["category"] for found in listed["memories"]}) == (2, {"preference", "fact"})
    deleted = client.delete(f"/api/cli/memory?id={memory['id']}", headers=TOKEN).json()
    assert deleted == {"success": True, "deleted": memory["id"]}


@pytest.mark.parametrize(
    ("request_line", "body", "expected"),
    [
        ("POST /api/cli/memory", {}, (400, "content is required")),
        ("POST /api/cli/memory", {"content": 3}, (400, "content is required")),
        ("DELETE /api/cli/memory", None, (400, "id parameter is required")),
        ("DELETE /api/cli/memory?id=mem_0", None, (404, "Memory not found")),
        ("DELETE /api/cli/memory?id=../x", None, (404, "Memory not found")),
    ],
)
def test_memories_refuse_what_they_cannot_use(
    client: TestClient, home: DataDirectory, request_line: str, body: object, expected: tuple[int, str]
) -> None:
    switch_on(home)
    method, path = request_line.split(" ")
    answer = client.request(method, path, headers=TOKEN, json=body)
    assert (answer.status_code, answer.json()["error"]) == expected


def frames_of(body: str) -> list[dict[str, object]]:
    assert all(re.fullmatch(r"data: \{.*\}|: .*|", line) for line in body.split("\n"))
    return [json.loads(line[6:]) for line in body.split("\n") if line.startswith("data: ")]


def test_chat_makes_a_session_and_answers_in_compact_frames(client: TestClient, home: DataDirectory, app: App) -> None:
    switch_on(home)
    answer = client.post("/api/cli/chat", headers=TOKEN, json={"message": "Hi"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    (session,) = app.sessions.list()
    assert session.title == "CLI Session"
    assert answer.text == (
        f'data: {{"type":"text","content":"Hello there."}}\n\ndata: {{"type":"done","sessionId":"{session.id}"}}\n\n'
    )


def test_chat_shows_tools_and_goes_on_in_a_session(
    client: TestClient, home: DataDirectory, app: App, provider: ScriptedProvider
) -> None:
    switch_on(home)
    provider.steps = [calls(("list_directory", {"path": "."}), ("get_system_info", {})), says("Done.")]
    session = app.sessions.create()
    body = client.post("/api/cli/chat", headers=TOKEN, json={"message": "Hi", "sessionId": session.id}).text
    kinds = [frame["type"] for frame in frames_of(body)]
    assert kinds == ["tool_call", "tool_result", "tool_result", "text", "done"]
    assert all(len(str(frame.get("result", ""))) <= 200 for frame in frames_of(body))


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({}, 400, "message is required"),
        ({"message": "  "}, 400, "message is required"),
        ({"message": 3}, 400, "message is required"),
        ({"message": "hi", "sessionId": "session_1"}, 404, "Session not found"),
        ({"message": "hi", "sessionId": "../../etc"}, 404, "Session not found"),
    ],
)
def test_chat_says_what_is_wrong_before_streaming(
    client: TestClient, home: DataDirectory, body: dict[str, object], status: int, error: str
) -> None:
    switch_on(home)
    answer = client.post("/api/cli/chat", headers=TOKEN, json=body)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_a_body_that_is_no_json_is_400(client: TestClient, home: DataDirectory) -> None:
    switch_on(home)
    answer = client.post("/api/cli/chat", headers=TOKEN, content=b"{")
    assert answer.status_code == 400
    assert "error" in answer.json()


def test_a_bearer_on_an_empty_get_is_fine_and_nothing_redirects(client: TestClient, home: DataDirectory) -> None:
    switch_on(home)
    assert client.get("/api/cli/status", headers=TOKEN).status_code == 200
    assert client.get("/api/cli/status/", headers=TOKEN, follow_redirects=False).status_code == 404
