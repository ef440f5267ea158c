"""The main text of a page comes without what stands around it."""

import pytest

from skales.tools.web.document import Part, Source, read_document

LOREM = (
    "The bridge over the river was closed on Monday, because the frost of last winter had opened a crack in its middle "
    "pillar. The town expects the repair to take until autumn, and asks drivers to take the road along the dam."
)
MORE = (
    "Engineers have known about the crack since spring, said the mayor, but nobody had expected that it would grow so "
    "fast. A second opinion, which the council asked for in May, came to the same result and named the same costs."
)
MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/sport>Sport</a></ul></nav>"
COOKIES = "<div id=cookie-banner><p>We use cookies to improve your visit. <button>Accept</button></p></div>"
FOOTER = "<footer><p>Imprint and privacy of the Daily Bridge, all rights reserved.</p></footer>"


def main_text(html: str) -> str:
    return read_document(Source(html.encode(), "text/html", "https://example.org/"), Part.MAIN).text


def page(body: str) -> str:
    return f"<!doctype html><body><header><a href=/>Daily Bridge</a></header>{MENU}{COOKIES}{body}{FOOTER}</body>"


WHOLE = f"# Bridge closed\n\n{LOREM}\n\n{MORE}"

SHAPES = {
    "article": f"<article><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></article>",
    "article in main": (
        f"<main>{MENU}<article><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></article><p>x</p></main>"
    ),
    "main": f"<main><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></main>",
    "role": f"<div role=main><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></div>",
    "item": f"<div itemprop=articleBody><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></div>",
    "teasers beside": (
        f"<article><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></article>"
        "<article><h2>Other</h2><p>Short.</p></article><article><h2>Next</h2><p>Short.</p></article>"
    ),
    "unmarked": f"<div class=content><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></div>",
    "unmarked with column": (
        f"<div class=row><div class=text><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></div>"
        "<div class=sidebar><p>Weather: rain on Tuesday, sun on Wednesday.</p></div></div>"
    ),
    "unmarked in pieces": (
        f"<div><h1>Bridge closed</h1><div><p>{LOREM}</p></div><div><p>{MORE}</p></div></div>"
        "<div><ul><li><a href=1>Long title of another story</a><li><a href=2>And another</a>"
        "<li><a href=3>Third</a></ul></div>"
    ),
    "unmarked in boxes": (
        f"<div><div><section><div><h1>Bridge closed</h1><p>{LOREM}</p><p>{MORE}</p></div></section></div></div>"
    ),
    "noise inside": (
        f"<article><h1>Bridge closed</h1><div class='share-bar social'>Share on Net</div><p>{LOREM}</p>"
        f"<aside>Advertisement</aside><p>{MORE}</p><form><input value=mail><button>Subscribe</button></form>"
        "<section class=comments><p>First!</p></section><div role=navigation>1 2 3</div></article>"
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_main_text_is_found_in_every_shape_of_page(shape: str) -> None:
    assert main_text(page(SHAPES[shape])) == WHOLE


def test_whole_page_keeps_what_the_main_text_leaves_out() -> None:
    html = page(SHAPES["article"]).encode()
    whole = read_document(Source(html, "text/html", "https://example.org/"), Part.WHOLE).text
    assert all(words in whole for words in ("[News](https://example.org/news)", "cookies", "Imprint", LOREM))


def test_heading_of_the_page_stays_although_it_stands_in_the_header() -> None:
    html = f"<header><h1>Bridge closed</h1></header><p>{LOREM}</p><p>{MORE}</p><footer>Imprint</footer>"
    assert main_text(html) == WHOLE


def test_list_of_several_articles_is_kept_whole() -> None:
    html = f"<main><article><p>{LOREM}</p></article><article><p>{MORE}</p></article></main>"
    assert main_text(page(html)) == f"{LOREM}\n\n{MORE}"


def test_several_equal_parts_without_marks_are_kept_whole() -> None:
    html = f"<body><div><p>{LOREM}</p></div><div><p>{MORE}</p></div></body>"
    assert main_text(page(html)) == f"{LOREM}\n\n{MORE}"


@pytest.mark.parametrize("tag", ["article", "header", "section", "p", "div class=menu"])
def test_deep_nesting_is_measured_in_linear_time(tag: str) -> None:
    assert main_text(f"<{tag}>" * 3_000 + LOREM) == LOREM


def test_page_of_links_is_its_own_main_text() -> None:
    text = main_text(f"<body>{MENU}</body>")
    assert text.startswith("- [Home](https://example.org/)")


def test_page_of_nothing_but_menus_is_shown_whole() -> None:
    assert main_text("<nav><p>One</p></nav><nav><p>Two</p></nav>") == "One\n\nTwo"


def test_short_page_is_shown_whole() -> None:
    assert main_text("<body><p>Closed on Sundays.</p>") == "Closed on Sundays."


def test_hidden_text_stays_hidden_in_the_main_text() -> None:
    html = f"<article><p>{LOREM}</p><p style='display:none'>MARK</p><p style='font-size:0'>MARK</p></article>"
    assert main_text(page(html)) == LOREM


def test_large_part_is_not_taken_for_a_banner_because_of_its_name() -> None:
    assert (
        main_text(f"<body><div class='promo content'><p>{LOREM}</p><p>{MORE}</p></div><p>tail</p>")
        == f"{LOREM}\n\n{MORE}"
    )


def test_empty_page_has_no_main_text() -> None:
    assert main_text("") == ""
