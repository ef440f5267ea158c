"""Ordinary text stays as it is: at most one paragraph in a thousand of a corpus changes."""

from pathlib import Path

import pytest

from skales.security.redact import conceal, redact
from tests.conftest import CASES

CORPUS = sorted((CASES / "redaction" / "corpus").glob("*.txt"))


def read_paragraphs() -> list[str]:
    return [part for file in CORPUS for part in file.read_text(encoding="utf-8").split("\n\n")[1:]]


def test_the_corpus_is_large_enough_to_tell() -> None:
    assert len(read_paragraphs()) >= 3_000


def test_at_most_one_ordinary_paragraph_in_a_thousand_is_changed() -> None:
    paragraphs = read_paragraphs()
    changed = [part for part in paragraphs if redact(part) != part]
    assert len(changed) <= len(paragraphs) / 1_000, "\n---\n".join(changed[:40])


@pytest.mark.parametrize("file", CORPUS, ids=[file.stem for file in CORPUS])
def test_a_text_of_many_paragraphs_is_no_worse_than_its_parts(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(conceal(text)[1]) <= max(1, text.count("\n\n") / 1_000)
