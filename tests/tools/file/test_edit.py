"""TOO-02 and its kind: an edit changes what it names and keeps every other byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from skales.core.errors import ToolError
from skales.tools.context import ToolContext
from skales.tools.file.edit import edit_file
from tests.conftest import CASES
from tests.tools.conftest import Call

FOLDER = CASES / "tools" / "TOO-02"
CASE = json.loads((CASES / "tools" / "TOO-02.expected.json").read_text(encoding="utf-8"))
EDITS = [case for case in CASE if "edit" in case]
CARRIED_OUT = [case for case in EDITS if "after" not in case]
REFUSED = [case for case in EDITS if "after" in case]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def placed(workspace: Path, case: dict[str, Any]) -> Path:
    name: str = case["file"]
    (workspace / name).write_bytes((FOLDER / name).read_bytes())
    return workspace / name


@pytest.mark.anyio
@pytest.mark.parametrize("case", CARRIED_OUT, ids=lambda case: f"{case['file']}:{case['edit']['new'][:8]!r}")
async def test_the_recorded_edits_give_the_recorded_bytes(call: Call, workspace: Path, case: dict[str, Any]) -> None:
    path = placed(workspace, case)
    await call("edit_file", path=case["file"], old_text=case["edit"]["old"], new_text=case["edit"]["new"])
    assert path.read_bytes().hex() in [case.get("after_hex"), *case.get("after_hex_any_of", [])]


@pytest.mark.anyio
@pytest.mark.parametrize(("case", "reason"), list(zip(REFUSED, ["U+2264", "occurs 4 times"], strict=True)))
async def test_the_recorded_refusals_leave_the_file(
    call: Call, workspace: Path, case: dict[str, Any], reason: str
) -> None:
    path = placed(workspace, case)
    before = path.read_bytes()
    with pytest.raises(ToolError) as caught:
        await call("edit_file", path=case["file"], old_text=case["edit"]["old"], new_text=case["edit"]["new"])
    assert reason in caught.value.message
    assert path.read_bytes() == before


@pytest.mark.anyio
@pytest.mark.parametrize(
    "edit",
    [
        # Line ends of every kind, given in every kind.
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\nb\nc\n", "a\r\nb", "x\r\ny", b"x\ny\nc\n"),
        (b"a\rb\rc\r", "a\nb", "x\ny", b"x\ry\rc\r"),
        (b"a\nb\r\nc\rd\n", "b\nc\nd", "b\nC\nd", b"a\nb\r\nC\rd\n"),
        # Lines that are only named for context keep their own ends.
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nNEW\nc\nd", b"a\r\nb\nNEW\nc\r\nd\n"),
        (b"a\nb\r\nc\nd\r\n", "a\nb\nc\nd", "a\nd", b"a\nd\r\n"),
        (b"a\nb\r\nc\n", "b\n", "b\nx\ny\n", b"a\nb\r\nx\r\ny\r\nc\n"),
        # Added lines take their neighbour's end.
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a", "a", "a\nb", b"a\nb"),
        (b"a\r\nb\r\n", "a", "x\ny\na", b"x\r\ny\r\na\r\nb\r\n"),
        # Deleting, and growing at the ends.
        (b"a\r\nb\r\nc\r\n", "b\n", "", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\nb\n", "", b""),
        (b"one\ntwo", "two", "two\n", b"one\ntwo\n"),
        (b"one\r\ntwo\r\n", "two\n", "two", b"one\r\ntwo"),
        # Blanks, tabs and empty lines count.
        (b"\tif x:\r\n\t\tpass  \r\n\r\n\r\nend\r\n", "\t\tpass  \n\n\n", "\t\tgo\n\n",
         b"\tif x:\r\n\t\tgo\r\n\r\nend\r\n"),
        # Separators that are no line ends stay inside lines.
        ("a\u2028b\x0bc\x85d\r\ne".encode(), "d\ne", "D\nE", "a\u2028b\x0bc\x85D\r\nE".encode()),
        # Marks and wide encodings.
        (b"\xef\xbb\xbfa\r\nb", "a\nb", "a\nc", b"\xef\xbb\xbfa\r\nc"),
        (b"\xef\xbb\xbfa\nb", "\ufeffa", "x", b"\xef\xbb\xbfx\nb"),
        (b"\xff\xfe" + "größe\r\nb".encode("utf-16-le"), "größe\n", "maß\n",
         b"\xff\xfe" + "maß\r\nb".encode("utf-16-le")),
        (b"\xfe\xff" + "a\nb".encode("utf-16-be"), "b", "日本", b"\xfe\xff" + "a\n日本".encode("utf-16-be")),
        ("plain text\r\nmore\r\n".encode("utf-16-le"), "more", "less", "plain text\r\nless\r\n".encode("utf-16-le")),
        (b"\xff\xfe\0\0" + "a\nb".encode("utf-32-le"), "a", "😀", b"\xff\xfe\0\0" + "😀\nb".encode("utf-32-le")),
        # Old encodings, and single bytes that belong to none.
        ("Größe\r\nMaß\r\n".encode("cp1252"), "Größe", "Länge", "Länge\r\nMaß\r\n".encode("cp1252")),
        ("Привет, мир! Как дела?\n".encode("cp1251"), "мир", "друг", "Привет, друг! Как дела?\n".encode("cp1251")),
        ("こんにちは世界。\r\nテスト\r\n".encode("cp932"), "テスト", "試験",
         "こんにちは世界。\r\n試験\r\n".encode("cp932")),
        ("grün ähnlich öfter\n".encode() + b"broken \xe4 byte\nend\n", "end", "fin",
         "grün ähnlich öfter\n".encode() + b"broken \xe4 byte\nfin\n"),
    ],
)  # fmt: skip
async def test_only_what_the_edit_names_changes(
    call: Call, workspace: Path, edit: tuple[bytes, str, str, bytes]
) -> None:
    stored, old, new, after = edit
    path = workspace / "a.txt"
    path.write_bytes(stored)
    await call("edit_file", path="a.txt", old_text=old, new_text=new)
    assert path.read_bytes() == after


@pytest.mark.anyio
async def test_undoing_an_edit_by_the_reverse_edit_gives_the_old_bytes(call: Call, workspace: Path) -> None:
    path = workspace / "mixed.txt"
    before = b"one\r\ntwo\nthree\r\nfour\nend"
    path.write_bytes(before)
    await call("edit_file", path="mixed.txt", old_text="two\nthree", new_text="2\n3")
    await call("edit_file", path="mixed.txt", old_text="2\n3", new_text="two\nthree")
    assert path.read_bytes() == before


@pytest.mark.anyio
async def test_a_text_that_is_not_there_is_answered_with_the_closest_lines(call: Call, workspace: Path) -> None:
    (workspace / "a.py").write_text(
        "import os\n\ndef greet(name):\n    print('hello', name)\n    return name\n", encoding="utf-8"
    )
    with pytest.raises(ToolError) as caught:
        await call("edit_file", path="a.py", old_text="def greet(nam):\n  print('hello', name)", new_text="x")
    assert caught.value.message == "The text is not in 'a.py'; nothing was changed"
    assert caught.value.hint == "Lines 3–4 are closest:\ndef greet(name):\n    print('hello', name)"


@pytest.mark.anyio
async def test_a_text_nothing_resembles_is_answered_with_advice(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("entirely different\n", encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        await call("edit_file", path="a.txt", old_text="zzz 999", new_text="x")
    assert caught.value.hint.startswith("Read the file")


@pytest.mark.anyio
async def test_an_ambiguous_text_is_refused_with_the_lines(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x = 1\ny = 2\nx = 1\n" + "x = 1\n" * 20, encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        await call("edit_file", path="a.txt", old_text="x = 1", new_text="x = 2")
    assert "occurs 22 times in 'a.txt' (lines 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, …)" in caught.value.message


@pytest.mark.anyio
async def test_overlapping_places_are_ambiguous_too(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("aaa", encoding="utf-8")
    with pytest.raises(ToolError, match="occurs 2 times"):
        await call("edit_file", path="a.txt", old_text="aa", new_text="b")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "edit",
    [
        (b"a\n", "a", "a", "says this already"),
        (b"a\r\n", "a\r\n", "a\n", "says this already"),
        (b"a\n", "", "b", "old_text is empty"),
        (b"a\n", "a", "\ud83d", "U\\+D83D"),
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG", "x", "a PNG picture, not text"),
        (bytes(range(256)) * 4, "A", "x", "binary data, not text"),
        (b"%PDF-1.7 text", "text", "x", "a PDF document, not text"),
        (b"\xff\xfea\0b", "a", "x", "not valid UTF-16 LE with BOM; changing it could damage it"),
    ],
)
async def test_what_cannot_be_edited_is_refused_and_kept(
    call: Call, workspace: Path, edit: tuple[bytes, str, str, str]
) -> None:
    stored, old, new, reason = edit
    path = workspace / "a.bin"
    path.write_bytes(stored)
    with pytest.raises(ToolError, match=reason):
        await call("edit_file", path="a.bin", old_text=old, new_text=new)
    assert path.read_bytes() == stored


@pytest.mark.anyio
async def test_a_wrong_name_is_answered_with_the_right_one(call: Call, workspace: Path) -> None:
    (workspace / "settings.ini").write_text("a", encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        await call("edit_file", path="setings.ini", old_text="a", new_text="b")
    assert caught.value.hint == "Did you mean 'settings.ini'"


@pytest.mark.anyio
async def test_a_file_too_large_to_edit_is_left_alone(call: Call, workspace: Path) -> None:
    with (workspace / "huge.log").open("wb") as stream:
        stream.truncate(65 * 1024 * 1024)
    with pytest.raises(ToolError, match=r"65\.0 MB; files over 64\.0 MB are not edited"):
        await call("edit_file", path="huge.log", old_text="a", new_text="b")


@pytest.mark.anyio
async def test_permissions_survive_an_edit(call: Call, workspace: Path) -> None:
    path = workspace / "run.sh"
    path.write_text("echo a\n", encoding="utf-8")
    path.chmod(0o750)
    await call("edit_file", path="run.sh", old_text="a", new_text="b")
    assert path.stat().st_mode & 0o777 == 0o750


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        ({"find": "a", "replace": "b"}, b"b.b\r\nb\n"),
        ({"find": "a", "replace": "b", "count": 2}, b"b.b\r\na\n"),
        ({"find": "a\na", "replace": "b\nb"}, b"a.b\r\nb\n"),
        ({"find": ".", "replace": "-"}, b"a-a\r\na\n"),
        ({"find": "(a)\\.", "replace": "\\1\\1:", "regex": True}, b"aa:a\r\na\n"),
        ({"find": "^a", "replace": "> a", "regex": True}, b"> a.a\r\n> a\n"),
        ({"find": "a$", "replace": "z", "regex": True}, b"a.z\r\nz\n"),
        ({"find": "$", "replace": ";", "regex": True, "count": 1}, b"a.a;\r\na\n"),
        ({"find": "(?P<x>a)\\n", "replace": "\\g<x>!\\n", "regex": True}, b"a.a!\r\na!\n"),
        ({"find": "\\n", "replace": " ", "regex": True}, b"a.a a "),
    ],
)
async def test_replacing_keeps_all_other_bytes(
    call: Call, workspace: Path, arguments: dict[str, Any], after: bytes
) -> None:
    path = workspace / "a.txt"
    path.write_bytes(b"a.a\r\na\n")
    await call("replace_in_file", path="a.txt", **arguments)
    assert path.read_bytes() == after


@pytest.mark.anyio
async def test_replacing_says_where(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x\ny\nx x\n", encoding="utf-8")
    result = await call("replace_in_file", path="a.txt", find="x", replace="z")
    assert result.text == "Changed 3 places in a.txt (lines 1, 3)"
    assert result.files == (str(workspace / "a.txt"),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"find": "nothing", "replace": "x"}, "not in 'a.txt'"),
        ({"find": "", "replace": "x"}, "find is empty"),
        ({"find": "(", "replace": "x", "regex": True}, "not a valid regular expression"),
        ({"find": "a", "replace": "\\7", "regex": True}, "not a valid replacement"),
        ({"find": "a", "replace": "\\g<no>", "regex": True}, "not a valid replacement"),
    ],
)
async def test_faulty_replacements_are_named(
    call: Call, workspace: Path, arguments: dict[str, Any], reason: str
) -> None:
    (workspace / "a.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(ToolError, match=reason):
        await call("replace_in_file", path="a.txt", **arguments)
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "a\n"


class Meddler:
    """An id source that lets another program write whenever an id is drawn: between reading and writing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def token(self, length: int) -> str:
        self.path.write_text("theirs", encoding="utf-8")
        return "0" * length


@pytest.mark.anyio
async def test_a_change_by_another_program_meanwhile_is_not_overwritten(ctx: ToolContext, workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text("ours\n", encoding="utf-8")
    with pytest.raises(ToolError, match="changed by another program"):
        await edit_file(structs.replace(ctx, ids=Meddler(path)), path, "ours", "new")
    assert names(workspace) == ["a.txt"]
    assert path.read_text(encoding="utf-8") == "theirs"
