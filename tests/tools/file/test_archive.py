"""SKL-03 for extract_archive: hostile archives are refused whole; create_archive keeps the keys."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from skales.core.errors import ToolError, ToolRefusedError
from tests.conftest import CASES
from tests.tools.conftest import Call, Rules

Files = Mapping[str, bytes]
RECORDED = CASES / "skills" / "SKL-03-hostile-skill.zip"
HONEST: Files = {"notes/a.txt": b"text a", "notes/deep/b.txt": b"text b" * 1000, "run.sh": b"echo"}


def zip_of(files: Files, edit: Callable[[zipfile.ZipInfo], None] = lambda _info: None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            edit(info)
            packed.writestr(info, content)
    return buffer.getvalue()


def tar_of(files: Files, edit: Callable[[tarfile.TarInfo], None] = lambda _info: None, mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as packed:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            edit(info)
            packed.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("a.zip", zip_of(HONEST)),
        ("a.tar", tar_of(HONEST)),
        ("a.tar.gz", tar_of(HONEST, mode="w:gz")),
        ("a.tgz", tar_of(HONEST, mode="w:gz")),
        ("a.tar.bz2", tar_of(HONEST, mode="w:bz2")),
        ("a.tar.xz", tar_of(HONEST, mode="w:xz")),
    ],
)
async def test_an_honest_archive_is_listed_and_unpacked(call: Call, workspace: Path, name: str, packed: bytes) -> None:
    (workspace / name).write_bytes(packed)
    listed = await call("extract_archive", archive=name, list_only=True)
    assert listed.text.split("\n")[1:] == ["notes/a.txt  6 bytes", "notes/deep/b.txt  5.9 KB", "run.sh  4 bytes"]
    assert contents(workspace) == {name: packed}
    result = await call("extract_archive", archive=name)
    assert contents(workspace / "a") == HONEST
    assert result.summary == "Unpacked 3 files (5.9 KB) into a"
    assert names(workspace) == ["a", name]


@pytest.mark.anyio
async def test_programs_stay_programs_and_nothing_gains_more_rights(call: Call, workspace: Path) -> None:
    def mark(info: zipfile.ZipInfo) -> None:
        info.external_attr = (stat.S_IFREG | (0o4777 if info.filename == "run.sh" else 0o666)) << 16

    (workspace / "a.zip").write_bytes(zip_of(HONEST, mark))
    await call("extract_archive", archive="a.zip")
    assert (workspace / "a" / "run.sh").stat().st_mode & 0o7711 == 0o711
    assert (workspace / "a" / "notes" / "a.txt").stat().st_mode & 0o7111 == 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def of_type(kind: int, *names: str) -> Callable[[zipfile.ZipInfo], None]:
    """Marks zip entries as something else than a file."""

    def mark(info: zipfile.ZipInfo) -> None:
        if info.filename in names:
            info.external_attr = (kind | 0o777) << 16

    return mark


def of_tar_type(kind: bytes, *names: str) -> Callable[[tarfile.TarInfo], None]:
    """Marks tar entries as something else than a file."""

    def mark(info: tarfile.TarInfo) -> None:
        if info.name in names:
            info.type, info.linkname = kind, "/etc"

    return mark


HOSTILE: dict[str, tuple[bytes, str]] = {
    "the recorded case": (RECORDED.read_bytes(), "leaves the folder|symbolic link"),
    "dot-dot": (zip_of({"ok.txt": b"ok", "a/../../out.txt": b"x"}), "leaves the folder"),
    "dot-dot that comes back": (zip_of({"a/../b.txt": b"x"}), "leaves the folder"),
    "dot-dot with backslashes": (zip_of({"ok.txt": b"ok", "a\\..\\..\\out.txt": b"x"}), "leaves the folder"),
    "absolute": (zip_of({"/tmp/out.txt": b"x"}), "absolute path"),
    "absolute with backslash": (zip_of({"\\out.txt": b"x"}), "absolute path"),
    "drive": (zip_of({"C:\\out.txt": b"x"}), "absolute path"),
    "control character": (zip_of({"a\nb.txt": b"x"}), "control characters"),
    "name too long": (zip_of({"n" * 300: b"x"}), "too long"),
    "link": (zip_of({"ok.txt": b"ok", "link": b"/etc"}, of_type(stat.S_IFLNK, "link")), "symbolic link entry"),
    "pipe": (zip_of({"p": b""}, of_type(stat.S_IFIFO, "p")), "device or pipe"),
    "bomb": (zip_of({"ok.txt": b"ok", "zeros.bin": bytes(6_000_000)}), "size bomb"),
    "bomb in many files": (zip_of({f"{n}.bin": bytes(100_000) for n in range(200)}), "size bomb"),
    "file in a file": (zip_of({"a": b"x", "a/b": b"y"}), "inside an entry that is a file"),
    "file over a folder": (zip_of({"a/b": b"y", "a": b"x"}), "two entries are named 'a'"),
    "twice": (zip_of({"a.txt": b"x", "A.TXT": b"y"}), "two entries are named"),
    "tar dot-dot": (tar_of({"ok.txt": b"ok", "../out.txt": b"x"}), "leaves the folder"),
    "tar absolute": (tar_of({"/out.txt": b"x"}), "absolute path"),
    "tar symbolic link": (tar_of({"a": b"", "l": b""}, of_tar_type(tarfile.SYMTYPE, "l")), "symbolic link entry"),
    "tar hard link": (tar_of({"a": b"", "l": b""}, of_tar_type(tarfile.LNKTYPE, "l")), "hard link entry"),
    "tar device": (tar_of({"d": b""}, of_tar_type(tarfile.CHRTYPE, "d")), "device or pipe"),
    "tar pipe": (tar_of({"d": b""}, of_tar_type(tarfile.FIFOTYPE, "d")), "device or pipe"),
    "tar sparse": (tar_of({"d": b""}, of_tar_type(tarfile.GNUTYPE_SPARSE, "d")), "larger than what is stored"),
    "tar.gz bomb": (tar_of({"zeros.bin": bytes(8_000_000)}, mode="w:gz"), "size bomb"),
    "tar.bz2 bomb": (tar_of({"zeros.bin": bytes(8_000_000)}, mode="w:bz2"), "size bomb"),
    "tar.xz bomb": (tar_of({"zeros.bin": bytes(8_000_000)}, mode="w:xz"), "size bomb"),
    "giant tar header": (
        gzip.compress(tarfile.TarInfo.create_pax_global_header({"comment": "x" * 5_000_000})),
        "larger than any honest one",
    ),
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("into", [None, ".", "sub/new"])
async def test_a_hostile_archive_is_refused_whole(
    call: Call, workspace: Path, tmp_path: Path, kind: str, into: str | None
) -> None:
    packed, reason = HOSTILE[kind]
    (workspace / "a.zip").write_bytes(packed)
    before = everything(tmp_path)
    with pytest.raises(ToolRefusedError, match=reason) as caught:
        await call("extract_archive", archive="a.zip", **({"destination": into} if into else {}))
    assert "nothing was written" in caught.value.message
    assert everything(tmp_path) == before


def with_field(packed: bytes, local: int, central: int, value: bytes) -> bytes:
    """The zip with a field of its first entry changed in both headers, by the offsets of the format's description."""
    content = bytearray(packed)
    for mark, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        place = content.index(mark) + offset
        content[place : place + len(value)] = value
    return bytes(content)


BROKEN: dict[str, tuple[bytes, str]] = {
    "cut short": (zip_of(HONEST)[:-30], "damaged"),
    "size that lies low": (with_field(zip_of({"zeros.bin": bytes(6_000_000)}), 22, 24, b"\x64\0\0\0"), "damaged"),
    "checksum": (with_field(zip_of({"a": b"x" * 50}), 14, 16, b"\0\0\0\0"), "Bad CRC"),
    "password": (with_field(zip_of({"a": b"x"}), 6, 8, b"\x01\0"), "password"),
    "text": (b"just text, no archive at all\n" * 40, "damaged, or no zip or tar"),
    "empty file": (b"", "damaged, or no zip or tar"),
    "empty zip": (zip_of({}), "holds nothing"),
    "empty tar": (tar_of({}), "holds nothing"),
    "gzip of a text": (gzip.compress(b"text\n" * 500), "damaged, or no zip or tar"),
    "bzip2 of noise": (bz2.compress(bytes(range(256)) * 9), "damaged, or no zip or tar"),
    "xz of a text": (lzma.compress(b"text\n" * 500), "damaged, or no zip or tar"),
    "gzip cut short": (tar_of(HONEST, mode="w:gz")[:-40], "damaged"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + b"\0" * 600, "damaged, or no zip or tar"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("kind", BROKEN)
async def test_a_broken_archive_is_refused_whole(call: Call, workspace: Path, kind: str) -> None:
    packed, reason = BROKEN[kind]
    (workspace / "a.zip").write_bytes(packed)
    with pytest.raises(ToolError, match=reason):
        await call("extract_archive", archive="a.zip")
    assert names(workspace) == ["a.zip"]


@pytest.mark.anyio
async def test_unpacking_beside_other_files_overwrites_none(call: Call, workspace: Path) -> None:
    (workspace / "a.zip").write_bytes(zip_of(HONEST))
    (workspace / "run.sh").write_text("mine", encoding="utf-8")
    with pytest.raises(ToolError, match=r"holds run\.sh already; nothing was unpacked"):
        await call("extract_archive", archive="a.zip", destination=".")
    assert names(workspace) == ["a.zip", "run.sh"]
    (workspace / "run.sh").unlink()
    await call("extract_archive", archive="a.zip", destination=".")
    assert names(workspace) == ["a.zip", "notes", "run.sh"]


@pytest.mark.anyio
async def test_an_archive_that_reaches_a_closed_place_is_refused(call: Call, workspace: Path, rules: Rules) -> None:
    rules.paths = structs.replace(rules.paths, blocked=(workspace / "notes" / "deep",))
    (workspace / "a.zip").write_bytes(zip_of(HONEST))
    with pytest.raises(ToolRefusedError, match="closed to tools"):
        await call("extract_archive", archive="a.zip", destination=".")
    assert names(workspace) == ["a.zip"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", ["größe/日本.txt", "a b.txt", "deep/" * 30 + "x", "-rf", "con.txt", "..a/...b", "10:30 notes.txt"]
)
async def test_unusual_but_harmless_names_are_unpacked(call: Call, workspace: Path, name: str) -> None:
    (workspace / "a.zip").write_bytes(zip_of({name: b"x"}))
    await call("extract_archive", archive="a.zip")
    assert contents(workspace / "a") == {name: b"x"}


@pytest.mark.anyio
async def test_folders_written_by_old_windows_programs_are_folders(call: Call, workspace: Path) -> None:
    (workspace / "a.zip").write_bytes(zip_of({"dir\\": b"", "dir\\a.txt": b"x"}))
    await call("extract_archive", archive="a.zip")
    assert contents(workspace / "a") == {"dir/a.txt": b"x"}


@pytest.mark.anyio
async def test_a_packed_folder_comes_out_as_it_went_in(call: Call, workspace: Path) -> None:
    for name, content in HONEST.items():
        (workspace / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / "src" / name).write_bytes(content)
    (workspace / "src" / "empty").mkdir()
    (workspace / "src" / "run.sh").chmod(0o755)
    result = await call("create_archive", paths=["src"], archive="out/src.zip")
    assert result.text.startswith("Packed 3 files into out/src.zip (")
    await call("extract_archive", archive="out/src.zip", destination="back")
    assert contents(workspace / "back" / "src") == HONEST
    assert (workspace / "back" / "src" / "empty").is_dir()
    assert (workspace / "back" / "src" / "run.sh").stat().st_mode & 0o777 == 0o755


SECRETS = (
    ".env", ".env.local", "prod.env", "id_rsa", "id_ed25519", "server.pem", "tls.key", "cert.p12", "keys.kdbx",
    ".netrc", ".npmrc", ".git-credentials", "credentials.json", ".ssh/config", "deep/.aws/credentials", "ID_RSA",
    "Server.PEM",
)  # fmt: skip
HARMLESS = (".env.example", "id_rsa.pub", "environment.md", "keyboard.txt", "monkey.py", ".sshd-notes")


@pytest.mark.anyio
async def test_keys_and_passwords_stay_out_and_are_named(call: Call, workspace: Path) -> None:
    for name in (*SECRETS, *HARMLESS):
        (workspace / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / "p" / name).write_text("x", encoding="utf-8")
    result = await call("create_archive", paths=["p"], archive="p.zip")
    with zipfile.ZipFile(workspace / "p.zip") as packed:
        files = {name for name in packed.namelist() if not name.endswith("/")}
    assert files == {f"p/{name}" for name in HARMLESS}
    assert "Left out (may hold keys or passwords): " in result.text
    assert all(f"p/{name}" in result.text for name in SECRETS)


@pytest.mark.anyio
async def test_links_stay_out_and_are_named(call: Call, workspace: Path) -> None:
    (workspace / "p").mkdir()
    (workspace / "p" / "a.txt").write_text("x", encoding="utf-8")
    (workspace / "p" / "link").symlink_to("/etc/passwd")
    result = await call("create_archive", paths=["p"], archive="p.zip")
    assert result.text.endswith("Left out (links, or closed to tools): p/link")


@pytest.mark.anyio
async def test_files_of_one_name_from_two_folders_do_not_collide(call: Call, workspace: Path) -> None:
    for folder in ("a", "b"):
        (workspace / folder).mkdir()
        (workspace / folder / "x.txt").write_text(folder, encoding="utf-8")
    await call("create_archive", paths=["a/x.txt", "b/x.txt"], archive="p.zip")
    with zipfile.ZipFile(workspace / "p.zip") as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {"a/x.txt": b"a", "b/x.txt": b"b"}


@pytest.mark.anyio
async def test_an_archive_does_not_hold_itself(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x", encoding="utf-8")
    for _ in range(2):
        await call("create_archive", paths=["."], archive="all.zip", overwrite=True)
    with zipfile.ZipFile(workspace / "all.zip") as packed:
        assert packed.namelist() == ["workspace/", "workspace/a.txt"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"paths": ["a.txt"], "archive": "a.rar"}, "does not end in .zip"),
        ({"paths": [".env"], "archive": "a.zip"}, "Nothing is left to pack"),
        ({"paths": ["gone"], "archive": "a.zip"}, "does not exist"),
        ({"paths": ["a.txt"], "archive": "old.zip"}, "is there already"),
    ],
)
async def test_what_cannot_be_packed_is_named(
    call: Call, workspace: Path, arguments: dict[str, Any], reason: str
) -> None:
    for name in ("a.txt", ".env", "old.zip"):
        (workspace / name).write_text("x", encoding="utf-8")
    with pytest.raises(ToolError, match=reason):
        await call("create_archive", **arguments)
    assert names(workspace) == [".env", "a.txt", "old.zip"]
