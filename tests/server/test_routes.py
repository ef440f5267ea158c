"""Routes load with the first request for one of their places, and answer as if they had been there from the start."""

import subprocess
import sys

import pytest
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from skales.app.app import App
from skales.server.later import LaterRoutes
from skales.server.routes import list_routes

GROUPS = list_routes()


def paths_of(group: LaterRoutes) -> set[str]:
    """The addresses of its routes, with their variables."""
    return {str(context.path) for context in iter_route_contexts(group.load())}


@pytest.mark.parametrize("group", GROUPS, ids=repr)
def test_every_route_lies_in_a_place_of_its_group(group: LaterRoutes) -> None:
    assert paths_of(group)
    assert {path for path in paths_of(group) if not group.covers(path)} == set()


@pytest.mark.parametrize("group", GROUPS, ids=repr)
def test_every_place_leads_to_a_route(group: LaterRoutes) -> None:
    idle = {place for place in group.places if not any(f"{path}/".startswith(f"{place}/") for path in paths_of(group))}
    assert idle == set()


def test_no_screen_is_loaded_at_the_start() -> None:
    asked = (
        "import sys; import skales.server.listen; print(*(m for m in sys.modules if 'server.ui' in m or 'jinja2' in m))"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, encoding="utf-8", check=True).stdout
    assert said.split() == []


def test_another_method_is_refused_as_such(client: TestClient) -> None:
    answer = client.delete("/api/health")
    assert answer.status_code == 405
    assert answer.json() == {"error": "Method not allowed"}


def test_a_route_of_a_later_group_at_the_same_place_is_found(app: App, client: TestClient) -> None:
    client.get("/chat", headers={"accept": "text/html"})
    session = app.sessions.create()
    # Three groups have `/ui/sessions`, and only the last an export.
    assert client.get(f"/ui/sessions/{session.id}/export?format=json").status_code == 200
    assert client.get(f"/ui/sessions/{session.id}/nothing").json() == {"error": "Not found"}


@pytest.mark.parametrize("path", ["/chatter", "/api/healthy", "/toolsmith", "/taskss", "/x/tasks"])
def test_what_only_begins_alike_is_not_there(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
