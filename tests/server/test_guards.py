"""Who gets an answer: NET-02 against the real application."""

import csv

import pytest
from starlette.testclient import TestClient

from skales.app.app import App
from tests.conftest import CASES

with (CASES / "network" / "NET-02-local-server.csv").open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))


@pytest.mark.parametrize("row", ROWS, ids=[row["n"] for row in ROWS])
def test_foreign_callers_are_refused_and_own_ones_pass(client: TestClient, row: dict[str, str]) -> None:
    headers = {"host": row["host"]} if row["host"] else {}
    if row["origin"]:
        headers["origin"] = row["origin"]
    if row["content_type"]:
        headers["content-type"] = row["content_type"]
    if not row["host"]:
        headers["host"] = ""
    status = client.request(row["method"], row["path"], headers=headers).status_code
    refused = "refuse" in row["verdict"] and "allow" not in row["verdict"]
    if refused:
        assert status in (400, 403)
    elif "allow" in row["verdict"] and "refuse" not in row["verdict"]:
        assert status not in (400, 403)


def test_no_other_origin_is_named_in_an_answer(client: TestClient) -> None:
    answer = client.options("/api/chat", headers={"host": "127.0.0.1:3000", "origin": "https://attacker.example"})
    assert "access-control-allow-origin" not in answer.headers


def test_the_api_needs_a_token_or_the_pages_cookie(client: TestClient, app: App) -> None:
    assert client.get("/api/approvals").status_code == 401
    token = {"authorization": f"Bearer {app.local_token}"}
    assert client.get("/api/approvals", headers=token).json() == {"approvals": []}
    client.get("/chat", headers={"accept": "text/html"})
    assert client.get("/api/approvals").json() == {"approvals": []}


def test_the_cookie_is_for_the_page_alone(client: TestClient) -> None:
    cookie = client.get("/chat", headers={"accept": "text/html"}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_a_person_at_a_wrong_address_gets_a_page_and_a_program_json(client: TestClient) -> None:
    page = client.get("/nowhere", headers={"accept": "text/html"})
    assert (page.status_code, "Go to the chat" in page.text) == (404, True)
    assert client.get("/nowhere").json() == {"error": "Not found"}


def test_pages_allow_no_inline_script_and_no_frame(client: TestClient) -> None:
    policy = client.get("/chat", headers={"accept": "text/html"}).headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
