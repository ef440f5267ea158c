"""The button that fetches the starter model: progress, then done, or what went wrong."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
from msgspec import structs
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.errors import StorageError
from skales.core.events import Progress
from skales.localmodels.local_models import LocalModels
from skales.server.app import create_server


@dataclass
class Fetching:
    """Stands where the local models are; fetches nothing."""

    error: StorageError | None = None

    async def fetch(self, report: Callable[[Progress], None]) -> None:
        report(Progress("Fetching", 50, 100))
        if self.error:
            raise self.error
        report(Progress("Fetching", 100, 100))


def events(text: str) -> Sequence[tuple[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def fetch(page: TestClient, app: App, fetching: Fetching) -> Sequence[tuple[str, Any]]:
    server = create_server(structs.replace(app, local=cast(LocalModels, fetching)))
    client = TestClient(server, base_url="http://127.0.0.1:3000", cookies=page.cookies)
    client.portal = page.portal
    return events(client.post("/ui/local/fetch").text)


def test_progress_comes_and_then_the_end(page: TestClient, app: App) -> None:
    found = fetch(page, app, Fetching())
    assert [name for name, _ in found] == ["progress", "progress", "done"]
    assert found[0][1]["words"] == "50 bytes of 100 bytes"


def test_a_failure_is_told_in_its_own_words(page: TestClient, app: App) -> None:
    found = fetch(page, app, Fetching(StorageError("The disk is full", hint="Free 200 MB")))
    assert found[-1] == ("failed", {"text": "The disk is full. Free 200 MB"})


@pytest.mark.parametrize("path", ["/ui/local/fetch"])
def test_fetching_is_started_by_the_page_only(client: TestClient, path: str) -> None:
    assert client.post(path).status_code == 401
