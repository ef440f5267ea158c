"""Compiled templates are kept beside their sources, and are never those of another source or other options."""

import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from skales.server.ui.compiled import CompiledTemplates


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def render(folder: Path, *, trim_blocks: bool = False) -> str:
    """As a new process would."""
    made = Environment(
        loader=FileSystemLoader(folder), bytecode_cache=CompiledTemplates(), autoescape=True, trim_blocks=trim_blocks
    )
    return made.get_template("page.html").render(name="<Ada>")


def write(folder: Path, text: str) -> Path:
    (folder / "page.html").write_text(text, encoding="utf-8")
    return Path(cache_from_source(str(folder / "page.html")))


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    compiled = write(tmp_path, "Hello {{ name }}")
    assert render(tmp_path) == "Hello &lt;Ada&gt;"
    made = compiled.stat()
    assert render(tmp_path) == "Hello &lt;Ada&gt;"
    assert (compiled.stat().st_ino, compiled.stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)
    assert [path.name for path in compiled.parent.iterdir()] == [compiled.name]


def test_a_changed_template_is_compiled_anew(tmp_path: Path) -> None:
    write(tmp_path, "Hello {{ name }}")
    render(tmp_path)
    write(tmp_path, "Goodbye {{ name }}")
    assert render(tmp_path) == "Goodbye &lt;Ada&gt;"


def test_other_options_compile_anew(tmp_path: Path) -> None:
    write(tmp_path, "{% if name %}\nHello{% endif %}")
    assert render(tmp_path) == "\nHello"
    assert render(tmp_path, trim_blocks=True) == "Hello"


@pytest.mark.parametrize("rest", [0, 20, 40])
def test_a_file_that_was_cut_is_compiled_anew(tmp_path: Path, rest: int) -> None:
    compiled = write(tmp_path, "Hello {{ name }}")
    render(tmp_path)
    whole = compiled.read_bytes()
    compiled.write_bytes(whole[:rest])
    assert render(tmp_path) == "Hello &lt;Ada&gt;"
    assert len(compiled.read_bytes()) > rest


def test_nothing_is_written_when_python_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compiled = write(tmp_path, "Hello {{ name }}")
    assert render(tmp_path) == "Hello &lt;Ada&gt;"
    assert not compiled.parent.exists()


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    compiled = write(tmp_path, "Hello {{ name }}")
    compiled.parent.write_text("a file where the folder would be", encoding="utf-8")
    assert render(tmp_path) == "Hello &lt;Ada&gt;"
