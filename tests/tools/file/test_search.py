import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from skales.core.errors import ToolError
from skales.tools.context import ToolContext
from skales.tools.file.patterns import compile_pattern
from skales.tools.file.search import search_in_files
from tests.conftest import FixedClock
from tests.tools.conftest import Call, Rules


def make(workspace: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


TREE = {
    "readme.md": "", "src/app.py": "", "src/deep/util.py": "", "src/deep/Test_Util.PY": "", "docs/a[1].txt": "",
    "docs/.hidden": "", "node_modules/x/app.py": "", ".git/app.py": "",
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["src/app.py", "src/deep/Test_Util.PY", "src/deep/util.py"]),
        ("util", ["src/deep/Test_Util.PY", "src/deep/util.py"]),
        ("README.MD", ["readme.md"]),
        ("src/*.py", ["src/app.py"]),
        ("src/**/*.py", ["src/app.py", "src/deep/Test_Util.PY", "src/deep/util.py"]),
        ("**/deep/*", ["src/deep/Test_Util.PY", "src/deep/util.py"]),
        ("**", ["docs/", "docs/.hidden", "docs/a[1].txt", "readme.md", "src/", "src/app.py", "src/deep/",
                "src/deep/Test_Util.PY", "src/deep/util.py", "node_modules/", ".git/"]),
        ("./src/app.py", ["src/app.py"]),
        ("src\\app.py", ["src/app.py"]),
        ("*.{md,txt}", ["docs/a[1].txt", "readme.md"]),
        ("a?1*", ["docs/a[1].txt"]),
        ("dee", ["src/deep/"]),
        ("src/deep", ["src/deep/", "src/deep/Test_Util.PY", "src/deep/util.py"]),
        ("*.none", []),
    ],
)  # fmt: skip
async def test_files_are_found_by_name(call: Call, workspace: Path, pattern: str, found: list[str]) -> None:
    make(workspace, TREE)
    result = await call("find_files", pattern=pattern)
    lines = result.text.partition("\n\n[")[0].split("\n")
    assert sorted(lines) == sorted(found or ["[Nothing found]"])
    assert result.text.endswith("[Folders passed over: .git, node_modules.]")


@pytest.mark.anyio
async def test_many_hits_are_counted_and_cut(call: Call, workspace: Path) -> None:
    make(workspace, {f"f{number:03}.txt": "" for number in range(250)})
    result = await call("find_files", pattern="*.txt")
    assert result.text.endswith("f199.txt\n[50 more; use a narrower pattern]")
    assert result.summary == "Found 250 names like *.txt in ."


@pytest.mark.anyio
@pytest.mark.parametrize("pattern", ["*a" * 120 + "b", "[" * 200, "**/" * 100 + "x"])
async def test_a_pattern_that_explodes_does_not_hold_up(call: Call, workspace: Path, pattern: str) -> None:
    make(workspace, {"a" * 200: "", "a/" * 60 + "y": ""})
    assert (await call("find_files", pattern=pattern)).text == "[Nothing found]"


@pytest.mark.anyio
async def test_too_many_choices_are_refused(call: Call) -> None:
    with pytest.raises(ToolError, match="too many choices"):
        await call("find_files", pattern="{a,b}" * 20)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"query": "parse"}, "a.py\n  1: def parse():\n  3: PARSE = 1\nsub/b.txt\n  2: we parse it"),
        ({"query": "PARSE"}, "a.py\n  3: PARSE = 1"),
        ({"query": "parse", "pattern": "*.py"}, "a.py\n  1: def parse():\n  3: PARSE = 1"),
        ({"query": "parse", "path": "sub"}, "sub/b.txt\n  2: we parse it"),
        ({"query": "parse", "path": "sub/b.txt"}, "sub/b.txt\n  2: we parse it"),
        ({"query": "d.f", "regex": True}, "a.py\n  1: def parse():"),
        ({"query": "d.f"}, "[Nothing found]"),
        ({"query": "^we", "regex": True}, "sub/b.txt\n  2: we parse it"),
        ({"query": "1\\Z", "regex": True}, "a.py\n  3: PARSE = 1"),
        ({"query": "first\nwe"}, "sub/b.txt\n  1: first"),
        ({"query": "ÜBER"}, "[Nothing found]"),
        ({"query": "über"}, "sub/b.txt\n  3: Über 1 ÜBER"),
    ],
)
async def test_lines_are_found_by_content(call: Call, workspace: Path, arguments: dict[str, Any], text: str) -> None:
    make(
        workspace, {"a.py": "def parse():\n    pass\nPARSE = 1", "sub/b.txt": "first\r\nwe parse it\r\nÜber 1 ÜBER\r\n"}
    )
    if arguments["query"] == "ÜBER":
        (workspace / "sub" / "b.txt").write_text("über\n", encoding="utf-8")
    assert (await call("search_in_files", **arguments)).text == text


@pytest.mark.anyio
async def test_characters_that_grow_in_small_letters_shift_no_place(call: Call, workspace: Path) -> None:
    make(workspace, {"a.txt": "İİİİ\nİx Needle\n"})
    assert (await call("search_in_files", query="needle")).text == "a.txt\n  2: İx Needle"


@pytest.mark.anyio
@pytest.mark.parametrize("codec", ["utf-16", "utf-8-sig", "cp1252"])
async def test_every_encoding_is_searched(call: Call, workspace: Path, codec: str) -> None:
    make(workspace, {"a.txt": "erste Zeile\nzweite Größe hier\n".encode(codec)})
    assert (await call("search_in_files", query="größe")).text == "a.txt\n  2: zweite Größe hier"


@pytest.mark.anyio
async def test_what_is_passed_over_is_told(call: Call, workspace: Path, rules: Rules) -> None:
    make(
        workspace,
        {
            "a.txt": "needle",
            "b.png": b"\x89PNG\r\n\x1a\nneedle",
            "node_modules/c.txt": "needle",
            "d.bin": b"\0\1needle",
        },
    )
    with (workspace / "large.log").open("wb") as stream:
        stream.write(b"needle")
        stream.truncate(11 * 1024 * 1024)
    result = await call("search_in_files", query="needle")
    assert result.text == (
        "a.txt\n  1: needle\n\n[Not searched: 1 over 10.0 MB, 2 without text. Folders passed over: node_modules.]"
    )
    assert result.summary == "Found 1 line in 1 file of 1 searched"


@pytest.mark.anyio
async def test_a_large_file_named_on_purpose_is_searched_to_its_end(call: Call, workspace: Path) -> None:
    line = b"x" * 99 + b"\n"
    (workspace / "large.log").write_bytes(
        line * 130_000 + b"the needle\n" + line + b"y" * 3_000_000 + b" needle\nz needle"
    )
    result = await call("search_in_files", query="needle", path="large.log")
    numbers = [text.strip().split(":")[0] for text in result.text.split("\n")[1:]]
    assert numbers == ["130001", "130003", "130004"]


@pytest.mark.anyio
async def test_a_match_in_a_giant_line_is_shown_with_its_surroundings(call: Call, workspace: Path) -> None:
    make(workspace, {"a.json": "a" * 5000 + "needle" + "b" * 5000})
    line = (await call("search_in_files", query="needle")).text.split("\n")[1]
    assert "aneedleb" in line
    assert len(line) < 220


@pytest.mark.anyio
async def test_many_matches_are_counted_and_cut(call: Call, workspace: Path) -> None:
    make(workspace, {"a.txt": "x\n" * 70, "b.txt": "x x\n" * 70})
    result = await call("search_in_files", query="x")
    assert result.text.endswith("[40 more lines; use a narrower query]")
    assert result.summary == "Found 140 lines in 2 files of 2 searched"


@pytest.mark.anyio
async def test_what_is_closed_to_tools_is_not_searched(call: Call, workspace: Path, rules: Rules) -> None:
    make(workspace, {"private/a.txt": "needle", "b.txt": "needle", "c.txt": "needle"})
    (workspace / "same.txt").hardlink_to(workspace / "c.txt")
    rules.paths = type(rules.paths)(
        workspace=workspace, blocked=(workspace / "private", workspace / "c.txt"), allowed=()
    )
    result = await call("search_in_files", query="needle")
    assert result.text == "b.txt\n  1: needle\n\n[Not searched: 3 closed to tools.]"
    listed = (await call("list_directory", depth=3)).text.split("\n")
    assert [line for line in listed if "closed" in line] == [
        "c.txt (closed to tools)", "private (closed to tools)", "same.txt (closed to tools)",
    ]  # fmt: skip
    assert "private/a.txt" not in "".join(listed)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("search_in_files", {"query": ""}, "query is empty"),
        ("search_in_files", {"query": "("  , "regex": True}, "not a valid regular expression"),
        ("search_in_files", {"query": "a", "path": "gone"}, "does not exist"),
        ("find_files", {"pattern": " "}, "pattern is empty"),
        ("find_files", {"pattern": "a", "path": "a.txt"}, "is no folder"),
    ],
)  # fmt: skip
async def test_faulty_searches_are_named(
    call: Call, workspace: Path, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    make(workspace, {"a.txt": "a"})
    with pytest.raises(ToolError, match=reason):
        await call(tool, **arguments)


def test_a_pattern_that_would_run_for_hours_is_stopped() -> None:
    pattern = compile_pattern(r"(a|aa)+$", time_limit_s=0.1)
    with pytest.raises(ToolError, match=r"longer than 0\.1 s"):
        list(pattern.find("a" * 60 + "b"))


@pytest.mark.anyio
async def test_without_the_engine_a_pattern_is_refused_and_plain_text_works(
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(workspace, {"a.txt": "needle"})
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(ToolError, match="need the package 'regex'"):
        await call("search_in_files", query="n.edle", regex=True)
    assert (await call("search_in_files", query="needle")).text == "a.txt\n  1: needle"


class LateClock(FixedClock):
    """A clock on which everything takes long."""

    def monotonic_s(self) -> float:
        self.advance(40)
        return super().monotonic_s()


@pytest.mark.anyio
async def test_a_search_that_takes_too_long_stops_and_says_so(ctx: ToolContext, workspace: Path) -> None:
    make(workspace, {f"{number}.txt": "needle" for number in range(5)})
    result = await search_in_files(structs.replace(ctx, clock=LateClock()), "needle", workspace)
    assert "Found 1 line" in result.summary
    assert result.text.endswith("[The search stopped at its limit; search a smaller folder for the rest.]")
