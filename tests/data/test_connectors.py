"""connectors.json: what a person set up survives, and what cannot be used does no harm."""

import json
from pathlib import Path

import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError, StorageError
from skales.data.connectors import AuthKind, Connector, ConnectorAuth, ConnectorStore, connector_id
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import CONNECTORS
from tests.conftest import FixedClock
from tests.opened import read_opened


@pytest.fixture
def store(home: DataDirectory) -> ConnectorStore:
    return ConnectorStore(home, Quarantine(home.quarantine, FixedClock()))


def crm(**more: object) -> Connector:
    facts: dict[str, object] = {"id": "", "name": "My CRM", "base_url": "https://crm.example/api/", **more}
    return Connector(**facts)  # type: ignore[arg-type]


def test_a_connector_comes_back_as_it_was_made(store: ConnectorStore, home: DataDirectory) -> None:
    auth = ConnectorAuth(kind=AuthKind.HEADER, name="X-Key", secret="s3cret")
    made = store.add(crm(auth=auth, headers={"X-A": "b"}, methods=("get", "POST")))
    assert made == Connector(
        id="my-crm",
        name="My CRM",
        base_url="https://crm.example/api",
        auth=auth,
        headers={"X-A": "b"},
        methods=("GET", "POST"),
    )
    assert ConnectorStore(home, Quarantine(home.quarantine, FixedClock())).list() == [made]
    assert store.get("MY crm") == store.get("My-CRM") == made
    assert home.connectors.stat().st_mode & 0o777 == 0o600
    assert "s3cret" not in repr(made)


def test_file_is_the_shape_of_the_contract(store: ConnectorStore, home: DataDirectory) -> None:
    store.add(crm(auth=ConnectorAuth(kind=AuthKind.BEARER, name="ignored", secret="k")))
    assert read_opened(home, CONNECTORS) == {
        "connectors": [
            {
                "id": "my-crm",
                "name": "My CRM",
                "baseUrl": "https://crm.example/api",
                "auth": {"kind": "bearer", "secret": "k"},
                "headers": {},
                "allowedMethods": ["GET"],
            }
        ]
    }


def test_no_tool_may_read_the_file(home: DataDirectory) -> None:
    assert home.connectors in home.private


def test_second_of_a_name_is_refused(store: ConnectorStore) -> None:
    store.add(crm())
    with pytest.raises(ConflictError, match="already"):
        store.add(crm(name="my  crm"))
    assert len(store.list()) == 1


def test_secret_can_be_replaced_and_the_rest_of_the_file_stays(store: ConnectorStore, home: DataDirectory) -> None:
    store.add(crm(auth=ConnectorAuth(kind=AuthKind.BEARER)))
    raw = json.loads(home.connectors.read_text(encoding="utf-8"))
    raw["other"] = 1
    raw["connectors"][0]["note"] = "mine"
    raw["connectors"].append({"id": "broken", "baseUrl": "ftp://x"})
    home.connectors.write_text(json.dumps(raw), encoding="utf-8")
    store.set_secret("my-crm", " key-2 ")
    kept = json.loads(home.connectors.read_text(encoding="utf-8"))
    assert store.get("my-crm").auth.secret == "key-2"
    assert (kept["other"], kept["connectors"][0]["note"], kept["connectors"][1]["id"]) == (1, "mine", "broken")
    assert [connector.id for connector in store.list()] == ["my-crm"]
    store.remove("my-crm")
    assert store.list() == []
    assert json.loads(home.connectors.read_text(encoding="utf-8"))["connectors"] == [
        {"id": "broken", "baseUrl": "ftp://x"}
    ]


def test_unknown_name_lists_what_there_is(store: ConnectorStore) -> None:
    with pytest.raises(NotFoundError, match="skales connectors add"):
        store.get("x")
    store.add(crm())
    with pytest.raises(NotFoundError, match="There are: my-crm"):
        store.remove("x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_url": ""}, "needs a base address"),
        ({"base_url": "ftp://crm.example"}, "must start with"),
        ({"base_url": "http://crm.example"}, "https"),
        ({"base_url": "https://user:pw@crm.example"}, "must not hold"),
        ({"base_url": "https://crm.example/?key=1"}, "must not hold"),
        ({"base_url": "http://169.254.169.254/"}, "link-local"),
        ({"name": "…"}, "needs a name"),
        ({"methods": ("BREW",)}, "not a method"),
        ({"headers": {"Bad Name": "x"}}, "cannot be sent"),
        ({"headers": {"X": "a\nb"}}, "cannot be sent"),
        ({"auth": ConnectorAuth(kind=AuthKind.BASIC)}, "needs a user name"),
        ({"auth": ConnectorAuth(kind=AuthKind.BASIC, name="a:b")}, "needs a user name"),
        ({"auth": ConnectorAuth(kind=AuthKind.HEADER, name="a b")}, "needs a name"),
        ({"auth": ConnectorAuth(kind=AuthKind.QUERY)}, "needs a name"),
        ({"auth": ConnectorAuth(kind=AuthKind.BEARER, secret="a\nb")}, "no key or password"),
    ],
)
def test_what_cannot_be_used_is_not_kept(
    store: ConnectorStore, home: DataDirectory, change: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        store.add(crm(**change))
    assert not home.connectors.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"connectors": 7}', '{"connectors": [1, null, {"id": 3}]}', "{broken"])
def test_file_that_is_none_counts_as_empty(store: ConnectorStore, home: DataDirectory, text: str) -> None:
    home.connectors.write_text(text, encoding="utf-8")
    assert store.list() == []
    store.add(crm())
    assert len(store.list()) == 1


def test_sign_in_without_a_secret_takes_none(store: ConnectorStore) -> None:
    store.add(crm())
    with pytest.raises(ConflictError, match="without a secret"):
        store.set_secret("my-crm", "x")


@pytest.mark.parametrize(("name", "slug"), [("My CRM", "my-crm"), ("  a--B  ", "a-b"), ("x" * 90, "x" * 60)])
def test_id_follows_the_name(name: str, slug: str) -> None:
    assert connector_id(name) == slug


def test_link_in_place_of_the_file_is_not_followed(store: ConnectorStore, home: DataDirectory, tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text("{}", encoding="utf-8")
    home.connectors.symlink_to(target)
    with pytest.raises(StorageError):
        store.add(crm())
    assert target.read_text(encoding="utf-8") == "{}"
