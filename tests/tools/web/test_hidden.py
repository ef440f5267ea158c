"""What a reader cannot see never reaches a model, whatever the page does to hide it; what is seen is not lost."""

import json
from pathlib import Path

import pytest

from skales.tools.web.document import Part, Source, read_document
from skales.tools.web.dom import parse_page
from tests.conftest import CASES

_DOCTYPE = "<!doctype html>"


def seen(html: str) -> str:
    return read_document(Source(html.encode(), "text/html; charset=utf-8", "https://example.org/"), Part.WHOLE).text


def case(name: str) -> Path:
    return CASES / "injection" / name


def test_hidden_text_of_the_recipe_page_is_left_out() -> None:
    text = seen(case("INJ-01-hidden-text.html").read_text(encoding="utf-8"))
    expected = json.loads(case("INJ-01-hidden-text.expected.json").read_text(encoding="utf-8"))

    assert [words for words in expected["text_contains"] if words not in text] == []
    assert [words for words in expected["text_lacks"] if words in text] == []


HIDING_STYLES = [
    "display:none",
    "DISPLAY :\tNONE",
    "display:none!important",
    "display:none ! IMPORTANT",
    r"d\69splay:n\6fne",
    "dis/**/play:block;display/* */:/*x*/none",
    "display:block;display:none",
    "display:none !important;display:block",
    "visibility:hidden",
    "VISIBILITY : hidden ! important",
    "visibility:collapse",
    "content-visibility:hidden",
    "opacity:0",
    "opacity:0%",
    "opacity:.01",
    "opacity:calc(1 - 1)",
    "filter:opacity(0)",
    "-webkit-filter:opacity(0%)",
    "font-size:0",
    "font-size:0px",
    "font-size:0.1em",
    "font-size:1px",
    "font-size:calc(1px * 0)",
    "font-size:min(0px, 16px)",
    "font-size:clamp(0px, 1px, 2px)",
    "font:0/0 a",
    "font:italic 700 0px serif",
    "zoom:0.01",
    "color:transparent",
    "color:rgba(0,0,0,0)",
    "color:rgb(0 0 0 / 2%)",
    "color:#00000000",
    "-webkit-text-fill-color:transparent",
    "color:white",
    "color:#fff;background:#ffffff",
    "color:#fefefe;background-color:white",
    "color:rgb(255,255,255)",
    "color:hsl(0 0% 100%)",
    "background:black;color:#010101",
    "background:#123456 none;color:#123456",
    "position:absolute;left:-9999px",
    "position:absolute;left:-9999",
    "position:fixed;top:-100vh",
    "position:relative;left:-1000em",
    "position:absolute;right:-5000px",
    "position:absolute;bottom:-999rem",
    "position:absolute;left:calc(-1 * 9999px)",
    "position:absolute;left:calc(0px - 100vw)",
    "position:absolute;left:9999px",
    "position:absolute;top:100000px",
    "position:absolute;inset:-9999px auto auto -9999px",
    "position:absolute;inset-inline-start:-9999px",
    "position:absolute;left:-300px;width:300px",
    "margin-left:-9999px",
    "margin:0 0 0 -9999px",
    "margin:-9999px 0 0",
    "margin-inline-start:-500em",
    "text-indent:-9999px",
    "text-indent:-100vw;white-space:nowrap;overflow:hidden",
    "transform:translateX(-9999px)",
    "transform:translate(0, -200vh)",
    "transform:translate3d(-5000px,0,0)",
    "-webkit-transform:translateY(-5000px)",
    "transform:scale(0)",
    "transform:scale(1, 0.001)",
    "transform:rotate(3deg) scaleX(0)",
    "transform:matrix(0,0,0,0,0,0)",
    "transform:matrix(1,0,0,1,-9999,0)",
    "scale:0",
    "translate:-9999px",
    "position:absolute;clip:rect(0,0,0,0)",
    "position:absolute;clip:rect(1px 1px 1px 1px)",
    "position:absolute;clip:rect(0 0 auto 0)",
    "clip-path:inset(50%)",
    "clip-path:inset(0 100% 0 0)",
    "-webkit-clip-path:inset(100%)",
    "clip-path:circle(0)",
    "clip-path:ellipse(0 0)",
    "clip-path:circle(0% at 50% 50%)",
    "clip-path:polygon(0 0)",
    "clip-path:polygon(0 0, 0 0, 0 0, 0 0)",
    "clip-path:polygon(0 0, 100% 0)",
    "clip-path:rect(0 0 0 0)",
    "clip-path:xywh(0 0 0 100%)",
    "height:0;overflow:hidden",
    "width:0;overflow:hidden",
    "width:1px;height:1px;overflow:clip",
    "max-height:0;overflow:auto",
    "max-width:0px;overflow:hidden visible",
    "block-size:0;overflow-y:hidden",
    "--gone:none;display:var(--gone)",
    "display:var(--missing, none)",
    "--a:var(--b);--b:none;display:var(--a)",
    "--x:-9999px;position:absolute;left:calc(var(--x) + 1px)",
    "position:absolute;left:-30cm",
    "position:absolute;left:-90ch",
    "position:absolute;left:-100vmax",
    "position:absolute;left:-100vmin",
    "position:absolute;left:-100dvw",
    "position:absolute;left:-100%",
    "position:absolute;left:calc(2 * (1px - 500px))",
    "position:absolute;left:calc(-2000px / 2)",
    "position:absolute;left:max(-9999px, -5000px)",
    "font-size:abs(-1px)",
    "--size:0;font:var(--size)/1 serif",
    "--paper:#fff;color:var(--paper);background:var(--paper)",
]


@pytest.mark.parametrize("style", HIDING_STYLES)
def test_style_attribute_hides_text(style: str) -> None:
    assert seen(f"{_DOCTYPE}<p>before</p><p style='{style}'>MARK</p><p>after</p>") == "before\n\nafter"


@pytest.mark.parametrize("style", HIDING_STYLES)
def test_rule_of_a_sheet_hides_text(style: str) -> None:
    assert seen(f"{_DOCTYPE}<style>.note {{{style}}}</style><p>before</p><p class=note>MARK</p>") == "before"


VISIBLE_STYLES = [
    "",
    "display:none;display:block",
    "display:nonesuch",
    "display:none none",
    "opacity:0.9",
    "opacity:1;opacity:huge",
    "opacity:0.5",
    "font-size:9px",
    "font-size:0.8em",
    "font-size:inherit",
    "font-size:larger",
    "font-size:wide",
    "font:700 16px/0 serif",
    "font:caption",
    "font:inherit",
    "margin:unset",
    "zoom:1",
    "color:#888",
    "color:#ddd",
    "color:inherit",
    "color:white;background:#222",
    "color:white;background:url(night.png)",
    "color:white;background:linear-gradient(#000,#111)",
    "color:white;position:absolute",
    "color:transparent;text-shadow:0 0 2px #000",
    "color:transparent;-webkit-background-clip:text;background-image:linear-gradient(red,blue)",
    "color:lab(100 0 0)",
    "color:red;background:green",
    "color:currentColor",
    "left:-9999px",
    "position:static;left:-9999px",
    "position:absolute;left:-20px",
    "position:absolute;left:50%;transform:translate(-50%,-50%)",
    "position:absolute;top:4000px",
    "position:relative;top:-1em",
    "margin-left:-20px",
    "margin-left:-9999px;padding-left:9999px",
    "margin:auto",
    "text-indent:2em",
    "transform:translateX(-100%)",
    "transform:rotate(180deg)",
    "transform:scale(-1,1)",
    "transform:matrix(1,0,0,1,10,10)",
    "scale:1.1",
    "clip:rect(0,0,0,0)",
    "position:absolute;clip:auto",
    "position:absolute;clip:rect(0,100px,100px,0)",
    "position:absolute;clip:rect(0)",
    "clip-path:inset(10%)",
    "clip-path:inset(10px 20px)",
    "clip-path:circle(50%)",
    "clip-path:circle()",
    "clip-path:polygon(0 0, 100% 0, 100% 100%)",
    "clip-path:polygon(0)",
    "clip-path:rect(0 100% 100% 0)",
    "clip-path:xywh(0 0 100% 100%)",
    "clip-path:url(#shape)",
    "clip-path:path('M0 0')",
    "height:0",
    "height:0;overflow:visible",
    "height:100px;overflow:hidden",
    "width:0;overflow-y:hidden",
    "overflow:hidden",
    "filter:blur(1px)",
    "filter:opacity(80%)",
    "visibility:visible",
    "display:var(--missing)",
    "--loop:var(--loop);display:var(--loop)",
    "position:absolute;left:calc(var(--missing) - 9999px)",
    "position:absolute;left:calc(1px - 9999vibes)",
    "position:absolute;left:calc(-9999px / 0)",
    "position:absolute;left:calc(-9999px ^ 2)",
    "position:absolute;left:calc(-9999px 2)",
    "position:absolute;left:calc()",
    "position:absolute;left:calc(auto)",
    "position:absolute;left:min()",
    "position:absolute;left:min(-9999px, auto)",
    "position:absolute;left:clamp(-9999px)",
    "position:absolute;left:sin(-9999px)",
    "position:absolute;left:calc(1e308px * -1e308)",
    "position:absolute;left:-9999dpi",
    "position:absolute;left:'-9999px'",
    "position:absolute;left:auto",
    "margin:;padding:",
    "background:",
    "font:bold",
    "color:color-mix(in srgb, '\\22', [a] {b} (c) url(x))",
    "--b:var(--a) var(--a) var(--a);--c:var(--b) var(--b) var(--b);--a:1 1 1 1 1 1;--d:var(--c) var(--c) var(--c)"
    ";--e:var(--d) var(--d) var(--d);--f:var(--e) var(--e) var(--e);display:var(--f) none",
    "color:hwb(0 0% 50%",
    "all:initial",
]


@pytest.mark.parametrize("style", VISIBLE_STYLES)
def test_style_attribute_leaves_text_visible(style: str) -> None:
    assert "SEEN" in seen(f'{_DOCTYPE}<div style="{style}">SEEN</div>')


HIDDEN_MARKUP = [
    "<p hidden>MARK</p>",
    "<p HIDDEN=until-found>MARK</p>",
    "<div hidden><b>MARK</b></div>",
    "<template><p>MARK</p></template>",
    "<noscript>MARK</noscript>",
    "<script>MARK</script><script type=text/plain>MARK</script>",
    "<style>/* MARK */</style>",
    "<!-- MARK --><!-- <p> MARK -- > -->",
    "<![CDATA[ MARK ]]>",
    "<?php MARK ?>",
    "<dialog>MARK</dialog>",
    "<div popover>MARK</div>",
    "<input type=hidden value=MARK><input type=password value=MARK>",
    "<input style='opacity:0' value=MARK><input style='font-size:0' value=MARK>",
    "<textarea style='opacity:0'>MARK</textarea>",
    "<select style='visibility:hidden'><option>MARK</select>",
    "<img alt=MARK style='display:none'><img alt=MARK style='visibility:hidden'>",
    "<iframe srcdoc='<p>MARK'>MARK</iframe>",
    "<object>MARK</object><video>MARK</video><audio>MARK</audio><canvas>MARK</canvas>",
    "<datalist><option>MARK</datalist>",
    "<svg><title>MARK</title><desc>MARK</desc><metadata>MARK</metadata><defs><text>MARK</text></defs></svg>",
    "<svg><text opacity=0>MARK</text><text display=none>MARK</text><text font-size=0>MARK</text></svg>",
    "<svg width=0 height=0><text>MARK</text></svg>",
    "<svg><text fill=white>MARK</text></svg>",
    "<math><annotation>MARK</annotation></math>",
    "<font color=white>MARK</font><font color='#FFFFFF'>MARK</font>",
    "<table bgcolor=black><tr><td><font color=black>MARK</font></td></tr></table>",
    "<p title=MARK aria-label=MARK data-note=MARK>text</p>",
    "<a href='https://example.org/' title=MARK></a>",
    "<meter>MARK</meter><progress>MARK</progress>",
    "<div style='display:none'><p style='display:block!important'>MARK</p></div>",
    "<div style='opacity:.2'><div style='opacity:.2'>MARK</div></div>",
    "<div style='opacity:0'><p style='opacity:1'>MARK</p></div>",
    "<div style='font-size:0'><b>MARK</b></div>",
    "<div style='font-size:0'><b style='font-size:10em'>MARK</b></div>",
    "<div style='color:#fff'><p><b>MARK</b></p></div>",
    "<div style='visibility:hidden'><b>MARK</b></div>",
    "<div style='text-indent:-9999px'><p>MARK</p></div>",
    "<div style='-webkit-text-fill-color:transparent'><p style='color:black'>MARK</p></div>",
    "<div style='display:flex'><span style='width:0;overflow:hidden'>MARK</span></div>",
    "<span style='display:inline-block;width:0;overflow:hidden'>MARK</span>",
    "<span style='float:left;height:0;overflow:hidden'>MARK</span>",
    "<span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>MARK</span>",
    "<div style='background:rgba(0,0,0,.5)'><p style='color:#7f7f7f'>MARK</p></div>",
    "<a href=/x style='color:white'>MARK</a>",
    "<div style='--hide:none'><p style='display:var(--hide)'>MARK</p></div>",
    "<p style='display:none'/>MARK</p>",
]


@pytest.mark.parametrize("html", HIDDEN_MARKUP)
def test_markup_hides_text(html: str) -> None:
    assert "MARK" not in seen(f"{_DOCTYPE}<p>text</p>{html}")


VISIBLE_MARKUP = [
    "<p aria-hidden=true>SEEN</p>",
    "<details><summary>more</summary>SEEN</details>",
    "<dialog open>SEEN</dialog>",
    "<p hidden style='display:block'>SEEN</p>",
    "<div style='visibility:hidden'><b style='visibility:visible'>SEEN</b></div>",
    "<div style='visibility:hidden'><b style='visibility:initial'>SEEN</b></div>",
    "<div style='font-size:0'><b style='font-size:14px'>SEEN</b></div>",
    "<div style='font-size:0'><b style='font-size:medium'>SEEN</b></div>",
    "<div style='text-indent:-9999px'><p style='text-indent:0'>SEEN</p></div>",
    "<div style='background:#000'><p style='color:#fff'>SEEN</p></div>",
    "<div style='color:#fff'><a href=/x>SEEN</a></div>",
    "<div style='color:#fff'><button>SEEN</button></div>",
    "<span style='width:0;height:0;overflow:hidden'>SEEN</span>",
    "<svg width=20><text>SEEN</text></svg>",
    "<svg><text fill=black>SEEN</text></svg>",
    "<textarea>SEEN</textarea>",
    "<input value=SEEN>",
    "<img alt=SEEN>",
    "<p style='display:none;'></p>SEEN",
    "<style media=print>p{display:none}</style><p>SEEN</p>",
    "<style type=text/plain>p{display:none}</style><p>SEEN</p>",
]


@pytest.mark.parametrize("html", VISIBLE_MARKUP)
def test_markup_leaves_text_visible(html: str) -> None:
    assert "SEEN" in seen(f"{_DOCTYPE}<div>{html}</div>")


def test_page_that_waits_for_its_script_is_read_as_if_the_script_had_shown_it() -> None:
    assert seen("<style>body{opacity:0}</style><script>show()</script><p>text</p><p hidden>MARK</p>") == "text"


def test_page_that_hides_everything_without_a_script_shows_nothing() -> None:
    assert seen("<body style='display:none'><p>MARK</p>") == ""


def test_hidden_body_with_visible_parts_shows_only_those() -> None:
    html = (
        "<style>body{visibility:hidden} .x{visibility:visible}</style><script></script><p>MARK</p><p class=x>text</p>"
    )
    assert seen(html) == "text"


def test_colours_are_not_judged_where_a_sheet_is_missing_unless_one_element_has_both() -> None:
    linked = "<link rel=stylesheet href=style.css>"
    assert "SEEN" in seen(f"{linked}<p style='color:#fff'>SEEN</p>")
    assert "MARK" not in seen(f"{linked}<p style='color:#fff;background:#fff'>MARK</p>")
    assert "SEEN" in seen("<style>@import url(x.css)</style><p style='color:#fff'>SEEN</p>")


def test_rules_nested_deeper_than_any_sheet_are_skipped() -> None:
    assert (
        seen(f"<style>{'i{' * 100}display:none{'}' * 100} .x{{display:none}}</style><p>text</p><p class=x>MARK")
        == "text"
    )


def test_blocks_nested_deeper_than_any_value_are_skipped() -> None:
    style = f"left:{'(' * 100}1{')' * 100};width:{'calc(' * 100}1{')' * 100};display:none"
    assert seen(f"<p>text</p><p style='{style}'>MARK") == "text"


def test_page_of_too_many_elements_is_cut() -> None:
    page = parse_page("<p>a</p>" * 10, most_nodes=8)
    assert (page.is_cut, len(list(page.root.walk()))) == (True, 6)


def test_invisible_characters_are_stripped() -> None:
    assert seen("<p>a​b&#xE0041;&#xE0042;c&shy;d</p>") == "abcd"


def test_thousands_of_nested_elements_do_not_exhaust_the_stack() -> None:
    assert seen("<div>" * 5_000 + "<p>deep</p><p style='display:none'>MARK</p>") == "deep"
