import json

import pytest

from skales.core.errors import ConflictError, NotFoundError, StorageError
from skales.core.json import JsonObject, JsonValue, parse_json
from skales.data.document import write_object
from skales.data.grants import Grant, GrantStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock

EVERYWHERE = ""
HERE = "session_1"
ELSEWHERE = "session_2"


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine, clock: FixedClock, ids: CountingIds) -> GrantStore:
    return GrantStore(home, quarantine, clock, ids)


def entry(**changes: JsonValue) -> JsonObject:
    return {"id": "grant_x", "tool": "write_file", "session": "", "prefix": "", "createdAt": 5, **changes}


def test_nothing_is_granted_at_first(store: GrantStore) -> None:
    assert store.list() == []
    assert store.matching("write_file", HERE) == []


def test_a_grant_is_kept_with_its_moment(store: GrantStore, home: DataDirectory, clock: FixedClock) -> None:
    grant = store.add("execute_command", HERE, "git status")
    assert grant == Grant(
        id=f"grant_{1:016x}", tool="execute_command", session_id=HERE, prefix="git status", created_ms=clock.now_ms()
    )
    assert store.list() == [grant]
    assert parse_json(home.grants.read_text(encoding="utf-8")) == {
        "grants": [
            {
                "id": grant.id,
                "tool": "execute_command",
                "session": "session_1",
                "prefix": "git status",
                "createdAt": clock.now_ms(),
            }
        ]
    }


def test_a_grant_counts_for_its_tool_and_its_conversation(store: GrantStore) -> None:
    everywhere = store.add("write_file", EVERYWHERE)
    here = store.add("write_file", HERE)
    store.add("delete_file", EVERYWHERE)
    assert store.matching("write_file", HERE) == [everywhere, here]
    assert store.matching("write_file", ELSEWHERE) == [everywhere]
    assert store.matching("write_file", EVERYWHERE) == [everywhere]
    assert store.matching("send_email", HERE) == []


def test_saying_the_same_twice_makes_one_grant(store: GrantStore) -> None:
    first = store.add("execute_command", HERE, "git status")
    assert store.add("execute_command", HERE, "git status") == first
    others = [
        store.add("execute_command", HERE, "git log"),
        store.add("execute_command", EVERYWHERE, "git status"),
        store.add("run_script", HERE, "git status"),
    ]
    assert store.list() == [first, *others]


def test_a_revoked_grant_counts_no_more(store: GrantStore) -> None:
    kept, gone = store.add("write_file", HERE), store.add("write_file", EVERYWHERE)
    store.revoke(gone.id)
    assert store.list() == [kept]
    with pytest.raises(NotFoundError, match=gone.id):
        store.revoke(gone.id)


def test_unknown_keys_and_entries_survive_every_change(store: GrantStore, home: DataDirectory) -> None:
    mine = entry(note="kept")
    write_object(home.grants, {"version": 2, "grants": ["words", mine, {"other": 1}]})
    added = store.add("delete_file", HERE)
    store.revoke(added.id)
    assert json.loads(home.grants.read_text(encoding="utf-8")) == {
        "version": 2,
        "grants": ["words", mine, {"other": 1}],
    }
    assert [grant.id for grant in store.list()] == ["grant_x"]


@pytest.mark.parametrize(
    "damaged",
    [
        {"session": None},
        {"session": 5},
        {"prefix": None},
        {"prefix": ["git"]},
        {"tool": ""},
        {"tool": None},
        {"id": 7},
    ],
)
def test_an_entry_that_cannot_be_read_in_full_grants_nothing(
    store: GrantStore, home: DataDirectory, damaged: JsonObject
) -> None:
    write_object(home.grants, {"grants": [entry(**damaged)]})
    assert store.list() == []
    present = {key: value for key, value in entry().items() if key not in damaged}
    write_object(home.grants, {"grants": [present]})
    assert store.list() == []


def test_a_grant_without_a_moment_still_counts(store: GrantStore, home: DataDirectory) -> None:
    write_object(home.grants, {"grants": [entry(createdAt="yesterday")]})
    assert [grant.created_ms for grant in store.list()] == [0]


def test_a_broken_file_grants_nothing_and_is_kept(
    store: GrantStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    home.grants.write_bytes(b'{"grants": [')
    assert store.list() == []
    assert [notice.kept_at.read_bytes() for notice in quarantine.notices()] == [b'{"grants": [']
    home.grants.write_bytes(b"[]")
    added = store.add("write_file", HERE)
    assert store.list() == [added]


def test_something_else_in_place_of_the_grants_is_left_alone(store: GrantStore, home: DataDirectory) -> None:
    write_object(home.grants, {"grants": {"all": True}})
    assert store.list() == []
    with pytest.raises(ConflictError, match="is not a list"):
        store.add("write_file", HERE)
    with pytest.raises(ConflictError, match="is not a list"):
        store.revoke("grant_x")
    assert json.loads(home.grants.read_text(encoding="utf-8")) == {"grants": {"all": True}}


def test_a_file_that_cannot_be_read_is_an_error_and_not_no_grants(store: GrantStore, home: DataDirectory) -> None:
    home.grants.mkdir()
    with pytest.raises(StorageError, match="not a plain file"):
        store.list()
