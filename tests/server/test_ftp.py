import pytest
from starlette.testclient import TestClient

from skales.app.app import App

PROFILE = {"alias": "Shop", "host": "example.org", "username": "ada", "password": "lovelace", "protocol": "ftps"}
ROUTES = [
    ("GET", "/api/ftp/profiles"),
    ("POST", "/api/ftp/profiles"),
    ("DELETE", "/api/ftp/profiles/shop"),
    ("POST", "/api/ftp/profiles/shop/test"),
    ("POST", "/api/ftp/profiles/shop/trust"),
]


@pytest.fixture
def known(client: TestClient, app: App) -> TestClient:
    client.headers["authorization"] = f"Bearer {app.local_token}"
    return client


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("token", ["", "Bearer wrong"])
def test_strangers_are_turned_away(client: TestClient, method: str, path: str, token: str) -> None:
    answer = client.request(method, path, json=PROFILE, headers={"authorization": token})
    assert answer.status_code == 401


def test_a_password_goes_in_and_never_comes_out(known: TestClient, app: App) -> None:
    saved = known.post("/api/ftp/profiles", json=PROFILE)
    listed = known.get("/api/ftp/profiles")
    assert saved.status_code == 200
    assert app.ftp_profiles.find("shop").password == "lovelace"
    for answer in (saved, listed):
        assert "lovelace" not in answer.text
    (row,) = listed.json()["profiles"]
    assert (row["alias"], row["port"], row["protocol"], row["hasPassword"]) == ("Shop", 21, "ftps", True)


@pytest.mark.parametrize(
    "change",
    [{"password": "••••"}, {"host": "http://x"}, {"port": 70_000}, {"protocol": "scp"}, {"more": 1}, {"alias": ""}],
)
def test_bad_profiles_are_refused_without_repeating_them(known: TestClient, change: dict[str, object]) -> None:
    answer = known.post("/api/ftp/profiles", json={**PROFILE, **change})
    assert 400 <= answer.status_code < 500
    assert "lovelace" not in answer.text
    assert known.get("/api/ftp/profiles").json() == {"profiles": []}


def test_a_profile_is_tried_trusted_and_removed(known: TestClient, app: App) -> None:
    known.post("/api/ftp/profiles", json={**PROFILE, "host": "127.0.0.1", "port": 9})
    tried = known.post("/api/ftp/profiles/shop/test").json()
    assert tried["isError"] is True
    assert "allowLoopback" in tried["text"]
    app.ftp_profiles.pin(app.ftp_profiles.find("shop").id, "SHA256:x")
    assert known.post("/api/ftp/profiles/shop/trust").json()["success"] is True
    assert app.ftp_profiles.find("shop").pin == ""
    assert known.delete("/api/ftp/profiles/shop").json()["success"] is True
    assert known.delete("/api/ftp/profiles/shop").status_code == 404
