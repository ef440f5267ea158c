"""`skales tools run`: how what a person types becomes a tool's arguments."""

import pytest

from skales.cli.commands.tools import parse_words
from skales.cli.main import main
from skales.data.paths import DataDirectory


@pytest.mark.parametrize(
    ("words", "texts", "arguments"),
    [
        pytest.param(["--rows", "[1, 2]"], (), {"rows": [1, 2]}, id="an array is JSON"),
        pytest.param(["--content", '{"a":  1}'], ("content",), {"content": '{"a":  1}'}, id="a text stays as typed"),
        pytest.param(["--a-b=1", "--a-b=2", "--flag"], (), {"a_b": ["1", "2"], "flag": "true"}, id="repeated and bare"),
    ],
)
def test_words_become_arguments(words: list[str], texts: tuple[str, ...], arguments: dict[str, object]) -> None:
    assert parse_words(words, texts) == arguments


def test_a_file_of_json_is_written_as_typed(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    assert main(["tools", "run", "write_file", "--path", "a.json", "--content", '{"a":  [1]}']) == 0
    assert (home.workspace / "a.json").read_text(encoding="utf-8") == '{"a":  [1]}'
