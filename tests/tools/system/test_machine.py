"""get_system_info tells of the computer, not of the person."""

import getpass
import platform
from collections.abc import Mapping
from pathlib import Path

import pytest

from skales.core.tool import Safety
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio


async def facts(call: Call) -> Mapping[str, str]:
    text = (await call("get_system_info")).text
    return dict(line.split(": ", 1) for line in text.splitlines())


def test_looking_at_the_computer_is_automatic(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("get_system_info")
    assert spec is not None
    assert (spec.safety, spec.effects, spec.addon) == (Safety.AUTO, frozenset(), "system_monitor")
    assert toolbox.is_enabled("get_system_info")


async def test_facts_are_told_in_words(call: Call) -> None:
    told = await facts(call)
    assert list(told) == [
        "System",
        "Kernel",
        "Processor",
        "Memory",
        "Swap",
        "Disk of the workspace",
        "Running since",
        "Date and time",
        "Python",
        "Workspace",
    ]
    assert told["Python"] == platform.python_version()
    assert "2031" in told["Date and time"]
    assert "cores" in told["Processor"]
    assert "available" in told["Memory"]
    assert "free" in told["Disk of the workspace"]


async def test_neither_host_nor_home_is_named(call: Call, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    home = rules.paths.workspace.parent
    monkeypatch.setenv("HOME", str(home))
    told = await facts(call)
    assert told["Workspace"] == "~/workspace"
    text = " ".join(told.values())
    assert str(home) not in text
    assert f"{getpass.getuser()}@" not in text
    assert platform.node() not in text.split()


async def test_workspace_that_is_gone_has_no_disk(call: Call, rules: Rules) -> None:
    rules.paths.workspace.rmdir()
    assert (await facts(call))["Disk of the workspace"] == "not known"


@pytest.mark.parametrize(
    ("system", "name"),
    [("Darwin", "macOS 15.1"), ("Windows", "Windows 11"), ("FreeBSD", "FreeBSD 11"), ("Linux", "Linux")],
)
async def test_systems_are_called_what_people_call_them(
    call: Call, monkeypatch: pytest.MonkeyPatch, system: str, name: str
) -> None:
    def no_release() -> dict[str, str]:
        raise OSError

    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "release", lambda: "11")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("15.1", ("", "", ""), ""))
    monkeypatch.setattr(platform, "freedesktop_os_release", no_release)
    assert (await facts(call))["System"] == name


async def test_processor_is_named_where_linux_does_not_tell(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_text

    def missing(path: Path, encoding: str, errors: str | None = None) -> str:
        if path == Path("/proc/cpuinfo"):
            raise FileNotFoundError(path)
        return read(path, encoding, errors)

    monkeypatch.setattr(Path, "read_text", missing)
    monkeypatch.setattr(platform, "processor", lambda: "M9")
    assert (await facts(call))["Processor"].startswith("M9, ")
