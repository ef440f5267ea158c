"""TOO-01 and its kind: a wider yes covers what its words say and nothing next to it, whatever the tool."""

import json
import random
from collections.abc import Callable

import pytest

from skales.agent.reach import covers_call, offer_reach
from skales.agent.reach_words import describe_reach
from skales.core.json import JsonObject
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.data.grants import Reach, ReachKind
from skales.data.paths import DataDirectory
from skales.security.paths import PathPolicy
from skales.tools.index import load_index
from tests.conftest import CASES

SPECS = {entry.spec.name: entry.spec for entry in load_index()}


@pytest.fixture
def paths(home: DataDirectory) -> PathPolicy:
    for folder in ("notes/deep", "notes-old", "code/.git/hooks", "other"):
        (home.workspace / folder).mkdir(parents=True)
    (home.workspace / "notes/out").symlink_to(home.workspace / "other")
    (home.workspace / "notes/secret.txt").symlink_to("/etc/passwd")
    (home.workspace / "same").symlink_to(home.workspace / "notes")
    return PathPolicy(home.workspace)


def offer(paths: PathPolicy, tool: str, **arguments: object) -> Reach:
    reach = offer_reach(SPECS[tool], call(tool, **arguments), paths)
    assert reach is not None
    return reach


def covered(reach: Reach, paths: PathPolicy, tool: str, **arguments: object) -> bool:
    return covers_call(reach, SPECS[tool], call(tool, **arguments), paths)


def call(tool: str, **arguments: object) -> ToolCall:
    given: JsonObject = dict(arguments)  # type: ignore[arg-type]
    return ToolCall("c", tool, given)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("notes/b.txt", True),
        ("notes/deep/c.txt", True),
        ("notes/deep/../d.txt", True),
        ("same/e.txt", True),
        ("notes", False),
        ("notes/..", False),
        ("notes/../other/x.txt", False),
        ("notes/../notes-old/x.txt", False),
        ("notes-old/x.txt", False),
        ("notesx.txt", False),
        ("NOTES/x.txt", False),
        ("notes/out/x.txt", False),
        ("notes/out/../../other/x.txt", False),
        ("notes/secret.txt", False),
        ("notes/.git/config", False),
        ("notes/deep/.GIT/hooks/pre-commit", False),
        ("other/x.txt", False),
        ("/etc/passwd", False),
        ("~/notes/x.txt", False),
        ("a\0b", False),
        ("", False),
    ],
)
def test_a_folder_covers_what_really_lies_in_it(paths: PathPolicy, path: str, expected: bool) -> None:
    reach = offer(paths, "write_file", path="notes/a.txt", content="one")
    assert covered(reach, paths, "write_file", path=path, content="two") is expected


def test_switches_of_a_call_are_part_of_what_was_allowed(paths: PathPolicy) -> None:
    plain = offer(paths, "delete_file", path="notes/a.txt")
    assert covered(plain, paths, "delete_file", path="notes/b.txt", recursive=False)
    assert not covered(plain, paths, "delete_file", path="notes/b.txt", recursive=True)
    copying = offer(paths, "copy_file", source="notes/a.txt", destination="other/a.txt")
    assert covered(copying, paths, "copy_file", source="notes/b.txt", destination="other/c.txt")
    assert not covered(copying, paths, "copy_file", source="other/a.txt", destination="notes/a.txt")
    assert not covered(copying, paths, "copy_file", source="notes/b.txt", destination="other/c.txt", overwrite=True)


def test_a_folder_that_was_deleted_itself_is_not_its_neighbours(paths: PathPolicy) -> None:
    reach = offer(paths, "delete_file", path="notes/deep", recursive=True)
    assert covered(reach, paths, "delete_file", path="notes/deep/x", recursive=True)
    assert not covered(reach, paths, "delete_file", path="notes", recursive=True)
    assert not covered(reach, paths, "delete_file", path="notes/b.txt", recursive=True)


def test_a_folder_swapped_for_a_link_is_covered_no_more(paths: PathPolicy) -> None:
    reach = offer(paths, "write_file", path="notes/deep/a.txt", content="")
    (paths.workspace / "notes/deep").rmdir()
    (paths.workspace / "notes/deep").symlink_to(paths.workspace / "other")
    assert not covered(reach, paths, "write_file", path="notes/deep/a.txt", content="")


@pytest.mark.parametrize("path", ["~/x.txt", "/x.txt", "/home/x.txt"])
def test_the_home_folder_and_what_holds_it_are_never_offered(
    home: DataDirectory, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    wide = PathPolicy(home.workspace, unrestricted=True)
    assert offer(wide, "write_file", path=path, content="").kind is ReachKind.CALL


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.example.org/other?x=1", True),
        ("https://API.example.org:443/", True),
        ("http://api.example.org/", False),
        ("https://api.example.org:8443/", False),
        ("https://example.org/", False),
        ("https://api.example.org.evil.net/", False),
        ("https://evil.net/api.example.org", False),
        ("https://evil.net\\@api.example.org/", False),
        ("https://api.example.org@evil.net/", False),
        ("https://user:pw@api.example.org/", False),
        ("https://evilapi.example.org/", False),
        ("ftp://api.example.org/", False),
    ],
)
def test_a_host_covers_that_host_alone(paths: PathPolicy, url: str, expected: bool) -> None:
    reach = offer(paths, "http_request", url="https://api.example.org/v1", method="POST", body="a")
    assert covered(reach, paths, "http_request", url=url, method="POST", body="b") is expected
    assert not covered(reach, paths, "http_request", url=url, method="DELETE")


def test_a_download_is_bound_to_its_host_and_its_folder(paths: PathPolicy) -> None:
    reach = offer(paths, "download_file", url="https://example.org/a.zip", folder="notes")
    assert covered(reach, paths, "download_file", url="https://example.org/b.zip", folder="notes/deep")
    assert not covered(reach, paths, "download_file", url="https://example.org/b.zip")
    assert not covered(reach, paths, "download_file", url="https://example.com/b.zip", folder="notes")


@pytest.mark.parametrize(
    ("command", "more", "expected"),
    [
        ("git status --short", {}, True),
        ("git status", {"cwd": "code"}, True),
        ("git status", {"timeout_s": 5}, True),
        ("git status", {"network": False}, True),
        ("git status", {"network": True}, False),
        ("git status", {"background": True}, False),
        ("git status", {"cwd": "/etc"}, False),
        ("git status", {"cwd": ".."}, False),
        ("git status", {"cwd": "code/.git"}, False),
        ("git statusx", {}, False),
        ("git status && rm -rf code", {}, False),
        ("git status > x", {}, False),
        ("git -C / status", {}, False),
    ],
)
def test_a_command_is_bound_to_its_words_its_folder_and_its_switches(
    paths: PathPolicy, command: str, more: JsonObject, expected: bool
) -> None:
    reach = offer(paths, "execute_command", command="git status")
    assert covered(reach, paths, "execute_command", command=command, **more) is expected


def test_a_command_allowed_in_one_folder_does_not_run_in_its_neighbour(paths: PathPolicy) -> None:
    reach = offer(paths, "execute_command", command="cat a.txt", cwd="notes")
    assert covered(reach, paths, "execute_command", command="cat b.txt", cwd="notes/deep")
    for cwd in (None, ".", "notes-old", "notes/..", "notes/out", "other"):
        given = {} if cwd is None else {"cwd": cwd}
        assert not covered(reach, paths, "execute_command", command="cat b.txt", **given)
    for file in ("out/x", "secret.txt", "../other/x"):
        assert not covered(reach, paths, "execute_command", command=f"cat {file}", cwd="notes")


def test_a_script_of_another_language_is_not_covered_by_a_command(paths: PathPolicy) -> None:
    reach = offer(paths, "run_script", shell="git status")
    assert covered(reach, paths, "run_script", shell="git status -s")
    assert not covered(reach, paths, "run_script", shell="git status", python="import os")
    assert not covered(reach, paths, "run_script", python="import os")
    assert not covered(reach, paths, "run_script", shell="git status", arguments=["x"])
    exact = offer(paths, "run_script", python="print(1)")
    assert exact.kind is ReachKind.CALL
    assert not covered(exact, paths, "run_script", python="print(2)")


def test_anything_else_is_covered_by_the_exact_call_alone(paths: PathPolicy) -> None:
    reach = offer(paths, "git_push", path="code", remote="origin")
    assert reach.kind is ReachKind.CALL
    assert covered(reach, paths, "git_push", remote="origin", path="code")
    assert not covered(reach, paths, "git_push", path="code")
    assert not covered(reach, paths, "git_push", path="code", remote="fork")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("computer_click", {"x": 5, "y": 5}),
        ("computer_type", {"text": "yes"}),
        ("kill_process", {"pid": 4}),
        ("execute_command", {"command": "rm -rf code"}),
        ("execute_command", {"command": "python3 x.py"}),
        ("execute_command", {"command": "echo $("}),
        ("execute_command", {"command": "git status; ls"}),
    ],
)
def test_where_a_wider_yes_would_mean_too_much_none_is_offered(
    paths: PathPolicy, tool: str, arguments: JsonObject
) -> None:
    assert offer_reach(SPECS[tool], ToolCall("c", tool, arguments), paths) is None


def test_grants_of_earlier_versions_stay_in_the_workspace(paths: PathPolicy) -> None:
    old = Reach(kind=ReachKind.COMMAND, prefix="ls")
    assert covered(old, paths, "execute_command", command="ls notes", cwd="code")
    assert not covered(old, paths, "execute_command", command="ls", cwd="/etc")
    assert not covered(old, paths, "execute_command", command="ls", network=True)
    everything = Reach(kind=ReachKind.TOOL)
    assert covered(everything, paths, "write_file", path="x", content="")
    assert not covered(everything, paths, "execute_command", command="ls")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("write_file", {"path": "notes/a", "content": ""}, "write_file in the folder {w}/notes and below"),
        (
            "delete_file",
            {"path": "notes/a"},
            "delete_file in the folder {w}/notes and below; never with recursive",
        ),
        (
            "delete_file",
            {"path": "notes/a", "recursive": True},
            "delete_file in the folder {w}/notes and below; only with recursive",
        ),
        (
            "copy_file",
            {"source": "notes/a", "destination": "other/b"},
            "calls of copy_file; source in the folder {w}/notes and below; "
            "destination in the folder {w}/other and below",
        ),
        (
            "execute_command",
            {"command": "npm test", "cwd": "code", "network": True},
            "commands that begin with `npm test`, run in {w}/code or below; only with network",
        ),
        (
            "http_request",
            {"url": "https://example.org/x", "method": "PUT"},
            "http_request at https://example.org; only with method PUT",
        ),
        ("git_push", {"path": "code"}, "this very call of git_push, with the same arguments"),
    ],
)
def test_the_words_are_the_rule(paths: PathPolicy, tool: str, arguments: JsonObject, words: str) -> None:
    said = describe_reach(tool, offer(paths, tool, **arguments))
    assert said.startswith(words.format(w=paths.workspace))


def test_case_too_01_holds_for_grants(paths: PathPolicy) -> None:
    case = json.loads((CASES / "tools" / "TOO-01-shell-approval.json").read_text(encoding="utf-8"))
    given = {"find": "find .", "cat": "cat a.txt", "grep": "grep a b.txt"}
    reaches = [offer(paths, "execute_command", command=given.get(words, words)) for words in case["allow_always"]]
    assert [reach.prefix for reach in reaches] == case["allow_always"]
    for row in case["rows"]:
        is_covered = any(covered(reach, paths, "execute_command", command=row["command"]) for reach in reaches)
        assert is_covered is (row["decision"] == "auto"), row


_HOSTILE: tuple[Callable[[str], str], ...] = (
    lambda text: f"{text} && touch x",
    lambda text: f"{text}; touch x",
    lambda text: f"{text} | sh",
    lambda text: f"{text} > out",
    lambda text: f"{text} >> out",
    lambda text: f"{text} 2> out",
    lambda text: f"{text} $(touch x)",
    lambda text: f"{text} `touch x`",
    lambda text: f"{text} <(touch x)",
    lambda text: f"{text}\ntouch x",
    lambda text: f"{text} & touch x",
    lambda text: f"{text} ../other/x",
    lambda text: f"{text} /etc/passwd",
    lambda text: f"{text} ~/.ssh/id_rsa",
    lambda text: f"{text} $HOME",
    lambda text: f"A=1 {text}",
    lambda text: f"sudo {text}",
    lambda text: f"env {text}",
    lambda text: f"./{text}",
    lambda text: f"x{text}",
    lambda text: f"( {text} )",
    lambda text: f"! {text}",
    lambda text: f"if true; then {text}; fi",
    lambda text: f"touch x; {text}",
    lambda text: f"cd / && {text}",
    lambda text: f"eval '{text}'",
)
_COMMANDS = ("git status", "git diff", "git log", "ls", "cat", "grep x", "npm test", "cargo build", "docker ps", "wc")
_PLAIN = ("-v", "a.txt", "sub/b.txt", "'two words'", "-n 5", "--oneline", '"q"')


@pytest.mark.parametrize("seed", range(8))
def test_no_way_of_adding_to_a_covered_command_stays_covered(paths: PathPolicy, seed: int) -> None:
    """A property over made-up commands: whatever words follow, joining, redirecting and substituting ask again."""
    chance = random.Random(seed)
    for _ in range(60):
        start = chance.choice(_COMMANDS)
        reach = offer(paths, "execute_command", command=start)
        words = " ".join([start, *chance.sample(_PLAIN, chance.randint(0, 2))])
        spoiled = chance.choice(_HOSTILE)(words)
        assert not covered(reach, paths, "execute_command", command=spoiled), spoiled
        other = chance.choice([name for name in _COMMANDS if not name.startswith(start)])
        assert not covered(reach, paths, "execute_command", command=other), (start, other)


@pytest.mark.parametrize(
    "spec", [spec for spec in SPECS.values() if spec.safety is Safety.CONFIRM], ids=lambda spec: spec.name
)
def test_what_is_offered_covers_the_example_it_was_offered_for(spec: ToolSpec, paths: PathPolicy) -> None:
    assert spec.example is not None
    given = ToolCall("c", spec.name, spec.example.arguments)
    reach = offer_reach(spec, given, paths)
    if reach is not None:
        assert covers_call(reach, spec, given, paths)
        assert describe_reach(spec.name, reach)
        changed = dict.fromkeys(spec.example.arguments, "/elsewhere/x")
        assert not covers_call(reach, spec, ToolCall("c", spec.name, changed), paths) or not changed
