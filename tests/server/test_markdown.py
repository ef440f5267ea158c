"""What a model writes, as HTML that cannot act. Case render/RND-01, and others of its kind."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.server.blocks import BlockSplitter, Finished
from skales.server.markdown import render_markdown
from tests.conftest import CASES

ANSWER = (CASES / "render" / "RND-01-answer.md").read_text(encoding="utf-8")
EXPECTED: dict[str, Any] = json.loads((CASES / "render" / "RND-01-answer.expected.json").read_text(encoding="utf-8"))

# Each tries to act in a way of its own.
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<IMG SRC=`javascript:alert(1)`>",
    "<a href='jav&#x09;ascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JAVASCRIPT:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](\\javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//attacker.example/p)",
    "[x](/api/cli/memory)",
    "[x](\u0001javascript:alert(1))",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    '![x](https://attacker.example/a.png "onload=alert(1)")',
    '[x](https://example.org/" onmouseover="alert(1))',
    "[x]: javascript:alert(1)\n\n[x]",
    "![x][y]\n\n[y]: https://attacker.example/a.png",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data='javascript:alert(1)'></object><embed src='javascript:alert(1)'>",
    "<form action='https://attacker.example'><button formaction='javascript:alert(1)'>x</button></form>",
    "<base href='https://attacker.example/'><meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href='https://attacker.example/s.css'><style>@import 'https://attacker.example/s';</style>",
    "<details open ontoggle=alert(1)><summary>s</summary></details>",
    "<video src=https://attacker.example/v poster=https://attacker.example/p autoplay onplay=alert(1)></video>",
    "<div style='background:url(https://attacker.example/x)'>d</div>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><img src=x onerror=alert(1)></template>",
    "<textarea><img src=x onerror=alert(1)></textarea>",
    "<plaintext><b onclick=alert(1)>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?php echo '<img src=x onerror=alert(1)>' ?>",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |",
    "> <script>alert(1)</script>",
    "- <script>\n  alert(1)\n  </script>",
    "```html onload=alert(1)\n<script>alert(1)</script>\n```",
    "```<script>alert(1)</script>\n```",
    "# <img src=x onerror=alert(1)>",
    "a <b\nonclick=alert(1)>b</b>",
    "<scr\u0000ipt>alert(1)</script>",
    "<x onclick=alert(1) a='",
]

ALLOWED_ATTRIBUTES = {
    "class", "href", "target", "rel", "src", "alt", "start", "tabindex", "role", "aria-label", "aria-pressed", "type",
    "title", "width", "height", "loading", "data-copy", "data-format", "data-name", "data-sign",
}  # fmt: skip


def acts(html: str) -> Sequence[str]:
    """Everything in the markup that could run, load or submit by itself."""
    found: list[str] = []
    for node in HTMLParser(f"<body>{html}</body>").css("body *"):
        for name, value in node.attributes.items():
            if name not in ALLOWED_ATTRIBUTES:
                found.append(f"{node.tag} {name}")
            if name == "src" and not (value or "").startswith("data:image/"):
                found.append(f"{node.tag} loads {value}")
            if name == "href" and not (value or "").startswith(("http://", "https://", "mailto:")):
                found.append(f"{node.tag} leads to {value}")
            if name == "target" and "noopener" not in (node.attributes.get("rel") or ""):
                found.append(f"{node.tag} without noopener")
        if node.tag in {"script", "iframe", "form", "style", "object", "embed", "svg", "math", "link", "meta", "base"}:
            found.append(str(node.tag))
    return found


def visible(html: str) -> str:
    return HTMLParser(html).body.text() if HTMLParser(html).body else ""  # type: ignore[union-attr]


def lacks(html: str) -> Sequence[str]:
    return [text for text in EXPECTED["html_lacks"] if text in html.lower()]


@pytest.mark.parametrize(
    "html", ["<img src='x'>", "<b onclick='x'>b</b>", "<a href='javascript:x'>a</a>", "<style></style>"]
)
def test_the_detector_sees_what_acts(html: str) -> None:
    assert acts(html)


def test_the_case_holds() -> None:
    html = render_markdown(ANSWER)
    assert not lacks(html)
    assert not acts(html)
    assert all(text in visible(html) for text in EXPECTED["visible_text_contains"])
    links = {node.attributes["href"]: node.attributes for node in HTMLParser(html).css("a")}
    for address in EXPECTED["links"]:
        assert links[address]["target"] == "_blank"
        assert "noopener" in str(links[address]["rel"])


def test_the_case_holds_for_every_prefix() -> None:
    for length in range(len(ANSWER)):
        html = render_markdown(ANSWER[:length])
        assert not lacks(html), ANSWER[:length][-40:]
        assert not acts(html), ANSWER[:length][-40:]


def test_the_case_holds_while_streaming_in_single_characters() -> None:
    splitter = BlockSplitter()
    for step in [step for character in ANSWER for step in splitter.feed(character)] + splitter.end():
        if isinstance(step, Finished):
            assert not lacks(render_markdown(step.source)), step.source
            assert not acts(render_markdown(step.source)), step.source


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_acts_whole_or_cut_anywhere(text: str) -> None:
    for length in range(len(text) + 1):
        html = render_markdown(f"Look: {text[:length]}\n\n{text[:length]}")
        assert not acts(html), text[:length]
        assert not lacks(html), text[:length]


def test_a_remote_picture_is_a_link_that_names_its_host() -> None:
    html = render_markdown("![a chart](https://user:pw@attacker.example:8443/p.png?d=1)")
    (link,) = HTMLParser(html).css("a.picture")
    assert link.attributes["href"] == "https://user:pw@attacker.example:8443/p.png?d=1"
    assert link.text() == "a chart attacker.example"


def test_a_picture_inside_the_text_is_shown() -> None:
    html = render_markdown("![dot](data:image/png;base64,iVBORw0KGgo=)")
    (picture,) = HTMLParser(html).css("img")
    assert picture.attributes == {"src": "data:image/png;base64,iVBORw0KGgo=", "alt": "dot"}


def test_words_inside_raw_html_stay_and_scripts_go() -> None:
    html = render_markdown("<div align=center>Hello <b>you</b></div>\n\n<script>alert(1)</script>\n\nBye <i>now</i>")
    assert visible(html).split() == ["Hello", "you", "Bye", "now"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("use onclick= or javascript: links", "use onclick= or javascript: links"),
        ("`<img onerror=x>`", "<img onerror=x>"),
        ("2 < 3 && a > b", "2 < 3 && a > b"),
        ("```js\nx = 'javascript:1'\n```", "x = 'javascript:1'"),
    ],
)
def test_text_about_code_reads_as_written(text: str, part: str) -> None:
    assert part in visible(render_markdown(text))


def test_tables_task_lists_and_breaks_are_understood() -> None:
    tree = HTMLParser(
        render_markdown("| a | b |\n|:--|--:|\n| 1<br>2 | 3 |\n\n- [x] done\n- [ ] open\n\n~~old~~ 2<sup>3</sup>")
    )
    assert [cell.attributes["class"] for cell in tree.css("td")] == ["align-left", "align-right"]
    assert [box.attributes["aria-label"] for box in tree.css("li span.task")] == ["Done", "To do"]
    assert tree.css_first("td br") is not None
    assert tree.css_first("s, del") is not None
    assert tree.css_first("sup") is not None


def test_code_has_its_language_a_copy_button_and_colours_by_class() -> None:
    tree = HTMLParser(render_markdown("```python\ndef f(): return 1\n```"))
    figure = tree.css_first("figure.code")
    assert figure is not None
    assert [node.text() for node in figure.css("figcaption > *")] == ["python", "DownloadCopy"]
    assert figure.css_first("code span[class]") is not None
    assert tree.css_first("code").text() == "def f(): return 1\n"  # type: ignore[union-attr]


@pytest.mark.parametrize("language", ["", "no-such-language", "a" * 200, "../../etc"])
def test_code_in_an_unknown_language_is_shown_plain(language: str) -> None:
    tree = HTMLParser(render_markdown(f"```{language}\n<b>&amp;\n```"))
    assert tree.css_first("code").text() == "<b>&amp;\n"  # type: ignore[union-attr]


def test_very_long_code_is_shown_plain() -> None:
    assert "<span" not in render_markdown("```python\n" + "x = 1\n" * 6000 + "```").split("</figcaption>")[1]


def test_headings_stay_in_rank_below_the_page_and_keep_their_look() -> None:
    tree = HTMLParser(render_markdown("## A\n\n#### B\n\n## C"))
    found = [(node.tag, node.attributes["class"]) for node in tree.css("h3, h4, h5, h6")]
    assert found == [("h3", "level-2"), ("h4", "level-4"), ("h3", "level-2")]


def test_half_a_character_and_a_nul_do_no_harm() -> None:
    assert "�" in render_markdown("a \ud83d b \x00 c")


def test_addresses_in_prose_become_links() -> None:
    tree = HTMLParser(render_markdown("see https://example.org/x?a=1&b=2 and mail me@example.org"))
    assert [link.attributes["href"] for link in tree.css("a")] == [
        "https://example.org/x?a=1&b=2",
        "mailto:me@example.org",
    ]
