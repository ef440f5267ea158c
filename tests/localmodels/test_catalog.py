import platform
import sys

import pytest

from skales.core.errors import ConfigurationError
from skales.localmodels.catalog import choose_runtime, load_catalog, name_machine, parse_catalog


def test_the_shipped_catalogue_is_complete() -> None:
    catalog = load_catalog()
    assert set(catalog.runtime.wheels) == {
        f"{system}-{machine}"
        for system, machine in [
            ("linux", "x86_64"),
            ("linux", "aarch64"),
            ("macos", "arm64"),
            ("macos", "x86_64"),
            ("windows", "x86_64"),
        ]
    }
    right, _, asked = catalog.starter.tool_accuracy.partition(" of ")
    assert 0 <= int(right) <= int(asked)


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(ValueError, match="surprise"):
        parse_catalog("surprise = 1")


@pytest.mark.parametrize(
    ("system", "machine", "libc", "name"),
    [
        ("linux", "x86_64", "glibc", "linux-x86_64"),
        ("linux", "aarch64", "glibc", "linux-aarch64"),
        ("linux", "x86_64", "", "linux-x86_64-musl"),
        ("darwin", "arm64", "", "macos-arm64"),
        ("darwin", "x86_64", "", "macos-x86_64"),
        ("win32", "AMD64", "", "windows-x86_64"),
        ("win32", "ARM64", "", "windows-arm64"),
        ("freebsd14", "amd64", "", "freebsd14-x86_64"),
    ],
)
def test_machines_are_named_as_the_catalogue_does(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, libc: str, name: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "libc_ver", lambda: (libc, ""))
    assert name_machine() == name


def test_a_computer_without_a_wheel_gets_a_way_out() -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_runtime(load_catalog().runtime, "linux-x86_64-musl")
    assert "Choose another provider" in caught.value.hint
