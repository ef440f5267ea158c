"""Documents of a history on their way to a model that takes them as they are, and what is said where they cannot."""

import base64
from collections.abc import Sequence
from dataclasses import replace

import pytest

from skales.agent.documents import DocumentShelf, count_pages
from skales.agent.tokens import count_message
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart
from skales.core.ports import DocumentLimits
from skales.data.paths import DataDirectory

PDF = "application/pdf"
LIMITS = DocumentLimits(frozenset({PDF}), max_bytes=1_000, max_pages=10)
BYTES = b"%PDF-1.7 all of it"


def keep(home: DataDirectory, name: str = "1-report.pdf", pages: int = 2, content: bytes = BYTES) -> FilePart:
    folder = home.attachments / "session_1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return FilePart(name, PDF, len(content), f"--- page 1 of {pages} ---\nAll is well\n", str(folder / name))


def said(*parts: FilePart | ImagePart) -> Message:
    return Message(role=Role.USER, content=(*parts, TextPart("Sum it up")))


def sent(home: DataDirectory, *history: Message, limits: DocumentLimits | None = LIMITS) -> Sequence[FilePart]:
    filled = DocumentShelf(home).fill(history, limits)
    return [part for message in filled for part in message.content if isinstance(part, FilePart)]


def test_a_document_goes_with_its_bytes_and_its_text_stays_at_hand(home: DataDirectory) -> None:
    part = keep(home)
    assert sent(home, said(part)) == [replace(part, data_base64=base64.b64encode(BYTES).decode())]


def test_a_model_that_takes_none_gets_the_same_history(home: DataDirectory) -> None:
    history = [said(keep(home))]
    assert DocumentShelf(home).fill(history, None) is history
    assert DocumentShelf(home).fill(history, DocumentLimits(frozenset({"text/csv"}))) is history


@pytest.mark.parametrize(
    "changed",
    [
        {"media_type": "text/plain"},
        {"path": ""},
        {"text": "[It is a PDF document with a password. The file lies at /x; tools may open it there.]"},
    ],
    ids=["another kind", "kept nowhere", "locked"],
)
def test_what_is_no_document_that_a_vendor_can_open_stays_text(home: DataDirectory, changed: dict[str, str]) -> None:
    part = replace(keep(home), **changed)  # type: ignore[arg-type]
    assert sent(home, said(part)) == [part]


def test_a_scan_without_text_is_what_documents_are_for(home: DataDirectory) -> None:
    scan = replace(keep(home), text="[None of its 4 pages holds text; they are probably scanned pictures. …]")
    assert count_pages(scan) == 4
    assert sent(home, said(scan))[0].data_base64


def test_a_document_that_is_gone_goes_as_its_text_which_says_so(home: DataDirectory) -> None:
    part = keep(home)
    (home.attachments / "session_1" / part.name).unlink()
    (told,) = sent(home, said(part))
    assert told.data_base64 == ""
    assert told.text == f"[The document itself is not here any more; this is its text.]\n{part.text}"


@pytest.mark.parametrize("place", ["outside", "linked", "/dev/zero", "a\0b"])
def test_a_session_from_elsewhere_gets_no_other_file_sent(home: DataDirectory, place: str) -> None:
    part = keep(home)
    (home.root / "secret").write_bytes(b"secret")
    link = home.attachments / "session_1" / "link.pdf"
    link.symlink_to(home.root / "secret")
    paths = {"outside": str(home.attachments / ".." / "secret"), "linked": str(link)}
    (told,) = sent(home, said(replace(part, path=paths.get(place, place))))
    assert (told.data_base64, "not here any more" in told.text) == ("", True)


def test_the_oldest_that_fit_are_sent_so_that_the_beginning_stays_as_it_was(home: DataDirectory) -> None:
    first, second, third = (keep(home, f"{number}-x.pdf", pages=4) for number in (1, 2, 3))
    before = sent(home, said(first), said(second))
    after = sent(home, said(first), said(second), said(third))
    assert after[:2] == before
    assert [bool(part.data_base64) for part in after] == [True, True, False]
    assert "does not fit into this request" in after[2].text


def test_size_counts_as_it_is_sent_and_pictures_take_room_too(home: DataDirectory) -> None:
    half = keep(home, "1-a.pdf", content=BYTES + b"x" * 340)
    other = keep(home, "2-b.pdf", content=BYTES + b"y" * 340)
    picture = ImagePart("image/png", "A" * 600)
    assert [bool(part.data_base64) for part in sent(home, said(half, other))] == [True, True]
    assert [bool(part.data_base64) for part in sent(home, said(picture, half), said(other))] == [False, False]


def test_a_file_that_was_replaced_is_read_anew(home: DataDirectory) -> None:
    shelf = DocumentShelf(home)
    part = keep(home)
    shelf.fill([said(part)], LIMITS)
    changed = keep(home, content=b"%PDF-1.7 something else")
    (message,) = shelf.fill([said(part)], LIMITS)
    assert message == said(replace(part, data_base64=base64.b64encode(b"%PDF-1.7 something else").decode()))
    assert changed.path == part.path


def test_pages_count_as_pictures_for_a_model_that_gets_them(home: DataDirectory) -> None:
    part = keep(home, pages=8)
    as_text = count_message(said(part))
    assert count_message(said(part), kinds=LIMITS.kinds) > as_text + 5_000
    assert count_message(said(replace(part, data_base64="AAAA"))) > as_text + 5_000
