"""The escape suite: no command gets at what is closed, changes what is outside, reaches the network or stays behind."""

import hashlib
import os
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from skales.core.json import as_object
from skales.data.paths import DataDirectory
from skales.security.paths import PathPolicy
from skales.tools.programs import Bounds, SandboxRules
from skales.tools.system import confined
from skales.tools.system.sandbox import SandboxKind, find_sandbox
from tests.conftest import CASES
from tests.tools.conftest import Call, Rules

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")]

SECRET = "TOP-SECRET-7f3a"
RAN = "THE-SHELL-WENT-ON"
# Small, so that reaching them takes no time.
TIGHT = Bounds(memory_bytes=256 * 1024**2, processes=64, file_bytes=64 * 1024**2)


@dataclass(frozen=True)
class Attempt:
    """A way out. `survives` says that the shell gets to the command behind it; `timeout_s` bounds it."""

    name: str
    kind: str
    command: str
    survives: bool = True
    timeout_s: int = 20


ATTEMPTS = [
    Attempt(**entry)
    for entry in tomllib.loads((CASES / "sandbox" / "escapes.toml").read_text(encoding="utf-8"))["attempt"]
]
READS = [attempt for attempt in ATTEMPTS if attempt.kind == "read"]


@dataclass
class Witness:
    """A process outside with open sockets, which counts who comes."""

    pid: int
    port: int
    abstract: str
    paths: Sequence[Path]
    visits: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module", autouse=True)
def bubblewrap() -> None:
    if find_sandbox().kind is not SandboxKind.BUBBLEWRAP:
        pytest.fail(f"These tests need a working bubblewrap (the package bubblewrap): {find_sandbox().missing}")


@pytest.fixture
def outside(tmp_path: Path, home: DataDirectory) -> Path:
    """Secrets in three places, and traps in the folder that is allowed."""
    secrets = (
        tmp_path / "outside" / "secret.txt",
        tmp_path / "open" / "closed" / "secret.txt",
        tmp_path / "open" / "deep" / "closed2" / "secret.txt",
        home.settings,
        home.logs / "audit.jsonl",
        home.instance,
        home.sign_ins,
    )
    for secret in secrets:
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text(f'{{"key": "{SECRET}"}}\n', encoding="utf-8")
    opened = tmp_path / "open"
    (opened / "sub").mkdir()
    (opened / "trap").symlink_to(tmp_path / "outside" / "secret.txt")
    os.mkfifo(opened / "fifo")
    return tmp_path


@pytest.fixture
def witness(outside: Path) -> Iterator[Witness]:
    """Listens on the loopback, on two unix sockets with a path and on an abstract one; a process stands by."""
    places = (outside / "outside" / "s", outside / "open" / "s")
    abstract = f"skales-escape-{os.getpid()}"
    listeners = [socket.create_server(("127.0.0.1", 0))]
    for address in (*map(str, places), f"\0{abstract}"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen()
        listeners.append(listener)
    environment = {**os.environ, "ESCAPE_KEY": SECRET}
    with subprocess.Popen(["sleep", "600"], env=environment) as standing:
        seen = Witness(standing.pid, listeners[0].getsockname()[1], abstract, places)
        threads = [threading.Thread(target=_count, args=(listener, seen), daemon=True) for listener in listeners]
        for thread in threads:
            thread.start()
        yield seen
        standing.kill()
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    for thread in threads:
        thread.join(5)


def _count(listener: socket.socket, seen: Witness) -> None:
    while True:
        try:
            visitor, _address = listener.accept()
        except OSError:
            return
        seen.visits.append(str(listener.getsockname()))
        visitor.close()


@dataclass(frozen=True)
class Scene:
    """Where the secrets lie, and who watches."""

    root: Path
    home: DataDirectory
    witness: Witness

    def filled(self, attempt: Attempt) -> str:
        return f"{self.fill(attempt.command)}\necho {RAN}"

    def fill(self, command: str) -> str:
        places = psutil.net_if_addrs().values()
        addresses = [place.address for found in places for place in found if place.family == socket.AF_INET]
        values = {
            "@OUT@": self.root / "outside" / "secret.txt",
            "@OUTDIR@": self.root / "outside",
            "@OPEN@": self.root / "open",
            "@BLOCKED@": self.root / "open" / "closed" / "secret.txt",
            "@BLOCKEDDIR@": self.root / "open" / "closed",
            "@PRIVATE@": self.home.settings,
            "@PRIVATEDIR@": self.home.root,
            "@PID@": self.witness.pid,
            "@PORT@": self.witness.port,
            "@SOCK@": self.witness.paths[0],
            "@OPENSOCK@": self.witness.paths[1],
            "@ABSTRACT@": self.witness.abstract,
            "@ADDRESSES@": addresses,
            "@PY@": sys.executable,
        }
        for name, value in values.items():
            command = command.replace(name, str(value))
        return command

    def state(self) -> Mapping[str, str]:
        """Everything that no attempt may change; of the data directory what stands beside the workspace."""
        opened = self.root / "open"
        found = _fingerprint(self.root / "outside", opened / "closed", opened / "deep", self.home.logs)
        beside = ",".join(sorted(path.name for path in self.home.root.iterdir()))
        return {**found, "beside": beside, "settings": self.home.settings.read_text(encoding="utf-8")}


@pytest.fixture
def scene(outside: Path, home: DataDirectory, witness: Witness) -> Scene:
    return Scene(outside, home, witness)


@pytest.fixture(autouse=True)
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "usual_bounds", lambda: TIGHT)
    monkeypatch.setenv("ESCAPE_KEY", SECRET)


@pytest.fixture
def closed_rules(rules: Rules, outside: Path, home: DataDirectory) -> Rules:
    opened = outside / "open"
    rules.paths = PathPolicy(
        workspace=home.workspace,
        allowed=(opened,),
        blocked=(*home.private, opened / "closed", opened / "deep" / "closed2"),
    )
    return rules


def _fingerprint(*folders: Path) -> Mapping[str, str]:
    """Every file and folder with its content and mode; sockets and pipes with their mode."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in [folder, *sorted(folder.rglob("*"))]:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path)] = f"{path.lstat().st_mode:o} {content}"
    return found


def _system_state() -> Mapping[str, object]:
    """What attempts would change of this computer."""
    names = (
        "/etc/passwd", "/etc/ld.so.preload", "/usr/bin/owned", "/etc/cron.d/x", "/etc/profile.d/owned.sh", "/owned",
        "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/sysrq", "~/.bashrc",
        "~/.profile", "~/.gitconfig", "~/.ssh/authorized_keys", "~/.config/autostart/x.desktop",
        "~/.config/systemd/user/x.service", "/var/spool/cron/crontabs/root",
    )  # fmt: skip
    paths = [Path(name).expanduser() for name in names]
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


def _left_behind() -> Sequence[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if "4242.4242" in (process.info["cmdline"] or []) and process.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name.replace(" ", "-"))
async def test_nothing_gets_out(attempt: Attempt, call: Call, closed_rules: Rules, scene: Scene) -> None:
    before, system = scene.state(), _system_state()
    result = await call("execute_command", command=scene.filled(attempt), timeout_s=attempt.timeout_s)
    assert as_object(result.data)["sandbox"] == "bubblewrap"
    assert SECRET not in result.text
    assert not attempt.survives or RAN in result.text, result.text
    assert (scene.state(), _system_state()) == (before, system)
    assert scene.witness.visits == []
    assert psutil.Process(scene.witness.pid).status() != psutil.STATUS_ZOMBIE
    assert _left_behind() == []
    assert len(result.text) < 1_100_000


@pytest.mark.parametrize("attempt", READS, ids=lambda attempt: attempt.name.replace(" ", "-"))
async def test_what_is_closed_stays_closed_where_everything_else_is_open(
    attempt: Attempt, call: Call, closed_rules: Rules, scene: Scene
) -> None:
    closed_rules.paths = structs.replace(closed_rules.paths, unrestricted=True)
    before = scene.state()
    result = await call("execute_command", command=scene.filled(attempt), timeout_s=attempt.timeout_s)
    assert RAN in result.text
    assert SECRET not in result.text
    assert scene.state() == before


async def test_the_secret_is_there_to_be_found(call: Call, closed_rules: Rules, scene: Scene) -> None:
    """Without a sandbox the same attempts succeed; otherwise the suite would prove nothing."""
    closed_rules.sandbox = SandboxRules(is_wanted=False)
    command = scene.fill("cat @OUT@ @BLOCKED@ @PRIVATE@; exec 3<>/dev/tcp/127.0.0.1/@PORT@; echo $?")
    assert (await call("execute_command", command=command)).text.count(SECRET) == 3
    assert len(scene.witness.visits) == 1


async def test_moving_a_parent_opens_nothing_for_the_next_command(
    call: Call, closed_rules: Rules, scene: Scene
) -> None:
    await call("execute_command", command=scene.fill("mv @OPEN@/deep @OPEN@/moved"))
    result = await call("execute_command", command=scene.fill("timeout 2 cat @OPEN@/*/*/*; ls @OPEN@"))
    assert SECRET not in result.text
    assert "deep" in result.text


async def test_workspace_and_allowed_folders_can_be_used(
    call: Call, closed_rules: Rules, scene: Scene, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Node reserves a gigabyte before it does anything.
    monkeypatch.setattr(confined, "usual_bounds", lambda: structs.replace(TIGHT, memory_bytes=2 * 1024**3))
    command = (
        "echo one > here.txt; echo two > @OPEN@/sub/there.txt; git init -q repo; cd repo; git status -sb; node -p 1+1"
    )
    result = await call("execute_command", command=scene.fill(command))
    assert not result.is_error, result.text
    assert (workspace / "here.txt").read_text(encoding="utf-8") == "one\n"
    assert (scene.root / "open" / "sub" / "there.txt").read_text(encoding="utf-8") == "two\n"


async def test_network_opens_no_socket_of_other_programs(call: Call, closed_rules: Rules, scene: Scene) -> None:
    attempts = [attempt for attempt in ATTEMPTS if "unix" in attempt.name]
    for attempt in attempts:
        result = await call("execute_command", command=scene.filled(attempt), network=True)
        assert (RAN in result.text, "connected" in result.text) == (True, False)
    reached = await call("execute_command", command=scene.fill("exec 3<>/dev/tcp/127.0.0.1/@PORT@"), network=True)
    assert not reached.is_error
    assert len(attempts) == 2
    assert len(scene.witness.visits) == 1
