"""What everyday words hint at: as words, inside longer ones, and as turns of phrase."""

import tomllib
from pathlib import Path

import pytest

import skales.tools
from skales.tools.everyday import hints_of
from skales.tools.index import load_index


@pytest.mark.parametrize(
    ("request_text", "hinted"),
    [
        pytest.param("where is my invoice", "file", id="word"),
        pytest.param("die stromrechnung", "datei", id="end of a compound"),
        pytest.param("every other day", "recurring", id="turn of phrase"),
        pytest.param("leg es in den ordner", "move_file", id="turn of phrase that names a tool"),
    ],
)
def test_a_request_hints_at_words_of_tools(request_text: str, hinted: str) -> None:
    assert hinted in " ".join(hints_of(request_text)).split()


def test_words_that_are_part_of_nothing_hint_at_nothing() -> None:
    assert hints_of("xyzzy plugh") == []


def test_a_long_word_takes_no_time() -> None:
    assert hints_of("a" * 4000) == []


def test_every_tool_that_is_hinted_at_exists() -> None:
    path = Path(skales.tools.__file__).with_name("everyday.toml")
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    hinted = {word for table in (*tables["words"], *tables["phrases"]) for word in table["hints"].split()}
    assert {word for word in hinted if "_" in word} <= {entry.spec.name for entry in load_index()}
