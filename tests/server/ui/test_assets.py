"""The page's files: kept for good under their digest, asked for again under any other address."""

import re

import pytest
from starlette.testclient import TestClient

from skales.server.ui.assets import asset_address, sheet_address


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


def test_every_script_that_is_imported_is_there(client: TestClient) -> None:
    todo, seen = ["main.js", "settings-page.js"], set[str]()
    while todo:
        name = todo.pop()
        seen.add(name)
        answer = client.get(asset_address(f"js/{name}"))
        assert answer.status_code == 200
        todo.extend(set(re.findall(r'(?:from |import\()"\./([^"]+)"', answer.text)) - seen)
    assert {"finder.js", "preview.js"} <= seen
    assert "live.js" not in seen


def test_in_development_each_module_comes_as_it_is(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = asset_address("js/main.js")
    monkeypatch.setenv("SKALES_DEV", "1")
    alone = asset_address("js/main.js")
    assert alone != joined
    assert 'import { startLive } from "./live.js";' in client.get(alone).text
    assert client.get(asset_address("js/live.js")).status_code == 200


def test_sheets_come_joined_in_the_order_they_are_named(client: TestClient) -> None:
    answer = client.get(sheet_address(("elements", "tokens")))
    assert "immutable" in answer.headers["cache-control"]
    assert answer.text == "".join(client.get(asset_address(f"css/{name}.css")).text for name in ("elements", "tokens"))


@pytest.mark.parametrize("path", ["css/tokens+none.css", "css/tokens+tokens.css", "css/tokens+.css", "css/tokens"])
def test_sheets_that_are_not_there_or_come_twice_are_not_joined(client: TestClient, path: str) -> None:
    assert client.get(asset_address("favicon.svg").replace("favicon.svg", path)).status_code == 404


@pytest.mark.parametrize(
    ("accepted", "path", "encoding"),
    [
        ("gzip, deflate, br", "css/tokens.css", "gzip"),
        ("br;q=1.0, GZIP;q=0.5", "js/main.js", "gzip"),
        ("gzip;q=0", "js/main.js", None),
        ("identity", "js/main.js", None),
        ("", "js/main.js", None),
        ("gzip", "vendor/fonts/madefor-latin.woff2", None),
    ],
)
def test_text_is_compressed_for_those_who_take_it(
    client: TestClient, accepted: str, path: str, encoding: str | None
) -> None:
    answer = client.get(asset_address(path), headers={"accept-encoding": accepted})
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.content == client.get(asset_address(path), headers={"accept-encoding": "identity"}).content
