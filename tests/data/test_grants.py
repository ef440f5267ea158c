import json
import signal
import subprocess
import sys
import threading
import time

import pytest

from skales.core.clock import SystemClock
from skales.core.errors import ConflictError, NotFoundError, StorageError
from skales.core.json import JsonObject, JsonValue, parse_json
from skales.data.document import write_object
from skales.data.grant_uses import GrantUse, GrantUses
from skales.data.grants import FolderReach, Grant, GrantStore, Reach, ReachKind, reach_json
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock

EVERYWHERE = ""
HERE = "session_1"
ELSEWHERE = "session_2"
NOTES = Reach(kind=ReachKind.PLACES, folders=(FolderReach("path", "/work/notes"),))


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine, clock: FixedClock, ids: CountingIds) -> GrantStore:
    return GrantStore(home, quarantine, clock, ids)


def entry(**changes: JsonValue) -> JsonObject:
    return {"id": "grant_x", "tool": "write_file", "session": "", "prefix": "", "createdAt": 5, **changes}


def give(store: GrantStore, tool: str, session_id: str, reach: Reach = NOTES, expires_ms: int = 0) -> Grant:
    draft = Grant(
        id="", tool=tool, session_id=session_id, reach=reach, about="Write", surface="page", expires_ms=expires_ms
    )
    return store.add(draft)


def command(prefix: str) -> Reach:
    return Reach(kind=ReachKind.COMMAND, prefix=prefix, folders=(FolderReach("cwd", "/work", whole=True),))


def test_nothing_is_granted_at_first(store: GrantStore) -> None:
    assert store.list() == []
    assert store.matching("write_file", HERE) == []


def test_a_grant_is_kept_with_its_rule_and_where_it_was_given(
    store: GrantStore, home: DataDirectory, clock: FixedClock
) -> None:
    grant = give(store, "execute_command", HERE, command("git status"))
    assert (grant.id, grant.created_ms) == (f"grant_{1:016x}", clock.now_ms())
    assert store.list() == [grant]
    assert parse_json(home.grants.read_text(encoding="utf-8")) == {
        "grants": [
            {
                "id": grant.id,
                "tool": "execute_command",
                "session": "session_1",
                "reach": {
                    "kind": "command",
                    "prefix": "git status",
                    "folders": [{"argument": "cwd", "folder": "/work", "whole": True}],
                    "origins": {},
                    "fixed": {},
                    "digest": "",
                },
                "about": "Write",
                "surface": "page",
                "givenIn": "",
                "createdAt": clock.now_ms(),
                "expiresAt": 0,
            }
        ]
    }


def test_grants_of_earlier_versions_still_count(store: GrantStore, home: DataDirectory) -> None:
    write_object(home.grants, {"grants": [entry(), entry(id="g2", tool="execute_command", prefix="git log")]})
    assert [grant.reach for grant in store.list()] == [
        Reach(kind=ReachKind.TOOL),
        Reach(kind=ReachKind.COMMAND, prefix="git log"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "tool"},
        {"kind": "everything"},
        {"folders": []},
        {"folders": [{"argument": "path", "folder": "", "whole": True}]},
        {"folders": [{"argument": "path", "folder": "/a", "whole": False}, "words"]},
        {"folders": "/"},
        {"origins": {"url": 5}},
        {"fixed": []},
        {"kind": "command"},
        {"kind": "call"},
        {"digest": None},
    ],
)
def test_a_rule_that_cannot_be_read_in_full_grants_nothing(
    store: GrantStore, home: DataDirectory, changes: JsonObject
) -> None:
    written = {"id": "g", "tool": "write_file", "session": ""}
    write_object(home.grants, {"grants": [{**written, "reach": reach_json(NOTES)}]})
    assert len(store.list()) == 1
    write_object(home.grants, {"grants": [{**written, "reach": {**reach_json(NOTES), **changes}}]})
    assert store.list() == []
    write_object(home.grants, {"grants": [{**written, "reach": {**reach_json(NOTES)}, "expiresAt": "never"}]})
    assert store.list() == []


def test_a_grant_ends_with_its_time_and_the_longer_of_two_counts(store: GrantStore, clock: FixedClock) -> None:
    soon, later = clock.now_ms() + 60_000, clock.now_ms() + 120_000
    give(store, "write_file", HERE, expires_ms=later)
    grant = give(store, "write_file", HERE, expires_ms=soon)
    assert [kept.expires_ms for kept in store.list()] == [later]
    clock.advance(119)
    assert store.matching("write_file", HERE) == [grant]
    clock.advance(2)
    assert store.list() == []
    for_good = give(store, "write_file", HERE)
    assert give(store, "write_file", HERE, expires_ms=clock.now_ms() + 5).expires_ms == 0
    assert [kept.id for kept in store.list()] == [for_good.id]


def test_revoking_can_be_undone(store: GrantStore) -> None:
    kept, gone = give(store, "write_file", HERE), give(store, "delete_file", EVERYWHERE)
    assert store.revoke(gone.id) == gone
    assert store.restore(gone.id) == gone
    assert store.list() == [kept, gone]
    with pytest.raises(NotFoundError):
        store.restore(gone.id)
    with pytest.raises(NotFoundError):
        store.restore("grant_404")


def test_uses_are_counted(home: DataDirectory, quarantine: Quarantine, clock: FixedClock) -> None:
    uses = GrantUses(home, quarantine, clock)
    assert uses.all() == {}
    uses.note("grant_1")
    clock.advance(1)
    uses.note("grant_1")
    uses.note("grant_2")
    assert uses.all() == {"grant_1": GrantUse(2, clock.now_ms()), "grant_2": GrantUse(1, clock.now_ms())}
    home.grant_uses.write_bytes(b"[")
    assert uses.all() == {}


def test_threads_that_give_and_revoke_at_once_lose_nothing(
    home: DataDirectory, quarantine: Quarantine, clock: FixedClock
) -> None:
    def work(number: int) -> None:
        store = GrantStore(home, quarantine, clock, _OwnIds(number))
        for turn in range(5):
            give(store, f"tool_{number}_{turn}", EVERYWHERE)
        store.revoke(store.matching(f"tool_{number}_0", EVERYWHERE)[0].id)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {grant.tool for grant in GrantStore(home, quarantine, clock, CountingIds()).list()}
    assert found == {f"tool_{number}_{turn}" for number in range(4) for turn in range(1, 5)}


class _OwnIds(CountingIds):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.count = number * 1000


_WRITER = """
import sys
from pathlib import Path
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.grants import FolderReach, Grant, GrantStore, Reach, ReachKind
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine

home, clock = DataDirectory(Path(sys.argv[1])), SystemClock()
store = GrantStore(home, Quarantine(home.quarantine, clock), clock, RandomIds())
number = 0
while True:
    reach = Reach(kind=ReachKind.PLACES, folders=(FolderReach("path", f"/work/{number}/" + "x" * 2000),))
    grant = store.add(Grant(id="", tool="write_file", session_id="", reach=reach))
    print(grant.id, flush=True)
    number += 1
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
def test_the_file_is_whole_when_the_program_is_killed_while_it_writes(home: DataDirectory) -> None:
    clock = SystemClock()
    quarantine = Quarantine(home.quarantine, clock)
    store = GrantStore(home, quarantine, clock, CountingIds())
    said: list[str] = []
    for turn in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(home.root)], stdout=subprocess.PIPE, encoding="utf-8"
        ) as own:
            assert own.stdout is not None
            said.append(own.stdout.readline().strip())
            time.sleep(0.003 * turn)
            own.send_signal(signal.SIGKILL)
            said += own.stdout.read().split()
        kept = {grant.id for grant in store.list()}
        # The last line may be cut; every grant that was reported before it is there.
        assert {line for line in said if len(line) == len(said[0])} <= kept
        assert list(quarantine.notices()) == []


def test_a_grant_counts_for_its_tool_and_its_conversation(store: GrantStore) -> None:
    everywhere = give(store, "write_file", EVERYWHERE)
    here = give(store, "write_file", HERE)
    give(store, "delete_file", EVERYWHERE)
    assert store.matching("write_file", HERE) == [everywhere, here]
    assert store.matching("write_file", ELSEWHERE) == [everywhere]
    assert store.matching("write_file", EVERYWHERE) == [everywhere]
    assert store.matching("send_email", HERE) == []


def test_saying_the_same_twice_makes_one_grant(store: GrantStore) -> None:
    first = give(store, "execute_command", HERE, command("git status"))
    assert give(store, "execute_command", HERE, command("git status")) == first
    others = [
        give(store, "execute_command", HERE, command("git log")),
        give(store, "execute_command", EVERYWHERE, command("git status")),
        give(store, "run_script", HERE, command("git status")),
    ]
    assert store.list() == [first, *others]


def test_a_revoked_grant_counts_no_more(store: GrantStore) -> None:
    kept, gone = give(store, "write_file", HERE), give(store, "write_file", EVERYWHERE)
    store.revoke(gone.id)
    assert store.list() == [kept]
    with pytest.raises(NotFoundError, match=gone.id):
        store.revoke(gone.id)


def test_unknown_keys_and_entries_survive_every_change(store: GrantStore, home: DataDirectory) -> None:
    mine = entry(note="kept")
    write_object(home.grants, {"version": 2, "grants": ["words", mine, {"other": 1}]})
    added = give(store, "delete_file", HERE)
    store.revoke(added.id)
    written = json.loads(home.grants.read_text(encoding="utf-8"))
    assert [revoked["id"] for revoked in written.pop("revoked")] == [added.id]
    assert written == {"version": 2, "grants": ["words", mine, {"other": 1}]}
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
    added = give(store, "write_file", HERE)
    assert store.list() == [added]


def test_something_else_in_place_of_the_grants_is_left_alone(store: GrantStore, home: DataDirectory) -> None:
    write_object(home.grants, {"grants": {"all": True}})
    assert store.list() == []
    with pytest.raises(ConflictError, match="is not a list"):
        give(store, "write_file", HERE)
    with pytest.raises(ConflictError, match="is not a list"):
        store.revoke("grant_x")
    assert json.loads(home.grants.read_text(encoding="utf-8")) == {"grants": {"all": True}}


def test_a_file_that_cannot_be_read_is_an_error_and_not_no_grants(store: GrantStore, home: DataDirectory) -> None:
    home.grants.mkdir()
    with pytest.raises(StorageError, match="not a plain file"):
        store.list()
