"""Cases NET-02: web pages that talk to the local server."""

import csv

import pytest

from skales.security.origin import OriginVerdict, RequestOrigin, decide_request
from tests.conftest import CASES

with (CASES / "network" / "NET-02-local-server.csv").open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))

# What the case leaves open ("allow or refuse, but the same always") and what we chose.
CHOSEN = {"5": "refuse", "11": "allow", "15": "refuse"}


def status(host: str | None = "127.0.0.1:3000", **more: str | None) -> int:
    method = more.pop("method", None) or "GET"
    request = RequestOrigin(host_values=[] if host is None else [host], port=3000, method=method, **more)
    return decide_request(request).status


@pytest.mark.parametrize("row", ROWS, ids=[row["n"] for row in ROWS])
def test_local_server_cases(row: dict[str, str]) -> None:
    wanted = CHOSEN.get(row["n"], row["verdict"])
    expected = {"allow": 200, "refuse": 403, "refuse with 400": 400}[wanted]
    assert status(row["host"], method=row["method"], origin=row["origin"] or None) == expected


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8080",
        "127.0.0.1:03000",
        "127.0.0.1.:3000",
        "localhost.:3000",
        "user@localhost:3000",
        "localhost:3000@attacker.example",
        "127.1:3000",
        "2130706433:3000",
        "0.0.0.0:3000",
        "[::]:3000",
        "[::ffff:127.0.0.1]:3000",
        "::1:3000",
        "localhost:3000 ",
        "localhost:3000/",
        "app.localhost:3000",
        "192.168.7.20:3000",
    ],
)
def test_a_host_that_is_not_exactly_ours_is_refused(host: str) -> None:
    assert status(host) == 403


@pytest.mark.parametrize("values", [[], [""], ["127.0.0.1:3000", "127.0.0.1:3000"]])
def test_a_missing_or_repeated_host_line_is_a_bad_request(values: list[str]) -> None:
    request = RequestOrigin(host_values=values, port=3000, method="GET")
    assert decide_request(request) == OriginVerdict(400, "A request needs exactly one Host header")


def test_a_host_without_port_means_port_80() -> None:
    request = RequestOrigin(host_values=["localhost"], origin="http://localhost", port=80, method="POST")
    assert decide_request(request).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://127.0.0.1:3000",
        "http://127.0.0.1",
        "http://127.0.0.1:3000, http://attacker.example",
        "http://127.0.0.1:3000/",
        "http://localhost.attacker.example:3000",
        "file://",
        "chrome-extension://abc",
        "moz-extension://abc",
    ],
)
def test_a_foreign_origin_is_refused_for_every_method(origin: str) -> None:
    assert {status(origin=origin, method=method) for method in ("GET", "POST", "OPTIONS", "DELETE")} == {403}


@pytest.mark.parametrize("origin", ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000"])
def test_every_spelling_of_our_own_origin_may_post(origin: str) -> None:
    assert status(origin=origin, method="POST") == 200


@pytest.mark.parametrize(
    ("site", "mode", "dest", "method", "expected"),
    [
        ("same-origin", "cors", "empty", "POST", 200),
        ("none", "navigate", "document", "GET", 200),
        ("cross-site", "navigate", "document", "GET", 200),
        ("same-site", "navigate", "document", "GET", 200),
        ("cross-site", "navigate", "document", "POST", 403),
        ("cross-site", "navigate", "iframe", "GET", 403),
        ("cross-site", "no-cors", "image", "GET", 403),
        ("cross-site", "no-cors", "script", "GET", 403),
        ("same-site", "cors", "empty", "GET", 403),
        ("cross-site", None, None, "GET", 403),
        ("cross-site, none", "navigate", "document", "GET", 403),
        ("new-value", "navigate", "document", "GET", 403),
    ],
)
def test_other_sites_may_link_to_us_and_nothing_else(
    site: str, mode: str | None, dest: str | None, method: str, expected: int
) -> None:
    assert status(method=method, sec_fetch_site=site, sec_fetch_mode=mode, sec_fetch_dest=dest) == expected
