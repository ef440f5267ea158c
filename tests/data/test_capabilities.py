import json

import pytest

from skales.core.errors import InputError
from skales.core.tool import Safety, ToolSpec
from skales.data.capabilities import Capabilities, CapabilityNote
from skales.data.paths import DataDirectory

SPECS = [
    ToolSpec(
        name=name, description=f"Use {name} – ü", parameters={"type": "object"}, category=category, safety=Safety.AUTO
    )
    for name, category in (("read_file", "filesystem"), ("notion_search", "cloud"))
]


def is_enabled(name: str) -> bool:
    return name == "read_file"


@pytest.fixture
def capabilities(home: DataDirectory) -> Capabilities:
    return Capabilities(home)


def test_the_tools_are_described_in_the_order_given(capabilities: Capabilities, home: DataDirectory) -> None:
    assert capabilities.write(SPECS, is_enabled) is True
    assert json.loads(home.capabilities.read_text(encoding="utf-8")) == [
        {"name": "read_file", "description": "Use read_file – ü", "category": "filesystem", "enabled": True},
        {"name": "notion_search", "description": "Use notion_search – ü", "category": "cloud", "enabled": False},
    ]
    assert capabilities.count() == 2


def test_the_file_is_written_only_when_it_would_change(capabilities: Capabilities, home: DataDirectory) -> None:
    capabilities.write(SPECS, is_enabled)
    reformatted = json.dumps(json.loads(home.capabilities.read_text(encoding="utf-8"))).encode()
    home.capabilities.write_bytes(reformatted)
    assert capabilities.write(SPECS, is_enabled) is False
    assert home.capabilities.read_bytes() == reformatted
    assert capabilities.write(SPECS[:1], is_enabled) is True
    assert capabilities.count() == 1


@pytest.mark.parametrize("damage", [b"", b"[{", b"\xff\xfe", b'{"tools": []}', b'"text"', b"7"])
def test_a_broken_file_counts_as_nothing_and_is_written_anew(
    capabilities: Capabilities, home: DataDirectory, damage: bytes
) -> None:
    home.capabilities.write_bytes(damage)
    assert capabilities.count() == 0
    assert capabilities.write(SPECS, is_enabled) is True
    assert capabilities.count() == 2


def test_without_a_file_there_is_nothing(capabilities: Capabilities) -> None:
    assert capabilities.count() == 0


def test_a_byte_order_mark_does_not_matter(capabilities: Capabilities, home: DataDirectory) -> None:
    home.capabilities.write_text('[{"name": "a"}]', encoding="utf-8-sig")
    assert capabilities.count() == 1


def test_notes_outlive_the_list_of_tools(capabilities: Capabilities) -> None:
    noted = CapabilityNote("mail", "limit", "30", "since May")
    assert capabilities.note(noted) is False
    assert capabilities.write(SPECS, is_enabled) is True
    assert capabilities.notes() == [noted]
    assert capabilities.write(SPECS, is_enabled) is False
    assert capabilities.note(CapabilityNote("mail", "limit", "40")) is True
    assert capabilities.notes() == [CapabilityNote("mail", "limit", "40")]
    assert capabilities.count() == 3


def test_there_are_only_so_many_notes(capabilities: Capabilities, home: DataDirectory) -> None:
    notes = [{"name": f"s.{number}", "section": "s", "key": str(number), "value": "v"} for number in range(200)]
    home.capabilities.write_text(json.dumps(notes), encoding="utf-8")
    with pytest.raises(InputError, match="200 notes"):
        capabilities.note(CapabilityNote("s", "one more", "v"))
    assert capabilities.note(CapabilityNote("s", "7", "w")) is True
