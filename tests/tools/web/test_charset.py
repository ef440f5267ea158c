"""Fetched bytes become the characters a browser would show."""

import json
from collections.abc import Mapping

import pytest

from skales.tools.web.charset import decode_body, encoding_name
from tests.conftest import CASES

FOLDER = CASES / "web"
FILES = {
    "a": "WEB-01a-latin1-label.html",
    "b": "WEB-01b-no-label.html",
    "c": "WEB-01c-bom.html",
    "d": "WEB-01d-shift-jis.html",
}


def expected() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = json.loads((FOLDER / "WEB-01.expected.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", FILES)
def test_page_of_the_case_is_read_as_a_browser_reads_it(name: str) -> None:
    wanted = expected()[name]
    text = decode_body((FOLDER / FILES[name]).read_bytes(), wanted["http_content_type"]).text
    assert wanted["text_contains"] in text
    assert f"<title>{wanted.get('title', '')}" in text or "title" not in wanted


def test_header_that_agrees_with_the_page_changes_nothing() -> None:
    body = (FOLDER / FILES["a"]).read_bytes()
    header = expected()["a_with_header"]["http_content_type"]
    assert decode_body(body, header).text == decode_body(body, "text/html").text


UMLAUT = "Zwölf Knödel für 5 €"


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        # The order: mark, header, label in the page, UTF-8, guess.
        (b"\xef\xbb\xbf<meta charset=koi8-r>" + UMLAUT.encode(), "text/html; charset=latin1", "utf-8"),
        (b"\xfe\xff" + UMLAUT.encode("utf-16-be"), "text/html; charset=utf-8", "utf-16be"),
        (b"<meta charset=koi8-r>" + UMLAUT.encode(), "text/html; charset=UTF-8", "utf-8"),
        (b"<meta charset=utf-8>" + UMLAUT.encode("cp1252"), 'text/html;charset="ISO-8859-1"', "windows-1252"),
        (b"<meta charset=latin1>" + UMLAUT.encode("cp1252"), "text/html; charset=x-nonsense", "windows-1252"),
        (b"<meta charset=x-nonsense>" + UMLAUT.encode(), "text/html; charset=", "utf-8"),
        (UMLAUT.encode("cp1252"), "", "windows-1252"),
        (UMLAUT.encode(), "text/plain", "utf-8"),
        # What labels mean.
        (UMLAUT.encode("cp1252"), "text/html; charset=us-ascii", "windows-1252"),
        (UMLAUT.encode("cp1252"), "text/html; charset= Latin1 ", "windows-1252"),
        (UMLAUT.encode("utf-16-le"), "text/html; charset=utf-16", "utf-16le"),
        (b"<meta charset=utf-16>" + UMLAUT.encode(), "text/html", "utf-8"),
        (b"<meta charset=x-user-defined>" + UMLAUT.encode("cp1252"), "text/html", "windows-1252"),
        # Where a page may say it.
        (b"<META CHARSET='windows-1252'/>" + UMLAUT.encode("cp1252"), "", "windows-1252"),
        (
            b"<meta content='text/html;charset=iso-8859-1' http-equiv=content-type>" + UMLAUT.encode("cp1252"),
            "",
            "windows-1252",
        ),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset = &quot;">' + UMLAUT.encode(),
            "",
            "utf-8",
        ),
        (b"<?xml version='1.0' encoding='windows-1252'?><a>" + UMLAUT.encode("cp1252"), "text/xml", "windows-1252"),
        (b'<?xml version="1.0" encoding="utf-16"?><a>' + UMLAUT.encode(), "text/xml", "utf-8"),
        # Where it does not say it.
        (b"<!-- <meta charset=koi8-r> -->" + UMLAUT.encode(), "", "utf-8"),
        (b"<!--><meta charset=windows-1252>" + UMLAUT.encode("cp1252"), "", "windows-1252"),
        (b"<a title='<meta charset=koi8-r>'>" + UMLAUT.encode(), "", "utf-8"),
        (b"<metadata charset=koi8-r>" + UMLAUT.encode(), "", "utf-8"),
        (b"<!doctype <meta charset=koi8-r>" + UMLAUT.encode(), "", "utf-8"),
        (b"<meta name=x content='charset=koi8-r'>" + UMLAUT.encode(), "", "utf-8"),
        (b"<" * 30 + b"<meta charset=windows-1252>" + UMLAUT.encode("cp1252"), "", "windows-1252"),
        (b"<p>" * 400 + b"<meta charset=koi8-r>" + UMLAUT.encode(), "", "utf-8"),
        (b"<meta charset='koi8-r" + UMLAUT.encode(), "", "utf-8"),
    ],
)
def test_encoding_is_found_in_the_order_of_the_standard(body: bytes, content_type: str, encoding: str) -> None:
    decoded = decode_body(body, content_type)
    assert (decoded.encoding, decoded.text[-len(UMLAUT) :]) == (encoding, UMLAUT)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("utf8", "utf-8"),
        ("ISO-8859-1", "windows-1252"),
        ("ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("gb2312", "gbk"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("tis-620", "windows-874"),
        ("big5-hkscs", "big5"),
        ("unicode", "utf-16le"),
        ("\tUTF-8\n", "utf-8"),
        ("utf-7", ""),
        ("ünïcode", ""),
        ("", ""),
    ],
)
def test_label_means_what_browsers_make_of_it(label: str, name: str) -> None:
    assert encoding_name(label) == name


@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("gb2312", "镕".encode("gb18030"), "镕"),
        ("gbk", b"\x81\x30\x81\x30", "\x80"),
        ("shift_jis", b"\x87\x40\x81\x60", "①～"),
        ("euc-jp", b"\xad\xa1\xa1\xc1 \xa4\xa2\xa5\xab\xb4\xc1", "①～ あカ漢"),
        ("euc-jp", b"\x8e\xb6\x8f\xb0\xa1a", "ｶ丂a"),
        ("euc-jp", b"\xa4\xa2\xa4", "あ�"),
        ("euc-jp", b"a\x8e", "a�"),
        ("iso-2022-jp", b'a\x1b$B!A-!$"\x1b(Bb\x1b(J~\x1b(I6\x1b(B.', "a～①あb~ｶ."),
        ("iso-2022-jp", b'\x1b$B$"$\nplain \x80', "あ�\nplain �"),
        ("iso-2022-jp", b"\x1b$B\x01\x02x\x1b(B", "��"),
        ("big5", b"\xa4\xa4", "中"),
        ("ks_c_5601-1987", b"\x81\x41", "갂"),
        ("euc-jp", b"\xa9\xa1", "�"),
        ("iso-2022-kr", b"abc", "�"),
        ("iso-2022-kr", b"", ""),
        ("windows-1252", b"\x80\x99", "€™"),
        ("utf-8", b"a\xff\xc3\xa4", "a�ä"),
    ],
)
def test_encoding_is_read_with_the_letters_browsers_know(label: str, body: bytes, text: str) -> None:
    assert decode_body(body, f"text/html; charset={label}").text == text


def test_row_and_cell_of_every_japanese_letter_are_the_same_in_both_encodings() -> None:
    letters = [chr(code) for code in range(0x30A1, 0x30F7)]
    assert decode_body("".join(letters).encode("euc_jp"), "text/html; charset=euc-jp").text == "".join(letters)
    kanji = "亜腕弌熙堯槇遙瑤"
    assert decode_body(kanji.encode("euc_jp"), "text/html; charset=euc-jp").text == kanji


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Fußgänger dürfen hier über die Straße gehen, wenn es grün ist.", "windows-1252"),
        ("naïve", "windows-1252"),
        ("“It’s” – €5", "windows-1252"),
        ("El niño comió piña; ¿verdad?", "windows-1252"),
        ("Жук ползёт по листу. Сегодня хорошая погода.", "windows-1251"),
        ("Жук ползёт по листу. Сегодня хорошая погода.", "koi8-r"),
        ("Το γρήγορο καφέ αλεπού πηδά πάνω από τον σκύλο", "windows-1253"),
        ("コーヒーを二つください。今日はいい天気です。", "shift_jis"),
        ("コーヒーを二つください。今日はいい天気です。", "euc-jp"),
        ("今天天气很好，我们去公园散步吧。", "gb18030"),
        ("今天天氣很好，我們去公園散步吧。", "big5"),
        ("오늘은 날씨가 좋습니다. 공원에 갑시다.", "euc-kr"),
    ],
)
def test_unlabelled_page_is_guessed(text: str, encoding: str) -> None:
    page = b"<html><head><script>if (a < b) run()</script></head><body><p>" + text.encode(
        {"windows-1252": "cp1252", "euc-kr": "cp949", "shift_jis": "cp932"}.get(encoding, encoding)
    )
    decoded = decode_body(page, "text/html")
    assert (decoded.encoding, decoded.text[-len(text) :]) == (encoding, text)


@pytest.mark.parametrize("piece", [b"<script>", b"<", b"<!-- ", b"<style>a</style>"])
def test_unlabelled_markup_without_end_is_guessed_in_linear_time(piece: bytes) -> None:
    assert decode_body(piece * 20_000 + b"na\xefve caf\xe9", "text/html").encoding == "windows-1252"


def test_bytes_that_fit_nothing_are_read_as_windows_1252() -> None:
    assert decode_body(bytes(range(128, 256)), "").encoding == "windows-1252"
    assert decode_body(b"<p \xff>", "").encoding == "windows-1252"


def test_body_cut_inside_a_character_is_still_utf8() -> None:
    body = UMLAUT.encode() * 3 + "ö".encode()[:1]
    assert decode_body(body, "", is_cut=True).encoding == "utf-8"
    assert decode_body(body, "", is_cut=False).encoding != "utf-8"


def test_empty_body_is_empty_text() -> None:
    assert decode_body(b"", "").text == ""
