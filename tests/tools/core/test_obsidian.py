"""The note tools on real vaults: what they find and read, and that nothing outside of a vault is touched."""

import os
from pathlib import Path

import pytest

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.json import JsonValue, as_list, as_object, as_text
from skales.core.tool import Effect, Safety
from skales.data.setting_shapes import NoteFormat, VaultSettings
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio


@pytest.fixture
def vault(tmp_path: Path, rules: Rules) -> Path:
    root = tmp_path / "My vault"
    root.mkdir()
    rules.vaults.append(VaultSettings(path=str(root), alias="Personal"))
    return root


def put(root: Path, name: str, text: str = "") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def links(data: JsonValue) -> list[tuple[JsonValue, JsonValue, JsonValue]]:
    found = [as_object(item) for item in as_list(as_object(data)["links"])]
    return [(f"{item['target']}#{item['part']}".strip("#"), item["path"], item["unresolved"]) for item in found]


@pytest.mark.parametrize(
    ("name", "safety", "effect"),
    [
        ("obsidian_list_vaults", Safety.AUTO, Effect.READS_PRIVATE),
        ("obsidian_search", Safety.AUTO, Effect.READS_PRIVATE),
        ("obsidian_read", Safety.AUTO, Effect.READS_PRIVATE),
        ("obsidian_list_folder", Safety.AUTO, Effect.READS_PRIVATE),
        ("obsidian_create_note", Safety.CONFIRM, Effect.WRITES),
        ("obsidian_append_to_note", Safety.CONFIRM, Effect.WRITES),
    ],
)
def test_reading_is_free_and_writing_asks(toolbox: BuiltinToolbox, name: str, safety: Safety, effect: Effect) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", safety, frozenset({effect}))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("obsidian_list_vaults", {}),
        ("obsidian_search", {"query": "x"}),
        ("obsidian_read", {"note": "x"}),
        ("obsidian_list_folder", {}),
        ("obsidian_create_note", {"title": "x", "content": "y"}),
        ("obsidian_append_to_note", {"note": "x", "content": "y"}),
    ],
)
async def test_without_a_vault_each_says_how_to_add_one(call: Call, name: str, arguments: dict[str, JsonValue]) -> None:
    with pytest.raises(ToolError, match="Settings → Tools and add-ons → Obsidian vaults"):
        await call(name, **arguments)


async def test_vaults_are_listed_with_their_notes_or_what_is_wrong(
    call: Call, vault: Path, rules: Rules, tmp_path: Path
) -> None:
    for name in ("a.md", "sub/b.MD", ".obsidian/c.md", "node_modules/d.md", "sub/.trash/e.md", "picture.png"):
        put(vault, name)
    rules.vaults += [
        VaultSettings(path=str(tmp_path / "gone")),
        VaultSettings(path="relative/vault"),
        VaultSettings(path=str(put(tmp_path, "file.txt"))),
    ]
    result = await call("obsidian_list_vaults")
    rows = [as_object(row) for row in as_list(as_object(result.data)["vaults"])]
    assert rows[0] == {"name": "Personal", "path": str(vault), "notes": 2}
    assert "is not there" in as_text(rows[1]["error"])
    assert (await call("obsidian_list_folder", vault="Personal")).data == {
        "vault": "Personal",
        "entries": [
            {"path": "a.md", "kind": "file"},
            {"path": "picture.png", "kind": "file"},
            {"path": "sub", "kind": "folder"},
        ],
        "total": 3,
    }
    listed = result.text.splitlines()
    assert listed[0] == f"- Personal: 2 notes, in {vault}"
    assert "gone" in listed[1]
    assert "is not there" in listed[1]
    assert "no whole path" in listed[2]
    assert "is not there" in listed[3]


async def test_a_vault_must_be_named_when_there_are_several(
    call: Call, vault: Path, rules: Rules, tmp_path: Path
) -> None:
    put(vault, "Same.md", "first")
    second = tmp_path / "second"
    put(second, "Same.md", "other")
    rules.vaults.append(VaultSettings(path=str(second)))
    with pytest.raises(ToolError, match="'Personal', 'second'"):
        await call("obsidian_read", note="Same")
    assert "first" in (await call("obsidian_read", note="Same", vault="personal")).text
    assert "other" in (await call("obsidian_read", note="Same", vault=str(second))).text
    assert (await call("obsidian_search", query="same")).summary == "Found 2 notes of 2"
    with pytest.raises(ToolError, match="no vault 'third'"):
        await call("obsidian_list_folder", vault="third")


async def test_search_wants_every_word_and_ranks_names_first(call: Call, vault: Path) -> None:
    put(vault, "Lisbon.md", "A trip")
    put(vault, "Plans.md", "\n\nThe trip to LISBON\n")
    put(vault, "Other.md", "a trip to Porto")
    found = await call("obsidian_search", query="lisbon trip")
    assert found.text.splitlines()[1:] == [
        "- Lisbon.md (Personal), line 1: A trip",
        "- Plans.md (Personal), line 3: The trip to LISBON",
    ]
    assert (await call("obsidian_search", query='"trip to porto"')).summary == "Found 1 note of 3"
    assert (await call("obsidian_search", query="trip", limit=1)).text.endswith("or a larger limit]")
    with pytest.raises(ToolError, match="query is empty"):
        await call("obsidian_search", query=' "" ')


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("about #project", True),
        ("#Project/alpha", True),
        ("(#project)", True),
        ("**#project**", True),
        ("---\ntags: [project, x]\n---\n", True),
        ("---\ntags:\n  - x\n  - '#project/alpha'\n---\n", True),
        ("---\ntags: x, project\n---\n", True),
        ("---\r\ntag: project\r\n---\r\n", True),
        ("\ufeff---\ntags: project\n---\n", True),
        ("#projects", False),
        ("my-project #other/project", False),
        ("word#project", False),
        ("https://x.example/#project", False),
        ("[[Note#project]]", False),
        ("[text](#project)", False),
        ("`#project`", False),
        ("```\n#project\n```", False),
        ("text\n\n    #project\n", False),
        ("# project", False),
        ("---\ntitle: project\n---\n", False),
        ("---\nno end #x\ntags: project\n", False),
    ],
)
async def test_tags_of_text_and_front_matter(call: Call, vault: Path, text: str, is_found: bool) -> None:
    put(vault, "note.md", text)
    found = await call("obsidian_search", query="tag:project")
    assert (found.summary == "Found 1 note of 1") is is_found
    assert found.summary == (await call("obsidian_search", query="tag:#Project")).summary


async def test_search_passes_over_what_it_cannot_read_and_says_so(call: Call, vault: Path) -> None:
    put(vault, "huge.md", "word " * 500_000)
    put(vault, "binary.md").write_bytes(bytes(range(256)) * 40)
    put(vault, "good.md", "word")
    os.mkfifo(vault / "pipe.md")
    found = await call("obsidian_search", query="word")
    assert found.summary == "Found 1 note of 1"
    assert "2 notes could not be read" in found.text


async def test_a_note_is_read_with_tags_and_where_its_links_lead(call: Call, vault: Path) -> None:
    put(vault, "Target.md", "# One\n\n## Two words!\n\ntext ^block-1\n\n```\n# Not one\n^no\n```\n")
    put(vault, "deep/Named.md", "---\naliases: [Other name]\n---\n")
    for name in ("deep/Same.md", "Same.md", "a/Twin.md", "deep/Twin.md"):
        put(vault, name)
    put(vault, "files/picture one.png")
    source = put(
        vault,
        "deep/Source.md",
        "---\naliases: Src\ntags: front\n---\n# Top\n"
        "[[Target]] [[target|shown]] [[Target#one#two words]] [[Target#^Block-1]] ![[picture one.png]]\n"
        "[[Same]] [[Twin]] [[../Same]] [[deep/Named.md]] [[Other Name]] [[#Top]] [x](../Target.md#One) "
        "[y](<picture one.png>)\n"
        "[[Missing]] [[Target#Not one]] [[Target#Two words#One]] [[Target#^no]] [z](https://x.example) "
        "[w](gone%20note.md)\n"
        "`[[Code]]` ``[[Co`de]]`` #inline\n\n~~~\n[[Code]]\n~~~\n\n    [[Code]]\n",
    )
    before = source.read_bytes()
    read = await call("obsidian_read", note="Source")
    assert links(read.data) == [
        ("Target", "Target.md", None),
        ("target", "Target.md", None),
        ("Target#one#two words", "Target.md", None),
        ("Target#^Block-1", "Target.md", None),
        ("picture one.png", "files/picture one.png", None),
        ("Same", "Same.md", None),
        ("Twin", "deep/Twin.md", None),
        ("../Same", "Same.md", None),
        ("deep/Named.md", "deep/Named.md", None),
        ("Other Name", "deep/Named.md", None),
        ("Top", "deep/Source.md", None),
        ("../Target.md#One", "Target.md", None),
        ("picture one.png", "files/picture one.png", None),
        ("Missing", None, "there is no such note"),
        ("Target#Not one", "Target.md", "there is no such heading in it"),
        ("Target#Two words#One", "Target.md", "there is no such heading in it"),
        ("Target#^no", "Target.md", "there is no such block in it"),
        ("gone note.md", None, "there is no such note"),
    ]
    assert "Tags: #front, #inline" in read.text
    assert "Also called: Src" in read.text
    assert "- embeds picture one.png → files/picture one.png" in read.text
    assert "- Missing: unresolved, there is no such note" in read.text
    assert source.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["Deep/note", "deep/Note.md", "NOTE", "note.md", "[[Note]]", "[[Note#x|y]]", "A.K.A.", "./deep/Note"]
)
async def test_a_note_is_found_by_path_name_or_alias(call: Call, vault: Path, name: str) -> None:
    put(vault, "deep/Note.md", "---\nalias: A.K.A.\n---\nIt is here")
    assert "It is here" in (await call("obsidian_read", note=name)).text


async def test_a_name_that_several_have_or_none_is_told(call: Call, vault: Path) -> None:
    put(vault, "a/Note.md")
    put(vault, "b/Note.md")
    with pytest.raises(ToolError, match=r"'a/Note\.md', 'b/Note\.md'"):
        await call("obsidian_read", note="note")
    with pytest.raises(ToolError, match=r"Did you mean '[ab]/Note\.md'"):
        await call("obsidian_read", note="Notes")


async def test_one_part_of_a_note_can_be_read(call: Call, vault: Path) -> None:
    put(vault, "n.md", "# A\none\n## B\ntwo\n```\n# no\n```\n# C\nthree\n")
    text = (await call("obsidian_read", note="n", heading="a")).text
    assert text.endswith("# A\none\n## B\ntwo\n```\n# no\n```")
    with pytest.raises(ToolError, match="It has A, B, C"):
        await call("obsidian_read", note="n", heading="no")


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe" + "Gr\u00fc\u00dfe".encode("utf-16-le"),
        "Gr\u00fc\u00dfe".encode("cp1252"),
        b"\xef\xbb\xbfGr\xc3\xbc\xc3\x9fe",
    ],
)
async def test_notes_in_other_encodings_are_read(call: Call, vault: Path, content: bytes) -> None:
    put(vault, "n.md").write_bytes(content)
    assert (await call("obsidian_read", note="n")).text.endswith("\n\nGrüße")


async def test_folders_are_listed_without_hidden_ones(call: Call, vault: Path) -> None:
    put(vault, "b.md", "12345")
    put(vault, "A/x.md")
    put(vault, ".obsidian/app.json")
    (vault / "etc").symlink_to("/etc")
    listed = await call("obsidian_list_folder")
    assert [line.split("  ")[0] for line in listed.text.splitlines()] == ["A/", "b.md", "etc (no plain file)"]
    assert (await call("obsidian_list_folder", folder="/")).text == listed.text
    assert (await call("obsidian_list_folder", folder="A")).summary == "A holds 1 entry"
    with pytest.raises(ToolError, match="no folder 'C'"):
        await call("obsidian_list_folder", folder="C")


OUTSIDE = [
    "../secret",
    "../secret.md",
    "linked",
    "linked.md",
    "out/secret",
    "/etc/passwd",
    "~/x",
    "deep/../../secret.md",
]


@pytest.mark.parametrize("name", [*OUTSIDE, ".obsidian/app", "node_modules/x", "dangling"])
async def test_nothing_outside_of_a_vault_is_read_or_changed(
    call: Call, vault: Path, tmp_path: Path, name: str
) -> None:
    secret = put(tmp_path, "secret.md", "do not read")
    put(vault, ".obsidian/app.md", "do not read")
    put(vault, "node_modules/x.md", "do not read")
    (vault / "deep").mkdir()
    (vault / "linked.md").symlink_to(secret)
    (vault / "out").symlink_to(tmp_path)
    (vault / "dangling.md").symlink_to(tmp_path / "new.md")
    before = tree(tmp_path)
    for tool, arguments in (
        ("obsidian_read", {"note": name}),
        ("obsidian_append_to_note", {"note": name, "content": "x"}),
        ("obsidian_create_note", {"title": name, "content": "x"}),
        ("obsidian_list_folder", {"folder": name}),
    ):
        with pytest.raises(ToolError) as caught:
            await call(tool, **arguments)
        assert "do not read" not in str(caught.value)
    assert tree(tmp_path) == before


async def test_links_within_a_vault_are_followed_when_named(call: Call, vault: Path) -> None:
    put(vault, "real/Note.md", "here it is")
    (vault / "Short.md").symlink_to("real/Note.md")
    assert "here it is" in (await call("obsidian_read", note="Short")).text


async def test_a_blocked_folder_beats_the_vault(call: Call, vault: Path, rules: Rules, tmp_path: Path) -> None:
    put(vault, "private/diary.md", "do not read")
    put(vault, "open.md", "read")
    rules.paths = type(rules.paths)(workspace=rules.paths.workspace, blocked=(vault / "private",))
    assert (await call("obsidian_search", query="read")).summary == "Found 1 note of 1"
    for tool, arguments in (
        ("obsidian_read", {"note": "private/diary"}),
        ("obsidian_create_note", {"title": "x", "content": "y", "folder": "private"}),
    ):
        with pytest.raises(ToolRefusedError, match="closed to tools"):
            await call(tool, **arguments)
    with pytest.raises(ToolError, match="no note 'diary'"):
        await call("obsidian_read", note="diary")
    rules.paths = type(rules.paths)(workspace=rules.paths.workspace, blocked=(tmp_path,))
    with pytest.raises(ToolRefusedError, match="closed to tools"):
        await call("obsidian_search", query="read")


async def test_a_vault_is_open_to_the_note_tools_alone(call: Call, vault: Path) -> None:
    note = put(vault, "n.md", "text")
    with pytest.raises(ToolRefusedError, match="outside the allowed folders"):
        await call("read_file", path=str(note))


async def test_a_new_note_is_written_and_none_replaced(call: Call, vault: Path) -> None:
    made = await call("obsidian_create_note", title="Trips/Lisbon", content="Flights\r\non the 3rd\n\n", folder="2031")
    path = vault / "2031" / "Trips" / "Lisbon.md"
    assert path.read_bytes() == b"Flights\non the 3rd\n"
    assert made.files == (str(path),)
    for title in ("Lisbon", "LISBON.md"):
        with pytest.raises(ToolError, match="exists already"):
            await call("obsidian_create_note", title=title, content="x", folder="2031/Trips")
    assert path.read_bytes() == b"Flights\non the 3rd\n"
    assert tree(vault).keys() == {"2031/Trips/Lisbon.md"}


async def test_daily_notes_take_the_date_and_tags_become_front_matter(call: Call, vault: Path) -> None:
    await call("obsidian_create_note", title="{date}", content="x", folder="Daily", tags=["#day", "log/work"])
    (name, content), *none = tree(vault).items()
    assert not none
    assert name.startswith("Daily/2031-02-2")
    assert content == b"---\ntags:\n  - day\n  - log/work\n---\n\nx\n"
    await call("obsidian_create_note", title="Own", content="---\nx: 1\n---\ny", tags=["day"])
    assert tree(vault)["Own.md"] == b"---\nx: 1\n---\ny\n\n#day\n"


async def test_the_format_of_the_settings_shapes_new_notes(call: Call, vault: Path, rules: Rules) -> None:
    rules.note_format = NoteFormat(
        folder="Inbox", template="# {title}\n\n{content}\n\n#{tag}", tag="skales", filename="{date} {title}"
    )
    await call("obsidian_create_note", title="Idea", content="Costs {date} and {title}")
    (name, content), *none = tree(vault).items()
    assert not none
    assert name.startswith("Inbox/2031-02-2")
    assert name.endswith(" Idea.md")
    assert content == b"# Idea\n\nCosts {date} and {title}\n\n#skales\n"


@pytest.mark.parametrize(
    "title",
    [
        "a:b",
        "a*b",
        "a?b",
        'a"b',
        "a<b",
        "a>b",
        "a|b",
        "a#b",
        "a^b",
        "a[b",
        "a]b",
        ".hidden",
        "CON",
        "nul.txt",
        "a\nb",
        "x" * 300,
        " ",
        "trailing.",
        "a\0b",
        "..",
    ],
)
async def test_names_that_obsidian_refuses_are_refused(call: Call, vault: Path, title: str) -> None:
    with pytest.raises(ToolError, match="cannot name a note"):
        await call("obsidian_create_note", title=title, content="x")
    with pytest.raises(ToolError, match="cannot name a note"):
        await call("obsidian_create_note", title="ok", content="x", folder=title if title.strip() else "a/..")
    assert tree(vault) == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"- one\n- two\n"),
        (b"text\n", b"text\n- one\n- two\n"),
        (b"text", b"text\n- one\n- two"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n- one\r\n- two\r\n"),
        (b"a\rb\r", b"a\rb\r- one\r- two\r"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\n- one\n- two\n"),
        ("é\r\n".encode("cp1252") * 3, "é\r\n".encode("cp1252") * 3 + b"- one\r\n- two\r\n"),
        (b"\xff\xfe" + "a\n".encode("utf-16-le"), b"\xff\xfe" + "a\n- one\n- two\n".encode("utf-16-le")),
        (b"a\r\nb\nc\r\n", b"a\r\nb\nc\r\n- one\r\n- two\r\n"),
        (b"\xffodd\n", b"\xffodd\n- one\n- two\n"),
    ],
)
async def test_what_is_appended_keeps_line_ends_encoding_and_mark(
    call: Call, vault: Path, before: bytes, after: bytes
) -> None:
    note = put(vault, "n.md")
    note.write_bytes(before)
    await call("obsidian_append_to_note", note="n", content="- one\n- two\n")
    assert note.read_bytes() == after


@pytest.mark.parametrize(
    ("heading", "line"),
    [("Tasks", 8), ("## tasks", 8), ("Plans#May", 13), ("Last", 16), ("plans", 13)],
)
async def test_text_goes_under_a_heading_before_the_blank_lines_that_end_it(
    call: Call, vault: Path, heading: str, line: int
) -> None:
    front = ["---", "x: 1", "---"]
    lines = [*front, "## Tasks", "- a", "```", "# no", "```", "", "# Plans", "## May", "b", "c", "", "# Last", "d", ""]
    note = put(vault, "n.md", "\r\n".join(lines))
    expected = [*lines[:line], "- new", *lines[line:]]
    await call("obsidian_append_to_note", note="n", content="- new", heading=heading)
    assert note.read_bytes().decode().split("\r\n") == expected


async def test_a_heading_that_is_missing_or_twice_there_changes_nothing(call: Call, vault: Path) -> None:
    note = put(vault, "n.md", "# A\n## Same\n# B\n## Same\n")
    before = note.read_bytes()
    with pytest.raises(ToolError, match=r"lines 2, 4"):
        await call("obsidian_append_to_note", note="n", content="x", heading="same")
    with pytest.raises(ToolError, match="It has A, Same, B, Same"):
        await call("obsidian_append_to_note", note="n", content="x", heading="C")
    assert note.read_bytes() == before
    await call("obsidian_append_to_note", note="n", content="x", heading="B#Same")
    assert note.read_bytes() == b"# A\n## Same\n# B\n## Same\nx\n"


async def test_what_an_encoding_cannot_hold_or_is_too_much_changes_nothing(call: Call, vault: Path) -> None:
    note = put(vault, "n.md")
    note.write_bytes("é è à\n".encode("cp1252") * 5)
    before = note.read_bytes()
    for content in ("漢字", " \n", "x" * 2_200_000):
        with pytest.raises(ToolError):
            await call("obsidian_append_to_note", note="n", content=content)
    with pytest.raises(ToolError, match="larger than"):
        await call("obsidian_create_note", title="big", content="x" * 2_200_000)
    assert tree(vault) == {"n.md": before}


async def test_odd_names_on_the_disk_do_no_harm(call: Call, vault: Path) -> None:
    put(vault, "two\nlines.md", "word")
    (vault / os.fsdecode(b"bad\xff.md")).write_bytes(b"word")
    found = await call("obsidian_search", query="word")
    assert found.summary == "Found 1 note of 1"
    assert "- two ⏎ lines.md (Personal), line 1: word" in found.text
    assert "lines.md" in (await call("obsidian_list_folder")).text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("obsidian_search", {"query": "w " * 5_000_000}),
        ("obsidian_read", {"note": "n" * 10_000_000}),
        ("obsidian_list_folder", {"folder": "f/" * 5_000_000}),
        ("obsidian_create_note", {"title": "t" * 10_000_000, "content": "x"}),
        ("obsidian_append_to_note", {"note": "a\0b", "content": "x"}),
        ("obsidian_create_note", {"title": "ok", "content": "x", "tags": ["two words"]}),
        ("obsidian_read", {"note": " "}),
    ],
)
async def test_arguments_out_of_all_measure_are_refused(
    call: Call, vault: Path, tool: str, arguments: dict[str, JsonValue]
) -> None:
    with pytest.raises(ToolError) as caught:
        await call(tool, **arguments)
    assert len(str(caught.value)) < 1_000
    assert tree(vault) == {}
