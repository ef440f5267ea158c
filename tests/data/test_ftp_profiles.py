import json
import stat
from dataclasses import replace

import pytest

from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonValue
from skales.data.document import write_object
from skales.data.ftp_profiles import FtpProfileDraft, FtpProfiles, FtpProtocol, profile_json
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock

DRAFT = FtpProfileDraft(alias="Shop", host="example.org", username="ada", password="lovelace", remote_path="www")


@pytest.fixture
def profiles(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> FtpProfiles:
    return FtpProfiles(home, Quarantine(home.quarantine, clock), clock, ids)


def test_a_profile_is_found_by_id_and_by_alias_in_any_case(profiles: FtpProfiles) -> None:
    saved = profiles.save(DRAFT)
    assert (saved.port, saved.protocol) == (22, FtpProtocol.SFTP)
    assert profiles.find(saved.id) == profiles.find("SHOP") == saved
    with pytest.raises(NotFoundError, match="no FTP profile 'x'") as caught:
        profiles.find("x")
    assert caught.value.hint == "There are: Shop"


@pytest.mark.parametrize(
    ("protocol", "port"),
    [(FtpProtocol.FTP, 21), (FtpProtocol.FTPS, 21), (FtpProtocol.FTPS_IMPLICIT, 990), (FtpProtocol.SFTP, 22)],
)
def test_each_protocol_has_its_port_and_comes_back_from_the_disk(
    profiles: FtpProfiles, home: DataDirectory, protocol: FtpProtocol, port: int
) -> None:
    saved = profiles.save(replace(DRAFT, protocol=protocol))
    assert saved.port == port
    assert profiles.list() == [saved]
    # Other programs know three words.
    written = json.loads(home.ftp_profiles.read_text(encoding="utf-8"))["profiles"][0]
    assert written["protocol"] in ("ftp", "ftps", "sftp")


def test_the_password_is_never_shown(profiles: FtpProfiles, home: DataDirectory) -> None:
    saved = profiles.save(DRAFT)
    assert "lovelace" not in repr(saved) + repr(DRAFT) + json.dumps(profile_json(saved))
    assert profile_json(saved)["hasPassword"] is True
    assert stat.S_IMODE(home.ftp_profiles.stat().st_mode) == 0o600
    assert home.ftp_profiles in home.private


def test_password_and_pin_stay_with_the_place_they_are_for(profiles: FtpProfiles) -> None:
    saved = profiles.save(DRAFT)
    profiles.pin(saved.id, "SHA256:one")
    kept = profiles.save(replace(DRAFT, password=None, remote_path="other"))
    assert (kept.id, kept.password, kept.pin, kept.remote_path) == (saved.id, "lovelace", "SHA256:one", "other")
    moved = profiles.save(replace(DRAFT, password=None, host="evil.example"))
    assert (moved.id, moved.password, moved.pin) == (saved.id, "", "")
    assert profiles.save(replace(DRAFT, password="")).password == ""


@pytest.mark.parametrize(
    "change",
    [
        {"alias": ""}, {"alias": "-x"}, {"alias": "a/b"}, {"alias": "x" * 65}, {"host": "ftp://example.org"},
        {"host": ""}, {"host": "a b"}, {"host": "ada@example.org"}, {"port": -1}, {"port": 65_536}, {"username": " "},
        {"username": "a\r\nDELE x"}, {"password": "a\nb"}, {"password": "•••"}, {"remote_path": "a\rb"},
    ],
)  # fmt: skip
def test_what_cannot_be_a_profile_is_refused(profiles: FtpProfiles, change: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        profiles.save(replace(DRAFT, **change))  # type: ignore[arg-type]
    assert "lovelace" not in str(caught.value)
    assert profiles.list() == []


def test_a_removed_profile_is_gone_with_its_password(profiles: FtpProfiles, home: DataDirectory) -> None:
    profiles.save(DRAFT)
    profiles.save(replace(DRAFT, alias="two"))
    profiles.remove("shop")
    assert [profile.alias for profile in profiles.list()] == ["two"]
    with pytest.raises(NotFoundError):
        profiles.remove("shop")


def test_foreign_keys_survive_and_foreign_entries_are_left_alone(profiles: FtpProfiles, home: DataDirectory) -> None:
    theirs: dict[str, JsonValue] = {"id": "1", "alias": "old", "host": "h", "protocol": "ftp", "passive": True}
    write_object(
        home.ftp_profiles, {"version": 3, "profiles": [theirs, {"odd": 1}, {"id": "2", "host": "h", "protocol": "scp"}]}
    )
    (profile,) = profiles.list()
    assert (profile.alias, profile.port, profile.password) == ("old", 21, "")
    profiles.save(replace(DRAFT, alias="OLD"))
    raw = json.loads(home.ftp_profiles.read_text(encoding="utf-8"))
    assert raw["version"] == 3
    assert (raw["profiles"][0]["id"], raw["profiles"][0]["passive"], len(raw["profiles"])) == ("1", True, 3)


def test_a_broken_file_is_set_aside(profiles: FtpProfiles, home: DataDirectory) -> None:
    home.ftp_profiles.write_text("{", encoding="utf-8")
    assert profiles.list() == []
    profiles.save(DRAFT)
    assert len(profiles.list()) == 1
