"""Output of programs is shown as a screen would show it, as plain text."""

import locale

import pytest

from skales.tools.system.output import cut_to_lines, render_output


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain\ntext\n", "plain\ntext"),
        (b"\n\n indented\n\n", " indented"),
        (b"\x1b[31mred\x1b[0m \x1b[1;38;5;12mbold\x1b[m", "red bold"),
        (b"\x1b[2K\x1b[1A\x1b[?25lx\x1b[?25h", "x"),
        (b"\x1b]0;title\x07a\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\", "alink"),
        (b"\x1b]0;never ended\nnext", "next"),
        (b"\x1bPq#0;2\x1b\\a\x1b_x\x1b\\b\x1b^y\x1b\\", "ab"),
        (b"\x1b(Ba\x1b7b\x1b=c\x1bMd", "abcd"),
        ("\x9b31mred".encode(), "red"),
        (b"a\x1b", "a"),
        (b"one\r\ntwo\r\n", "one\ntwo"),
        (b"10%\r50%\r100%\ndone", "100%\ndone"),
        (b"longer line\rshort", "shortr line"),
        (b"ab\bc\b\b\bxy", "xy"),
        (b"bell\x07 null\x00 del\x7f", "bell null del"),
        (b"tab\there", "tab\there"),
        ("ünï€ 漢\u200b\U000e0041".encode(), "ünï€ 漢"),
        (b"broken \xff\xc3", "broken ��"),
        (b"", ""),
    ],
)
def test_output_is_shown_as_on_a_screen(raw: bytes, text: str) -> None:
    assert render_output(raw) == text


def test_output_that_is_no_utf8_is_read_in_the_encoding_of_the_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locale, "getencoding", lambda: "cp1252")
    assert render_output("fünf €".encode("cp1252")) == "fünf €"
    assert render_output("fünf €".encode()) == "fünf €"


@pytest.mark.parametrize(
    ("head", "tail", "cut"),
    [
        (b"a\nbro", b"ken\nz\n", (b"a\n", b"z\n")),
        (b"no lines", b"at all", (b"no lines", b"at all")),
        (b"", b"", (b"", b"")),
    ],
)
def test_cut_goes_between_lines(head: bytes, tail: bytes, cut: tuple[bytes, bytes]) -> None:
    assert cut_to_lines(head, tail) == cut
