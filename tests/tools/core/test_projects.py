import json
import os
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from skales.core.errors import ToolError
from skales.data.deploy_targets import DeployTarget, DeployTargets
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.security.paths import PathPolicy
from tests.conftest import FixedClock
from tests.tools.conftest import Call, Rules
from tests.tools.core.gitting import git, make_repository

pytestmark = pytest.mark.anyio

NO_TEST = json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})
MINUTE_S = 1_700_000_000


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
        if content.startswith("#!"):
            (folder / name).chmod(0o755)
    return folder


# --- test_run ---


async def test_passing_tests_pass(call: Call, workspace: Path) -> None:
    write(workspace / "p", {"tests/test_a.py": "def test_a():\n    assert 1\n", "pyproject.toml": "[tool.pytest]\n"})
    result = await call("test_run", path="p")
    assert result.text.startswith("Passed: `python3 -m pytest` in p, ")
    assert "1 passed" in result.text
    assert not result.is_error
    assert result.data == {"passed": True, "exit_code": 0}


async def test_failing_tests_never_read_as_passed(call: Call, workspace: Path) -> None:
    write(workspace / "p", {"tests/test_a.py": "def test_a():\n    assert 1 == 2\n", "pytest.ini": "[pytest]\n"})
    result = await call("test_run", path="p")
    assert result.is_error
    assert result.summary.startswith("Failed with exit code 1: ")
    assert "assert 1 == 2" in result.text


@pytest.mark.parametrize("hiding", ["{} | tail -3", "{} || true", "{}; echo done"])
async def test_a_chain_of_commands_does_not_hide_a_failure(call: Call, workspace: Path, hiding: str) -> None:
    write(workspace, {"run": "#!/bin/sh\necho '==== 1 failed in 0.1s ===='\nexit 1\n"})
    result = await call("test_run", command=hiding.format("./run"))
    assert result.is_error
    assert result.summary.startswith("Failed")


async def test_a_pipe_fails_with_its_first_part(call: Call) -> None:
    assert (await call("test_run", command="exit 3 | cat")).data == {"passed": False, "exit_code": 3}


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"scripts/test": "#!/bin/sh\necho ran\n", "package.json": "{}"}, "./scripts/test"),
        ({"package.json": json.dumps({"scripts": {"test": "jest"}})}, "npm run test"),
        ({"package.json": json.dumps({"scripts": {"test": "vitest"}}), "pnpm-lock.yaml": ""}, "pnpm run test"),
        ({"package.json": json.dumps({"scripts": {"test": "x"}}), "yarn.lock": ""}, "yarn run test"),
        ({"package.json": NO_TEST, "go.mod": ""}, "go test ./..."),
        ({"tox.ini": "[tox]\n", "tests/x.py": "", "setup.py": ""}, "tox"),
        ({"setup.cfg": "[tool:pytest]\n"}, "python3 -m pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", ".venv/bin/python": ""}, "./.venv/bin/python -m pytest"),
        ({"test_sums.py": "def test_sums():\n    assert 1\n"}, "python3 -m pytest"),
        ({"Makefile": "all:\n\techo\ntest: all\n\techo\n"}, "make test"),
        ({"Makefile": "check:\n\techo\ntest := 1\n"}, "make check"),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"pom.xml": ""}, "mvn --batch-mode test"),
    ],
)  # fmt: skip
async def test_the_command_is_found_in_the_project(  # noqa: PLR0913 - fixtures
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, str], command: str
) -> None:
    # Stand-ins for runners, so that what is called can be seen wherever the tests run.
    for program in ("npm", "pnpm", "yarn", "go", "tox", "make", "cargo", "mvn", "python3"):
        write(tmp_path / "bin", {program: '#!/bin/sh\necho "$(basename $0) $*"\n'})
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    project = write(workspace / "p", files)
    own = project / ".venv/bin/python"
    if own.exists():
        write(project, {".venv/bin/python": "#!/bin/sh\necho own\n"})
    result = await call("test_run", path="p")
    assert result.text.startswith(f"Passed: `{command}` in p"), result.text


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("===== 1 failed, 2 passed in 0.1s =====", "Failed, as the output says"),
        ("FAILED (failures=2)", "Failed, as the output says"),
        ("Tests:       1 failed, 3 passed, 4 total", "Failed, as the output says"),
        ("test result: FAILED. 1 passed; 1 failed", "Failed, as the output says"),
        ("--- FAIL: TestX (0.00s)", "Failed, as the output says"),
        ("  2 failing", "Failed, as the output says"),
        ("not ok 3 - adds", "Failed, as the output says"),
        ("Ran 0 tests in 0.000s", "Nothing was tested"),
        ("?   example.org/x [no test files]", "Nothing was tested"),
        ("running 0 tests", "Nothing was tested"),
        ("running 0 tests\nrunning 3 tests\ntest result: ok. 3 passed; 0 failed", "Passed"),
        ("Tests: 4 passed, 0 failed, 4 total", "Passed"),
        ("3 passed, 0 failed; no failures", "Passed"),
        ("ok  example.org/x 0.1s\n?   example.org/y [no test files]", "Passed"),
    ],
)
async def test_the_output_is_believed_when_the_exit_code_says_less(
    call: Call, workspace: Path, output: str, outcome: str
) -> None:
    (workspace / "out.txt").write_text(output + "\n", encoding="utf-8")
    result = await call("test_run", command="cat out.txt")
    assert result.summary.startswith(outcome)
    assert result.is_error == (outcome != "Passed")


async def test_a_long_output_keeps_its_end(call: Call) -> None:
    result = await call("test_run", command="seq 1 100000; echo 5 passed")
    assert "[the last 60 lines]" in result.text
    assert result.text.endswith("100000\n5 passed")


async def test_a_run_that_never_ends_is_no_pass(call: Call) -> None:
    result = await call("test_run", command="echo 3 passed; sleep 60", timeout_s=1)
    assert result.is_error
    assert result.summary.startswith("Not finished, ended after 1 s")
    assert result.data == {"passed": False, "exit_code": None}


async def test_a_run_can_be_cancelled_and_leaves_nothing_running(call: Call, workspace: Path) -> None:
    # A number of seconds that nobody else sleeps; a sandbox has process ids of its own.
    seconds = f"{os.getpid()}.25"

    def sleepers() -> list[list[str]]:
        found = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
        return [words for words in found if words[:1] == ["sleep"] and seconds in words]

    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            await call("test_run", command=f"sleep {seconds} & sleep {seconds}; echo late > late")

        tasks.start_soon(run)
        with anyio.fail_after(10):
            while not sleepers():  # noqa: ASYNC110 - a program tells nobody that it started
                await anyio.sleep(0.02)
        tasks.cancel_scope.cancel()
    assert sleepers() == []
    assert not (workspace / "late").exists()


async def test_a_missing_program_is_said(call: Call) -> None:
    result = await call("test_run", command="no-such-runner")
    assert result.summary.startswith("Could not run, a program is missing")


async def test_a_folder_without_tests_is_an_error(call: Call, workspace: Path) -> None:
    (workspace / "p").mkdir()
    with pytest.raises(ToolError, match="No tests were found"):
        await call("test_run", path="p")


async def test_other_ways_to_test_are_named(call: Call, workspace: Path) -> None:
    write(workspace / "p", {"scripts/test": "#!/bin/sh\nexit 0\n", "Cargo.toml": "", "Makefile": "test:\n"})
    assert (await call("test_run", path="p")).text.endswith("Other ways to test here: make test, cargo test")


# --- list_projects ---


@pytest.fixture
def targets(home: DataDirectory, clock: FixedClock) -> DeployTargets:
    return DeployTargets(home, Quarantine(home.quarantine, clock))


async def test_projects_are_listed_with_what_they_are(call: Call, workspace: Path, targets: DeployTargets) -> None:
    shop = make_repository(workspace / "projects/shop", a_txt="a")
    write(shop, {"package.json": "{}", "node_modules/x/package.json": "{}", "sub/pyproject.toml": ""})
    git(shop, "checkout", "--quiet", "-b", "next")
    site = write(workspace / "site", {"index.html": ""})
    write(workspace, {"notes/a.txt": "", "package.json": "{}"})
    for path in (*shop.rglob("*"), *site.rglob("*")):
        os.utime(path, (MINUTE_S, MINUTE_S))
    targets.save(DeployTarget(project=str(site), folder="/srv/site"))
    result = await call("list_projects")
    first, second = sorted(result.text.splitlines())
    assert first.startswith("projects/shop  Node + git, branch next, changed 2023-11-1")
    assert second.startswith("site  Website, changed 2023-11-1")
    assert second.endswith(", deployed to /srv/site")
    assert result.summary == "2 projects"
    rows: Any = result.data
    assert {row["path"]: row["branch"] for row in rows} == {str(shop): "next", str(site): None}


async def test_a_bare_repository_is_said_to_be_one(call: Call, workspace: Path) -> None:
    git(workspace, "init", "--quiet", "--bare", "store.git")
    assert (await call("list_projects")).text.startswith("store.git  bare git repository, no files to work on, branch ")


async def test_no_projects_is_said(call: Call) -> None:
    assert (await call("list_projects")).text == "No projects were found."


async def test_allowed_folders_are_looked_into_and_blocked_ones_are_not(
    call: Call, rules: Rules, workspace: Path, tmp_path: Path
) -> None:
    write(tmp_path / "mine", {"open/go.mod": "", "closed/go.mod": ""})
    rules.paths = PathPolicy(workspace, allowed=(tmp_path / "mine",), blocked=(tmp_path / "mine/closed",))
    result = await call("list_projects")
    assert result.text.splitlines() == [result.text]
    assert "mine/open  Go" in result.text


async def test_what_git_says_of_a_branch_elsewhere_is_not_read(call: Call, workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, {"HEAD": "ref: refs/heads/secret\n"})
    (workspace / "trick/.git").mkdir(parents=True)
    (workspace / "trick/.git/HEAD").symlink_to(tmp_path / "HEAD")
    write(workspace, {"worktree/.git": f"gitdir: {tmp_path}\n"})
    text = (await call("list_projects")).text
    assert "secret" not in text
    assert text.count("git") == 2


async def test_depth_is_bounded(call: Call, workspace: Path) -> None:
    write(workspace, {"a/b/c/d/go.mod": ""})
    assert (await call("list_projects", depth=3)).text == "No projects were found."
    assert (await call("list_projects", depth=4)).summary == "1 project"
