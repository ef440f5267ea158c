"""The page's files: kept for good under their digest, asked for again under any other address."""

import re

import pytest
from starlette.testclient import TestClient

from skales.server.ui.assets import asset_address


def test_a_file_under_its_digest_is_kept_for_good(client: TestClient) -> None:
    answer = client.get(asset_address("css/tokens.css"))
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"] == "text/css; charset=utf-8"


def test_a_file_under_an_old_digest_is_the_present_one_and_not_kept(client: TestClient) -> None:
    answer = client.get("/static/000000000000/js/main.js")
    assert answer.text == client.get(asset_address("js/main.js")).text
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get("/static/000000000000/js/main.js", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["js/none.js", "../views.py", "%2e%2e/views.py", "vendor/README.md", "", "css"])
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    version = asset_address("favicon.svg").split("/")[2]
    assert client.get(f"/static/{version}/{path}").status_code == 404


def test_every_module_that_is_imported_is_there(client: TestClient) -> None:
    todo, seen = ["main.js"], set[str]()
    while todo:
        name = todo.pop()
        seen.add(name)
        answer = client.get(asset_address(f"js/{name}"))
        assert answer.status_code == 200
        todo.extend(set(re.findall(r'from "\./([^"]+)"', answer.text)) - seen)
    assert "live.js" in seen
