"""`skales grants` and `skales why` without a running server: they list, take back and explain, and run nothing."""

import json

import pytest

from skales.cli.main import main
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.grants import FolderReach, Grant, GrantStore, Reach, ReachKind
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def store(home: DataDirectory) -> GrantStore:
    clock = SystemClock()
    return GrantStore(home, Quarantine(home.quarantine, clock), clock, RandomIds())


@pytest.fixture
def grant(store: GrantStore, home: DataDirectory) -> Grant:
    reach = Reach(
        kind=ReachKind.COMMAND,
        prefix="git status",
        folders=(FolderReach("cwd", str(home.workspace.resolve()), whole=True),),
    )
    return store.add(Grant(id="", tool="execute_command", session_id="", reach=reach, surface="cli"))


def test_grants_are_listed_in_words_and_taken_back(store: GrantStore, grant: Grant, capsys: Out) -> None:
    assert main(["grants"]) == 0
    shown = capsys.readouterr()
    assert f"{grant.id}  commands that begin with `git status`, run in" in shown.out
    assert "everywhere, given" in shown.out + shown.err
    assert "until revoked; never used" in shown.out + shown.err
    assert main(["grants", "list", "--json"]) == 0
    assert [found["id"] for found in json.loads(capsys.readouterr().out)["grants"]] == [grant.id]
    assert main(["grants", "revoke", grant.id]) == 0
    assert store.list() == []
    assert main(["grants", "restore", grant.id]) == 0
    assert store.list() == [grant]
    assert main(["grants", "revoke", "grant_404"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["execute_command", "--arg", "command=git status -s"], ["It would run", "You allowed this earlier"]),
        (["execute_command", "--arg", "command=git log"], ["It would ask first", "A wider yes would cover"]),
        (["execute_command", "--arg", "command=rm -rf /"], ["It would be refused", "safetyMode"]),
        (["read_file", "--arg", "path=/etc/passwd"], ["It would be refused", "the setting allowedFolders"]),
        (["run_everything"], ["It would be refused", "no tool named"]),
    ],
)
def test_a_call_is_explained_rule_by_rule(grant: Grant, capsys: Out, words: list[str], said: list[str]) -> None:
    assert grant.id
    assert main(["why", *words]) == 0
    shown = capsys.readouterr()
    assert all(part in shown.out + shown.err for part in said)


def test_an_unusable_argument_and_an_unknown_question_are_errors(capsys: Out) -> None:
    assert main(["why", "read_file", "--arg", "path"]) == 1
    assert main(["why", "ap_404"]) == 1
    assert "There is no pending question" in capsys.readouterr().err
