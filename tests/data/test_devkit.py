import json
import stat

import pytest

from skales.core.errors import ConflictError, InputError
from skales.data.devkit import DevKit, DevKitConfig
from skales.data.paths import DataDirectory
from tests.conftest import FixedClock

OFF = DevKitConfig(enabled=False, token="", version="")


@pytest.fixture
def devkit(home: DataDirectory, clock: FixedClock) -> DevKit:
    home.devkit.parent.mkdir()
    return DevKit(home, clock, {})


def test_without_a_file_the_devkit_is_off(devkit: DevKit) -> None:
    assert devkit.read() == OFF


def test_the_file_of_the_specification_is_understood(devkit: DevKit, home: DataDirectory) -> None:
    home.devkit.write_text(
        '{ "enabled": true, "version": "0.5.0", "api": { "enabled": true, "token": "my-own-secret" }, "cli": {} }',
        encoding="utf-8-sig",
    )
    assert devkit.read() == DevKitConfig(enabled=True, token="my-own-secret", version="0.5.0")
    assert "my-own-secret" not in repr(devkit.read())


@pytest.mark.parametrize(
    ("content", "config"),
    [
        ({"enabled": False, "api": {"token": "t"}}, DevKitConfig(False, "t", "")),
        ({"enabled": "true", "api": {"token": "t"}}, DevKitConfig(False, "t", "")),
        ({"enabled": 1, "api": {"token": "t"}}, DevKitConfig(False, "t", "")),
        ({"api": {"enabled": True, "token": "t"}}, DevKitConfig(False, "t", "")),
        ({"enabled": True, "token": "t"}, DevKitConfig(True, "", "")),
        ({"enabled": True, "api": "t"}, DevKitConfig(True, "", "")),
        ({"enabled": True, "api": {"token": 5}, "version": 5}, DevKitConfig(True, "", "")),
        ({"enabled": True, "api": {"token": "a\nb"}}, DevKitConfig(True, "", "")),
        ({"enabled": True, "api": {"token": "\ud800"}}, DevKitConfig(True, "", "")),
        ({"enabled": True, "api": {"token": "two words"}}, DevKitConfig(True, "two words", "")),
        ([{"enabled": True}], OFF),
        ("enabled", OFF),
    ],
)
def test_only_the_switch_and_the_api_token_are_read(
    devkit: DevKit, home: DataDirectory, content: object, config: DevKitConfig
) -> None:
    home.devkit.write_text(json.dumps(content), encoding="utf-8")
    assert devkit.read() == config


@pytest.mark.parametrize("damage", [b"", b'{"enabled": true,', b"\xff\xfe\x00", b"[" * 100_000])
def test_a_broken_file_means_off_and_stays_where_it_is(devkit: DevKit, home: DataDirectory, damage: bytes) -> None:
    home.devkit.write_bytes(damage)
    assert devkit.read() == OFF
    assert home.devkit.read_bytes() == damage


def test_an_edit_counts_after_ten_seconds(devkit: DevKit, home: DataDirectory, clock: FixedClock) -> None:
    assert devkit.read() == OFF
    home.devkit.write_text('{"enabled": true}', encoding="utf-8")
    clock.advance(9.9)
    assert devkit.read() == OFF
    clock.advance(0.1)
    assert devkit.read().enabled is True


@pytest.mark.parametrize(("value", "enabled"), [("1", True), ("0", False), ("true", False), ("", False)])
@pytest.mark.parametrize("content", ["", '{"enabled": false, "api": {"token": "t"}}'])
def test_the_environment_can_switch_it_on(
    home: DataDirectory, clock: FixedClock, value: str, enabled: bool, content: str
) -> None:
    home.devkit.parent.mkdir()
    home.devkit.write_text(content, encoding="utf-8")
    config = DevKit(home, clock, {"SKALES_DEVKIT": value}).read()
    assert config == DevKitConfig(enabled=enabled, token="t" if content else "")


def test_the_docs_are_the_markdown_beside_the_switch(devkit: DevKit, home: DataDirectory) -> None:
    home.devkit_page.write_bytes("\ufeff# Ours – ü\n".encode() + b"\xff")
    assert devkit.docs() == "# Ours – ü\n\ufffd"


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_without_docs_a_page_says_where_to_put_them(devkit: DevKit, home: DataDirectory, content: str | None) -> None:
    home.devkit_page.write_text(content or "", encoding="utf-8")
    if content is None:
        home.devkit_page.unlink()
    assert str(home.devkit_page) in devkit.docs()
    assert str(home.devkit) in devkit.docs()


def test_a_first_file_is_made_with_the_persons_token_and_counts_at_once(devkit: DevKit, home: DataDirectory) -> None:
    assert devkit.read() == OFF
    devkit.write_default("my-own-secret")
    assert devkit.read() == DevKitConfig(enabled=True, token="my-own-secret", version="0.5.0")
    assert stat.S_IMODE(home.devkit.stat().st_mode) == 0o600


def test_a_file_that_exists_is_never_overwritten(devkit: DevKit, home: DataDirectory) -> None:
    home.devkit.write_bytes(b"{")
    with pytest.raises(ConflictError, match="exists already"):
        devkit.write_default("my-own-secret")
    assert home.devkit.read_bytes() == b"{"


@pytest.mark.parametrize("token", ["", "two words", "a\nb", "schlüssel"])
def test_a_token_no_header_can_carry_is_refused(devkit: DevKit, home: DataDirectory, token: str) -> None:
    with pytest.raises(InputError, match="cannot be a DevKit token"):
        devkit.write_default(token)
    assert not home.devkit.exists()
