"""The probe on the page: progress, findings, badges that last, and what is told when nobody answers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.data.model_probes import ProbeResult
from tests.server.ui.conftest import Look
from tests.servers.raw_sse import RawServer, Reply

NO = Reply(b'{"error":{"message":"this endpoint cannot do that"}}', status=400, content_type="application/json")


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture
def lab(app: App, server: RawServer) -> RawServer:
    """A provider whose endpoint refuses whatever it is asked."""
    app.settings.set_provider("custom_lab", base_url=server.url, model="m")
    server.replies.extend([NO] * 8)
    return server


def frames_of(page: TestClient, provider_id: str) -> list[tuple[str, Any]]:
    text = page.post(f"/ui/settings/providers/{provider_id}/probe").text
    lines = [frame.split("\n") for frame in text.split("\n\n") if frame.startswith("event: ")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in lines]


def test_a_probe_tells_each_step_and_keeps_what_it_found(page: TestClient, app: App, lab: RawServer) -> None:
    frames = frames_of(page, "custom_lab")
    names = [name for name, _ in frames]
    assert names[:2] == ["progress", "finding"]
    assert names[-1] == "end"
    assert next(data["words"] for name, data in frames if name == "progress") == "0 of 5"
    part = HTMLParser(frames[-1][1]["html"])
    told = [node.text(strip=True) for node in part.css(".badge")]
    assert told[0] == "calls tools: no"
    assert "measured at" in part.text()
    kept = app.models.measured("custom_lab", "m")
    assert kept is not None
    assert kept.tools is False


def test_badges_stand_on_the_card_until_the_next_probe(look: Look, app: App) -> None:
    app.settings.set_provider("custom_lab", base_url="http://127.0.0.1:9/v1", model="m")
    result = ProbeResult(address="http://127.0.0.1:9/v1", tools=True, json=False, context_tokens=8_192)
    app.models._stores.probes.save("custom_lab", "m", result)
    part = look("/settings/providers?open=custom_lab").css_first("[data-probe=custom_lab]")
    assert part is not None
    assert [(node.text(strip=True), "good" in (node.attributes["class"] or "")) for node in part.css(".badge")] == [
        ("calls tools", True),
        ("calls several at once: not known", False),
        ("writes JSON to a schema: no", False),
        ("sees pictures: not known", False),
        ("8,192 tokens of context", False),
    ]


def test_nobody_there_is_told_with_what_to_do(page: TestClient, app: App) -> None:
    app.settings.set_provider("custom_lab", base_url="http://127.0.0.1:9/v1", model="m")
    part = HTMLParser(frames_of(page, "custom_lab")[-1][1]["html"])
    assert part.css_first('[role="alert"]') is not None
    assert part.css(".badge") == []


def test_the_embedded_model_has_nothing_to_find_out(look: Look) -> None:
    assert look("/settings/providers?open=skales_local").css_first("[data-probe]") is None


def test_a_provider_that_does_not_exist_is_said_to_be_none(page: TestClient) -> None:
    assert page.post("/ui/settings/providers/nobody/probe").status_code == 404
