"""SKILL.md as people write it is read; a new one is checked and composed so that it reads back the same."""

import json
from pathlib import Path

import pytest

from skales.core.errors import InputError
from skales.data.agent_skills import AgentSkillStore
from skales.data.frontmatter import FrontMatterError
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.skill_text import Skill, compose_skill, parse_skill, validate_skill
from tests.conftest import CASES, FixedClock

WRITTEN = json.loads((CASES / "skills" / "SKL-01.expected.json").read_text(encoding="utf-8"))
BYTES = json.loads((CASES / "skills" / "SKL-02.expected.json").read_text(encoding="utf-8"))
FOLDERS = sorted(path.name for path in (CASES / "skills" / "SKL-01").iterdir())


def read(path: Path) -> str:
    return path.read_bytes().decode()


@pytest.mark.parametrize("folder", FOLDERS)
def test_front_matter_as_people_write_it_is_read(folder: str) -> None:
    skill = parse_skill(folder, read(CASES / "skills" / "SKL-01" / folder / "SKILL.md"))
    expected = WRITTEN[folder]
    for key in ("name", "description", "license", "category", "body"):
        if key in expected:
            assert getattr(skill, key) == expected[key], key
    assert skill.body.startswith(expected.get("body_starts", ""))
    assert skill.description.startswith(expected.get("description_starts", ""))
    assert len(skill.manifest_line) <= len(skill.name) + 2 + 160
    assert "\n" not in skill.manifest_line


def test_every_skill_of_the_case_is_listed(home: DataDirectory, clock: FixedClock) -> None:
    for folder in FOLDERS:
        (home.agent_skills / folder).mkdir(parents=True)
        source = CASES / "skills" / "SKL-01" / folder / "SKILL.md"
        (home.agent_skills / folder / "SKILL.md").write_bytes(source.read_bytes())
    shelf = AgentSkillStore(home, Quarantine(home.quarantine, clock)).list()
    assert (len(shelf.skills), shelf.broken) == (WRITTEN["all_listed"], ())


@pytest.mark.parametrize("name", ["window-notes", "tail-end", "old-mac"])
def test_marks_and_line_ends_never_reach_the_text(name: str) -> None:
    skill = parse_skill("folder", read(CASES / "skills" / "SKL-02" / f"{name}.SKILL.md"))
    expected = BYTES[name]
    assert (skill.name, skill.description, skill.body) == (expected["name"], expected["description"], expected["body"])
    assert not {"\ufeff", "\r"} & set(skill.name + skill.description + skill.body)


def test_a_skill_without_a_text_is_listed_and_not_imported() -> None:
    text = read(CASES / "skills" / "SKL-02" / "tail-end.SKILL.md")
    assert parse_skill("tail-end", text).body == ""
    with pytest.raises(InputError, match="no text"):
        validate_skill(text)


@pytest.mark.parametrize(
    ("front", "description"),
    [
        ("description: Ratio 3:4: wide", "Ratio 3:4: wide"),
        ("description: see https://x.example: there", "see https://x.example: there"),
        ("description: first: part\n  and second", "first: part and second"),
        ("description: *bold* words: here", "*bold* words: here"),
        ("description: @mentions and `code`", "@mentions and `code`"),
        ("description: no", "no"),
        ("description: 2031-05-17", "2031-05-17"),
        ("description: >\n  folded: text\n  goes on", "folded: text goes on"),
        ("description: a: b # a comment", "a: b"),
        ("description:\t tab: after", "tab: after"),
        ("other: [1, 2]\ndescription: x: y", "x: y"),
        ("metadata:\n  category: a: b\ndescription: x", "x"),
        ("tags:\n- one: two: three\n- four\ndescription: d", None),
        ("description: 'never closed", None),
        ('description: "never closed: x', None),
        ("description: [open", None),
        ("just words", None),
        ("description: fine\njust words: no\n: empty", None),
        ("- a\n- b", None),
    ],
)
def test_plain_text_is_recovered_and_broken_yaml_is_named(front: str, description: str | None) -> None:
    text = f"---\n{front}\n---\nBody"
    if description is None:
        with pytest.raises(FrontMatterError) as caught:
            parse_skill("folder", text)
        assert caught.value.line >= 2
    else:
        assert parse_skill("folder", text).description == description


@pytest.mark.parametrize(
    "text", ["", "Just text", "--- \n", "---\nname: x\nBody", " ---\nname: x\n---\n", "----\nx\n----"]
)
def test_a_file_without_front_matter_is_broken(text: str) -> None:
    with pytest.raises(FrontMatterError):
        parse_skill("folder", text)


def test_the_broken_line_is_counted_from_the_top_of_the_file() -> None:
    with pytest.raises(FrontMatterError) as caught:
        parse_skill("folder", "---\nname: x\n\nmetadata:\n  category: 'open\n---\n")
    assert caught.value.line == 5


@pytest.mark.parametrize(
    ("front", "is_user_invoked"),
    [
        ("disable-model-invocation: true", True),
        ("disable-model-invocation: True", True),
        ("disable-model-invocation: false", False),
        ("metadata:\n  invocation: user", True),
        ("metadata:\n  invocation: model", False),
        ("metadata: user", False),
    ],
)
def test_who_may_call_for_a_skill(front: str, is_user_invoked: bool) -> None:
    assert parse_skill("x", f"---\n{front}\n---\n").is_user_invoked is is_user_invoked


def test_yaml_makes_no_objects_and_no_bomb() -> None:
    skill = parse_skill("x", "---\ndescription: !!python/object/apply:os.system ['true']\n---\n")
    assert skill.description == ""
    bomb = "\n".join(
        [
            "a: &a [x]",
            *(f"{key}: &{key} [*{old}, *{old}]" for old, key in zip("abcdefghijkl", "bcdefghijklm", strict=True)),
        ]
    )
    assert parse_skill("x", f"---\n{bomb}\ndescription: d\n---\n").description == "d"
    with pytest.raises(FrontMatterError):
        parse_skill("x", f"---\nkey: {'[' * 15_000}\n---\n")
    for deep in ("[" * 4_000, "- " * 2_000, "? " * 2_000, "{a: " * 1_000):
        with pytest.raises(FrontMatterError):
            parse_skill("x", f"---\nkey:\n  {deep}\n---\n")
    with pytest.raises(FrontMatterError, match="longer than"):
        parse_skill("x", f"---\nkey: {'x' * 17_000}\n---\n")


@pytest.mark.parametrize(
    "description",
    [
        "Plain words",
        "With: a colon",
        'Say "hi" # no comment',
        "'quoted'",
        "[draft]",
        "- dash",
        "no",
        "ends with:",
        "ünïcode – ok",
    ],
)
def test_a_composed_skill_reads_back_the_same(description: str) -> None:
    text = compose_skill("my-skill", description, "\n\n# Do\n\n---\n\nit\n")
    assert parse_skill("", text) == Skill(folder="", name="my-skill", description=description, body="# Do\n\n---\n\nit")


@pytest.mark.parametrize(
    ("name", "description", "body", "words"),
    [
        ("two words", "d", "b", "cannot name"),
        ("../up", "d", "b", "cannot name"),
        (".hidden", "d", "b", "cannot name"),
        ("x" * 65, "d", "b", "cannot name"),
        ("ünï", "d", "b", "cannot name"),
        ("ok", " \n", "b", "no description"),
        ("ok", "d", " \n ", "no text"),
        ("ok", "d", "x" * 49_152, "larger than 48 KB"),
        ("ok", "d", "---\nname: other\n---\nb", "front matter of its own"),
    ],
)
def test_a_skill_that_cannot_be_is_refused(name: str, description: str, body: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        compose_skill(name, description, body)
