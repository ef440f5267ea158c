"""A page becomes text that reads as the page looks."""

import pytest

from skales.core.errors import ToolError
from skales.tools.web.document import Document, Part, Source, read_document, require_readable

BASE = "https://example.org/shop/list.html"


def read(html: str, content_type: str = "text/html") -> Document:
    return read_document(Source(html.encode(), content_type, BASE), Part.WHOLE)


BLOCKS = {
    "<h1>One</h1><h3> Three\n<small>small</small></h3><h2></h2>": "# One\n\n### Three small",
    "a<p>b</p>c<div>d<div>e</div></div>": "a\n\nb\n\nc\n\nd\n\ne",
    "<p>two\n  words   and&nbsp;more<br>next   line<br></p>": "two words and more\nnext line",
    "<p>no<b>blank</b>, a <i> blank </i> and<wbr>none</p>": "noblank, a blank andnone",
    "<ul><li>a</li><li><p>b</p><p>c</p></li><li></li>text</ul>": "- a\n- b\n\n  c\ntext",
    "<ul><li>a<ul><li>b<ol start=7><li>c<li>d</ol></li></ul></li><li>e</ul>": ("- a\n  - b\n    7. c\n    8. d\n- e"),
    "<ol><li>x</ol><ol start=-3><li>y</ol><ul> </ul>": "1. x\n\n1. y",
    "<menu><li>a<div>b</div></menu>": "- a\n\n  b",
    "<ul><div>odd</div><li>even</ul>": "odd\n- even",
    "<li>alone": "alone",
    "<dl><dt>Term<dd>Meaning<dd><p>More</p><div><dt>T2<dd>M2</div></dl><dl></dl>": (
        "**Term**\n: Meaning\n: More\n**T2**\n: M2"
    ),
    "<blockquote><p>q<p>r</blockquote><blockquote> </blockquote>": "> q\n>\n> r",
    "<pre>\n  a\n\n    b &lt;i&gt; </pre>": "```\n  a\n\n    b <i>\n```",
    "<pre class='lang-js x'>a<br>b</pre><pre><code class=language-c++>int a;</code></pre>": (
        "```js\na\nb\n```\n\n```c++\nint a;\n```"
    ),
    "<pre>```\nx\n```</pre><pre> </pre>": "````\n```\nx\n```\n````",
    "<textarea>\n  one\n two</textarea>": "```\n  one\n two\n```",
    "a<hr>b": "a\n\n---\n\nb",
    "<details><summary>More <b>here</b></summary>inside</details>": "**More here**\n\ninside",
    "<fieldset><legend>Sign up</legend><label>Name</label><input value='Ada  L'></fieldset>": (
        "**Sign up**\n\nName [Ada L]"
    ),
    "<select><option>a<option selected>b</select><select></select><button>Go</button>": "[b] Go",
    "<select><option>first</select><input type=checkbox value=on><input>": "[first]",
    "<figure><img src=x alt='A  cat'><figcaption>Cat</figcaption></figure>": "[image: A cat]\n\nCat",
    f"<img alt='{'x' * 150}'><img alt=''><img>": f"[image: {'x' * 100}…]",
    "x<sup>2</sup> 10<sup>-3</sup> word<sup>[1]</sup> H<sub>2</sub>O<sup> </sup>": "x^2 10^-3 word[1] H2O",
    "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> <q>said</q> <del>9 €</del> <s>8 €</s>": (
        "漢(kan) “said” ~~9 €~~ ~~8 €~~"
    ),
    "use <code>a b</code>, <kbd>Ctrl</kbd>, <code>x`y</code>, <code> </code>.": "use `a b`, `Ctrl`, ``x`y``, .",
    "<svg><text>label</text><text>two</text></svg>": "label two",
    "<center>a</center><p>b<p>c": "a\n\nb\n\nc",
    "<span>a<div>b</div>c</span>": "a\n\nb\n\nc",
    "<p>&lt;b&gt; &amp; \u200bx</p>": "<b> & x",
    "<dl>text<dt>T<dd>D<p>more</p></dl><dl><p>odd</p></dl>": "text\n**T**\n: D\n: more\n\nodd",
    "": "",
}


@pytest.mark.parametrize(("html", "text"), BLOCKS.items())
def test_blocks_and_lines_read_as_they_look(html: str, text: str) -> None:
    assert read(html).text == text


LINKS = {
    "<a href='b.html'>B</a>": "[B](https://example.org/shop/b.html)",
    "see <a href='/x y?q=1&amp;r=2'> the <b>page</b> </a>now": (
        "see [the page](https://example.org/x%20y?q=1&r=2) now"
    ),
    "<a href='//other.example/(a)'>O</a>": "[O](https://other.example/%28a%29)",
    "<a href='?page=2'>next</a>": "[next](https://example.org/shop/list.html?page=2)",
    "<a href='mailto:a@b.example'>mail</a>": "[mail](mailto:a@b.example)",
    "<a href=' ht\ntps://example.org/ '>x</a>": "[x](https://example.org/)",
    "<a href='#part'>here</a> <a>none</a> <a href='javascript:x()'>js</a> <a href='data:,x'>d</a>": "here none js d",
    "<a href='http://[bad'>bad</a> <a href='/x'></a>": "bad",
    f"<a href='/{'x' * 3000}'>long</a>": "long",
    "<a href='/'><img alt=Home></a>": "[[image: Home]](https://example.org/)",
    "<a href='/c'><h3>Card</h3><p>text</p></a>": "### Card\n\ntext\n\nLink: https://example.org/c",
    "<a href='/c'><div> </div></a><a href='javascript:x'><div>card</div></a>": "card",
    "<h2><a href='/h'>Head</a></h2>": "## [Head](https://example.org/h)",
    "<base href='https://cdn.example/d/'><base href='/no'><a href=e>E</a>": "[E](https://cdn.example/d/e)",
    "<base href='http://[bad'><a href=e>E</a>": "[E](https://example.org/shop/e)",
}


@pytest.mark.parametrize(("html", "text"), LINKS.items())
def test_links_show_where_they_lead(html: str, text: str) -> None:
    assert read(html).text == text


TABLES = {
    "<table><tr><th>Size<th>Price<tr><td>S|M<td><p>1 €</p><p>net</p><tr><td>L</table>": (
        "| Size | Price |\n| --- | --- |\n| S\\|M | 1 € net |\n| L |  |"
    ),
    "<table><caption>Prices</caption><thead><tr><td>a<td>b</thead><tbody><tr><td>1<td>2<tfoot><tr><td>3<td>4</table>": (
        "Prices\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
    ),
    "<table><tr><td>a<td colspan=2>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>": (
        "| a | b |  |\n| --- | --- | --- |\n| c | d | e |\n|  | f | g |"
    ),
    "<table><tr><td>a<td>b<tr><td rowspan=3>c<td rowspan=2>d<tr></table>": ("| a | b |\n| --- | --- |\n| c | d |"),
    "<table><tr><td>a<td>b<tr hidden><td>x<td>y<tr><td>c<td hidden>n<td>d</table>": (
        "| a | b |\n| --- | --- |\n| c | d |"
    ),
    "<table><tr><td colspan=0>a<td colspan=junk>b<tr><td>c<td>d</table>": "| a | b |\n| --- | --- |\n| c | d |",
    "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>": "a\n\nb\n\nc\n\nd",
    "<table><tr><td><h2>Left</h2>x<td><table><tr><td>1<td>2<tr><td>3<td>4</table><tr><td>y<td>z</table>": (
        "## Left\n\nx\n\n| 1 | 2 |\n| --- | --- |\n| 3 | 4 |\n\ny\n\nz"
    ),
    "<table><tr><td>only<tr><td>column</table>": "only\n\ncolumn",
    "<table><tr><th>Key<td>Value</table>": "| Key | Value |\n| --- | --- |",
    "<table><tr><td><tr><th></table><table></table>": "",
}


@pytest.mark.parametrize(("html", "text"), TABLES.items())
def test_tables_of_data_keep_rows_and_columns(html: str, text: str) -> None:
    assert read(html).text == text


def test_table_with_absurd_spans_stays_small() -> None:
    text = read("<table>" + "<tr><td colspan=99999 rowspan=99999>a<td colspan=99999>b<td>c" * 3 + "</table>").text
    assert len(text) < 2_000


@pytest.mark.parametrize(
    "opening",
    ["<div>", "<ul><li>", "<blockquote>", "<b>", "<dl><dd>", "<dl><div>", "<table><tr><td>", "<a href=/x><div>"],
)
def test_nesting_deeper_than_any_page_shows_the_bare_words(opening: str) -> None:
    assert read(opening * 1_000 + "deep <b>words</b>").text.endswith("deep words")


def test_title_is_the_one_of_the_head() -> None:
    assert read("<title> A\n page\u200b </title><title>B</title><svg><title>C</title></svg>").title == "A page"
    assert read("<title> </title><title>B</title>").title == "B"
    assert read("<svg><title>C</title></svg><title></title>").title == ""


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "<b>as it\r\nis</b>\u200b", "<b>as it\nis</b>"),
        ("application/json; charset=utf-8", '{"a": "ä"}', '{"a": "ä"}'),
        ("application/vnd.api+json", "[1]", "[1]"),
        ("image/svg+xml", "<svg/>", "<svg/>"),
        ("text/csv", "a,b", "a,b"),
        ("", "<!-- x --> <!DOCTYPE html><p>page", "page"),
        ("application/octet-stream", "<html><p>page", "page"),
        ("", "just < words", "just < words"),
        ("application/xhtml+xml", "<?xml version='1.0'?><html xmlns='x'><body><p>page</p></body></html>", "page"),
    ],
)
def test_kind_of_text_decides_how_it_is_shown(content_type: str, body: str, text: str) -> None:
    require_readable(content_type, BASE)
    assert read(body, content_type).text == text


@pytest.mark.parametrize("content_type", ["text/html", ""])
def test_page_of_nothing_but_comments_is_judged_in_linear_time(content_type: str) -> None:
    assert read("<!-- --> " * 5_000 + "end", content_type).text.endswith("end")


def test_utf16_without_a_type_is_text() -> None:
    assert read_document(Source("\ufeffpage ü".encode("utf-16-le"), "", BASE), Part.WHOLE).text == "page ü"


@pytest.mark.parametrize("content_type", ["image/png", "application/zip", "video/mp4", "font/woff2", "APPLICATION/PDF"])
def test_what_is_no_text_is_refused_by_its_type(content_type: str) -> None:
    with pytest.raises(ToolError, match="cannot be shown as a page") as caught:
        require_readable(content_type, BASE)
    assert caught.value.code == "not_a_page"


@pytest.mark.parametrize(("body", "content_type"), [(b"%PDF-1.7 x", "text/html"), (b"PK\x03\x04", ""), (b"a\0b", "")])
def test_what_is_no_text_is_refused_by_its_bytes(body: bytes, content_type: str) -> None:
    with pytest.raises(ToolError, match="cannot be shown as a page"):
        read_document(Source(body, content_type, BASE), Part.WHOLE)
