"""What answers hold besides prose: maths, tables, files, pictures, code with buttons, signs that cannot be seen."""

import base64

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.server.markdown import render_markdown
from skales.server.words import use_language
from tests.server.test_markdown import acts, visible

MATHS_TAGS_THAT_ACT = ("maction", "annotation", "annotation-xml", "semantics", "mglyph", "script", "style", "a", "img")


def tree(text: str) -> HTMLParser:
    return HTMLParser(f"<body>{render_markdown(text)}</body>")


# --- maths ---


@pytest.mark.parametrize(
    ("text", "display", "words"),
    [
        ("$$x^2$$", True, "x2"),
        ("$$\nx\n- y\n$$", True, "x−y"),
        ("\\[\nx\n\\]", True, "x"),
        ("Words:\n$$\nx\n$$\nafter", True, "Words:xafter"),
        ("so $$x$$ it is", False, "so x it is"),
        ("so \\(x\\) it is", False, "so x it is"),
        ("- item $$x$$\n- other", False, "item xother"),
        ("| a |\n|---|\n| $$x$$ |", False, "ax"),
        ("```math\nx\n```", True, "x"),
        ("$$x = 1 \\tag{2}$$", True, "x=1(2)"),
    ],
)
def test_maths_becomes_mathml(text: str, display: bool, words: str) -> None:
    found = tree(text)
    (maths,) = found.css("math")
    assert (maths.attributes.get("display") == "block") is display
    shown = "".join(found.body.text().split("\n")) if found.body else ""
    assert shown.replace("Copy as CSVCopy as Markdown", "") == words


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $6.",
        "`$$x$$`",
        "```\n$$x$$\n```",
        "$$\nx\n\ny",
        "$$ $$",
        "\\\\(x\\\\)",
        "a \\( b",
        "$100$",
    ],
)
def test_prices_and_code_are_no_maths(text: str) -> None:
    assert tree(text).css("math") == []
    assert "$" in render_markdown(text) or "(" in render_markdown(text)


@pytest.mark.parametrize(
    "source",
    [
        r"\frac{1",
        r"\unknown{x}",
        r"\href{javascript:alert(1)}{x}",
        r"\url{https://attacker.example}",
        r"\htmlClass{a}{x}",
        r"\includegraphics{https://attacker.example/a.png}",
        r"\def\a{\a\a}\a",
        "{" * 4000,
        "x" * 6000,
    ],
)
def test_what_is_no_maths_is_shown_as_it_was_written(source: str) -> None:
    found = tree(f"$$\n{source}\n$$")
    assert found.css("math") == []
    assert found.css_first(".maths-source").text() == source  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "source",
    [
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{<script>alert(1)</script>}",
        r"\text{</mtext></math><img src=x onerror=alert(1)>}",
        r"\color{url(https://attacker.example)}{x}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\operatorname{<b onclick=alert(1)>}",
        "<annotation-xml encoding='text/html'><img src=x onerror=alert(1)></annotation-xml>",
        "<maction actiontype='statusline' href='javascript:alert(1)'>x</maction>",
        r"\begin{array}{c}<style>@import 'https://attacker.example'</style>\end{array}",
        r"\class{x}{y}\cssId{x}{y}\style{color:red}{y}",
    ],
)
@pytest.mark.parametrize("frame", ["$$\n{}\n$$", "a $${}$$ b", "\\[{}\\]", "<math>$${}$$</math>"])
def test_nothing_escapes_from_maths(source: str, frame: str) -> None:
    html = render_markdown(frame.replace("{}", source))
    found = HTMLParser(f"<body>{html}</body>")
    assert not [tag for tag in MATHS_TAGS_THAT_ACT if found.css(f"body {tag}")]
    for node in found.css("math, math *"):
        assert not {"href", "xlink:href", "style", "id", "src"} & set(node.attributes)
        assert not [name for name in node.attributes if name.startswith("on")]


def test_columns_of_maths_are_aligned_by_class() -> None:
    classes = [cell.attributes.get("class") or "" for cell in tree("$$\\begin{aligned}a&=b\\end{aligned}$$").css("mtd")]
    assert ["maths-right" in classes[0], "maths-left" in classes[1]] == [True, True]


# --- tables ---


def test_a_column_of_figures_is_flush_right_and_others_stay() -> None:
    found = tree("| name | n | when | mixed |\n|---|---|:--|---|\n| a | 1,024 | 1 | 1 |\n| b | **−7 %** | 2 | x |")
    assert [cell.attributes.get("class") for cell in found.css("th")] == [
        None,
        "align-right figures",
        "align-left",
        None,
    ]


def test_a_table_scrolls_in_a_region_that_has_a_name() -> None:
    (region,) = tree("| a |\n|---|\n| b |").css(".table-scroll")
    assert (region.attributes["role"], region.attributes["aria-label"], region.attributes["tabindex"]) == (
        "region",
        "Table",
        "0",
    )


# --- files and pictures ---


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("[r](report.pdf)", "report.pdf"),
        ("[r](./out/my%20report.pdf)", "out/my report.pdf"),
        ("[r](<out/my report.pdf>)", "out/my report.pdf"),
        ("[r](/home/me/workspace/a.txt)", "/home/me/workspace/a.txt"),
        ("[r](Grüße.md)", "Grüße.md"),
        ("![r](notes.txt)", "notes.txt"),
    ],
)
def test_a_link_to_a_file_is_a_card(link: str, path: str) -> None:
    found = tree(link)
    (copy,) = found.css(".file-card [data-copy]")
    assert copy.attributes["data-copy"] == path
    assert str(found.css_first("a.file").attributes["href"]).startswith("/ui/preview/file?path=")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "link",
    [
        "[x](example.com)",
        "[x](//attacker.example/a.pdf)",
        "[x](file:///etc/a.pdf)",
        "[x](javascript:a.pdf)",
        "[x](\\\\host\\share\\a.pdf)",
        "[x](a.pdf?b)",
        "[x](#a.pdf)",
        "[x](a\n.pdf)",
        "[x](/api/cli/memory)",
        "[x](%0aa.pdf)",
    ],
)
def test_what_is_no_file_stays_words(link: str) -> None:
    assert tree(link).css("a[href^='/']") == []
    assert not acts(render_markdown(link))


def test_a_picture_of_the_workspace_comes_from_our_own_address() -> None:
    (picture,) = tree("![a plot](out/plot 1.png) ![a plot](<out/plot 1.png>)").css("img")
    assert picture.attributes["src"] == "/ui/preview/file?path=out/plot%201.png"
    assert picture.attributes["alt"] == "a plot"


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4)
GIF = b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little")
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + (480).to_bytes(2) + (640).to_bytes(2) + b"\x03"
WEBP = (
    b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"
    + (639).to_bytes(3, "little")
    + (479).to_bytes(3, "little")
)


@pytest.mark.parametrize(("kind", "data"), [("png", PNG), ("gif", GIF), ("jpeg", JPEG), ("webp", WEBP)])
def test_the_place_of_a_picture_inside_the_text_is_known_before_it_is_drawn(kind: str, data: bytes) -> None:
    address = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    (picture,) = tree(f"![x]({address})").css("button.zoom img")
    assert (picture.attributes["width"], picture.attributes["height"]) == ("640", "480")


@pytest.mark.parametrize("head", ["AAAA", "iVBORw0KGgo=", "/9j/", "R0lG", "====", "A"])
def test_a_picture_that_is_none_has_no_size(head: str) -> None:
    assert "width=" not in render_markdown(f"![x](data:image/png;base64,{head})")


# --- code ---


def buttons(text: str) -> list[str]:
    return [button.text() for button in tree(text).css(".code button")]


def test_code_has_the_buttons_that_help() -> None:
    assert buttons("```\nshort\n```") == ["Download", "Copy"]
    assert buttons(f"```py\n{'x' * 80}\n```") == ["Wrap", "Download", "Copy"]
    assert buttons("```py\n" + "x\n" * 41 + "```") == ["Download", "Copy", "Show all 41 lines"]


@pytest.mark.parametrize("language", ["html", "HTM", "svg", "xhtml", "html5"])
def test_pages_can_be_previewed(language: str) -> None:
    assert buttons(f"```{language}\n<b>\n```")[0] == "Preview"


@pytest.mark.parametrize(
    ("language", "name"),
    [("python", "code.py"), ("JS", "code.js"), ("", "code.txt"), ("nothing", "code.txt"), ("svg", "code.svg"),
     ("mermaid", "code.mmd"), ("../../x", "code.txt"), ("bash", "code.sh"), ("dockerfile", "code.docker")],
)  # fmt: skip
def test_a_block_is_saved_under_a_name_that_fits_its_language(language: str, name: str) -> None:
    (button,) = tree(f"```{language}\nx\n```").css(".download")
    assert button.attributes["data-name"] == name


def test_a_diff_shows_what_comes_and_goes() -> None:
    found = tree("```diff\n- old\n+ new\n```")
    assert [node.text().strip() for node in found.css(".gd, .gi")] == ["- old", "+ new"]


# --- the rest of the kind ---


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\u2060"])
@pytest.mark.parametrize("frame", ["a{}b", "`a{}b`", "```\na{}b\n```", "[a{}b](https://example.org)"])
def test_signs_that_cannot_be_seen_are_named_and_kept(sign: str, frame: str) -> None:
    found = tree(frame.replace("{}", sign))
    (shown,) = found.css(".sign")
    assert (shown.attributes["data-sign"], shown.text()) == (f"U+{ord(sign):04X}", sign)


@pytest.mark.parametrize(
    "text", ["👩\u200d🔬 science", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "שלום\u200f!", "x\ufe0f"]
)
def test_signs_that_writing_needs_are_left_alone(text: str) -> None:
    assert tree(text).css(".sign") == []


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "word " * 200_000, "- x\n" * 200_000, "[" * 200_000, "$$" * 200_000, "```\n" + "x\n" * 400_000]
)  # fmt: skip
def test_what_is_too_much_is_shown_as_it_is(text: str) -> None:
    found = tree(text)
    (plain,) = found.css(".plain")
    assert plain.text() == text


@pytest.mark.parametrize("text", ["> " * 100 + "deep", "".join("  " * at + "- x\n" for at in range(80))])
def test_what_stands_too_deep_is_not_lost(text: str) -> None:
    assert text.split()[-1] in visible(render_markdown(text))


def test_a_very_long_paragraph_is_shown_without_marks() -> None:
    assert visible(render_markdown("**a** " * 4000)).startswith("**a** **a**")


def test_buttons_speak_the_language_in_use() -> None:
    english = render_markdown("| a |\n|---|\n| language |")
    use_language("de")
    try:
        render_markdown("| a |\n|---|\n| language |")
    finally:
        use_language("en")
    assert render_markdown("| a |\n|---|\n| language |") == english


@pytest.mark.parametrize(
    "text",
    [
        "text[^1]\n\n[^1]: <img src=x onerror=alert(1)>",
        "[a][b]\n\n[b]: <javascript:alert(1)>",
        "[a]: https://example.org 'x\" onclick=\"alert(1)'\n\n[a]",
        '<https://example.org/"onmouseover=alert(1)>',
        'www.example.org/"onmouseover=alert(1)',
        "https://example.org/<script>alert(1)</script>",
        "[x](java\nscript:alert(1))",
        "[x](&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A;alert(1))",
        "[x](%6Aavascript:alert(1))",
        "[x](blob:https://example.org/1)",
        "[x](view-source:https://example.org)",
        "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
        '![x](data:image/png;base64,AAAA" onerror="alert(1))',
        "<svg><use href='data:image/svg+xml;base64,AAAA#x'/></svg>",
        "<math href='javascript:alert(1)'><mtext>x</mtext></math>",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<a href='javascript&colon;alert(1)'>x</a>",
        "<link rel=preconnect href=https://attacker.example>",
        "<meta http-equiv=refresh content='0;url=//attacker.example'>",
        "<input autofocus onfocus=alert(1)><select onchange=alert(1)><marquee onstart=alert(1)>",
        "<button formaction=javascript:alert(1) data-copy=x class=preview>x</button>",
        "<figure class='code diagram'><code>x</code></figure>",
        "````html\n```\n<script>alert(1)</script>",
        "~~~html\n<script>alert(1)</script>",
        "> ```html\n> <script>alert(1)</script>",
    ],
)
def test_more_hostile_text_does_nothing_whole_or_cut_anywhere(text: str) -> None:
    for length in range(1, len(text) + 1):
        assert not acts(render_markdown(text[:length])), text[:length]
