"""Selectors of a page's own sheets mean what they mean in a browser. The expectations were checked in Chromium."""

import pytest

from skales.core.errors import ToolError
from skales.tools.web.css import parse_stylesheet
from skales.tools.web.document import Part, Source, read_document
from skales.tools.web.dom import parse_page
from skales.tools.web.matching import Matcher
from skales.tools.web.selectors import parse_selectors

PAGE = """<!doctype html><html lang="en-GB"><head><style>{rule}</style></head><body id="top">
<ul class="menu Big"><li>A1<li class="x y">A2<li>A3<li>A4</ul>
<section data-kind="News-Item big" title="he said &quot;hi&quot;">
<p>B1</p><p id="two">B2 <b>B3</b></p><span></span><p>B4</p></section>
<div lang="de"><a href="/x">C1</a> <a>C2</a> <input disabled value="C3"><input value="C4" required TYPE="Text"></div>
<article><h2>D1</h2><p>D2</p><div><p>D3</p><section><p>D4</p></section></div></article>
<custom-box>E1</custom-box><details open><summary>E2</summary></details>
</body></html>"""
WORDS = ["A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4", "C1", "C2", "C3", "C4", "D1", "D2", "D3", "D4", "E1", "E2"]


def hidden_by(rule: str) -> str:
    source = Source(PAGE.replace("{rule}", rule).encode(), "text/html", "https://example.org/")
    text = read_document(source, Part.WHOLE).text
    return " ".join(word for word in WORDS if word not in text)


SELECTORS = {
    "li": "A1 A2 A3 A4",
    "LI": "A1 A2 A3 A4",
    ".x": "A2",
    ".x.y": "A2",
    ".x.z": "",
    ".X": "",
    ".Big li": "A1 A2 A3 A4",
    ".big li": "",
    "#two": "B2 B3",
    "p#two b": "B3",
    "#two > b, .x": "A2 B3",
    "section>p": "B1 B2 B3 B4 D4",
    "body > p": "",
    "article p": "D2 D3 D4",
    "article > p": "D2",
    "article div section p": "D4",
    "section section p": "",
    "h2 + p": "D2",
    "h2 + p + div p": "D3 D4",
    "h2 + div p": "",
    "h2 ~ div": "D3 D4",
    "#two ~ p": "B4",
    "#two + p": "",
    "p + span + p": "B4",
    "*|li.x": "A2",
    "|li": "",
    "svg|li": "",
    "b *": "",
    "[href]": "C1",
    "a[href='/x']": "C1",
    "[data-kind]": "B1 B2 B3 B4",
    "[data-kind~=big] b": "B3",
    "[data-kind^='News'] b": "B3",
    "[data-kind$=big] b": "B3",
    "[data-kind*='-It'] b": "B3",
    "[data-kind*=''] b": "",
    "[data-kind='news-item BIG' i] b": "B3",
    "[data-kind='news-item BIG'] b": "",
    "[data-kind|=News] b": "B3",
    "[*|href]": "C1",
    "[*|href='/x']": "C1",
    "[|href]": "C1",
    "[svg|href]": "",
    "[href foo]": "",
    "a:matches": "",
    "li:not(:unheard-of)": "",
    "li:has(:unheard-of)": "",
    ":is() li": "",
    "a" + " > a" * 101: "",
    "[title='he said \"hi\"'] b": "B3",
    "[type=text]": "C4",
    "[ lang |= 'en' ] .x": "A2",
    "li:first-child": "A1",
    "li:last-child": "A4",
    "li:nth-child(2)": "A2",
    "li:nth-child(odd)": "A1 A3",
    "li:nth-child( 2n )": "A2 A4",
    "li:nth-child(even)": "A2 A4",
    "li:nth-child(2n + 3)": "A3",
    "li:nth-child(-n+2)": "A1 A2",
    "li:nth-child(n)": "A1 A2 A3 A4",
    "li:nth-last-child(1)": "A4",
    "li:nth-last-child(-n + 2)": "A3 A4",
    "p:nth-of-type(2)": "B2 B3",
    "p:nth-last-of-type(1)": "B4 D2 D3 D4",
    "section > p:last-of-type": "B4 D4",
    "p:first-of-type": "B1 D2 D3 D4",
    "h2:only-of-type": "D1",
    "p:only-of-type": "D2 D3 D4",
    "p:only-child": "D4",
    "li:nth-child(1 of .x)": "A2",
    "li:nth-last-child(1 of :not(.x))": "A4",
    ":root > body > ul": "A1 A2 A3 A4",
    "html:nth-child(1)": "",
    "span:empty + p": "B4",
    "p:empty": "",
    "li:not(.x)": "A1 A3 A4",
    "li:not(.x, :first-child)": "A3 A4",
    ":is(h2, summary)": "D1 E2",
    ":where(#two, .x) ": "A2 B2 B3",
    ":is(h2, :unheard-of)": "D1",
    "li:matches(.x)": "",
    "li:-webkit-any(.x)": "A2",
    "ul:has(.x)": "A1 A2 A3 A4",
    "section:has(> b)": "",
    "section:has(b)": "B1 B2 B3 B4",
    "p:has(+ span)": "B2 B3",
    "p:has(~ span)": "B1 B2 B3",
    "li:has(+ .x, ~ :last-child)": "A1 A2 A3",
    "div:has(> section > p)": "D3 D4",
    "a:link": "C1",
    "a:any-link": "C1",
    "input:disabled": "C3",
    "input:enabled": "C4",
    "input:required": "C4",
    "input:optional": "C3",
    "details:open": "E2",
    "li:nth-child(2n+1)": "A1 A3",
    "li:nth-child(+3)": "A3",
    "li:nth-child(-2n + 3)": "A1 A3",
    "li:nth-child(3n - 1)": "A2",
    "li:nth-child(3n-1)": "A2",
    "li:nth-child(+n+3)": "A3 A4",
    "body:has(article > div p) h2": "D1",
    "body:has(h2 + div p) h2": "",
    "body:has(section + p) h2": "",
    "ul:has(+ section > #two) .x": "A2",
    "li:checked": "",
    "div:lang(de)": "C1 C2 C3 C4",
    "li:lang(en)": "A1 A2 A3 A4",
    "li:lang(fr)": "",
    "li:hover": "",
    "li:not(:hover)": "A1 A2 A3 A4",
    "li::before": "",
    "li:first-line": "",
    "li:unheard-of": "",
    ".x, li:unheard-of": "",
    "li:nth-child(nonsense)": "",
    "li:hover(2)": "",
    "li >": "",
    "> li": "",
    "li > > b": "",
    "li..x": "",
    "[data-kind=5] b": "",
    "[=x] b": "",
    "": "",
    r".\78": "A2",
    "/**/.x/**/": "A2",
    "li :not(b)": "",
}


@pytest.mark.parametrize(("selector", "hidden"), SELECTORS.items())
def test_selector_hides_what_it_means(selector: str, hidden: str) -> None:
    assert hidden_by(f"{selector} {{display:none}}") == hidden


SHEETS = {
    ".x{display:none} .x{display:list-item}": "",
    ".x{display:list-item} .x{display:none}": "A2",
    "li.x{display:none} .x{display:list-item}": "A2",
    "#two{display:none} p.p,p{display:block}": "B2 B3",
    ".x{display:none!important} li.x{display:list-item}": "A2",
    ":where(.x){display:none} li{display:list-item}": "",
    ":is(#none, .x){display:none} .y.y{display:list-item}": "A2",
    "@media print{.x{display:none}}": "",
    "@media screen{.x{display:none}}": "A2",
    "@media all and (min-width:600px){.x{display:none}}": "A2",
    "@media (max-width:600px){.x{display:none}}": "",
    "@media (max-width:600px), screen{.x{display:none}}": "A2",
    "@media not print{.x{display:none}}": "A2",
    "@media only screen and (min-width:30em) and (orientation:landscape){.x{display:none}}": "A2",
    "@media (width >= 400px){.x{display:none}}": "A2",
    "@media (400px <= width <= 900px){.x{display:none}}": "",
    "@media (width > 400px) and (height < 5000px){.x{display:none}}": "A2",
    "@media (width = 3px){.x{display:none}}": "",
    "@media (width < 3px){.x{display:none}}": "",
    "@media (3px width){.x{display:none}}": "",
    "@media (){.x{display:none}}": "",
    "@media (width ? 3px){.x{display:none}}": "",
    "@media (unheard-of > 3px){.x{display:none}}": "",
    "@media (hover){.x{display:none}}": "A2",
    "@media (hover:none){.x{display:none}}": "",
    "@media (not (hover:none)){.x{display:none}}": "A2",
    "@media (pointer:fine) or (max-width:3px){.x{display:none}}": "A2",
    "@media (prefers-color-scheme:dark){.x{display:none}}": "",
    "@media (prefers-color-scheme:light){.x{display:none}}": "A2",
    "@media (unheard-of:3){.x{display:none}}": "",
    "@media ((min-width:5px)){.x{display:none}}": "A2",
    "@media screen{@media (min-width:5px){.x{display:none}}}": "A2",
    "@supports (display:grid){.x{display:none}}": "A2",
    "@supports not (display:grid){.x{display:none}}": "",
    "@supports (-moz-appearance:none){.x{display:none}}": "",
    "@layer a{.x{display:none}} li{display:list-item}": "",
    "@layer a{.x{display:none!important}} li.x.y{display:list-item!important}": "A2",
    "@layer a, b;.x{display:none}": "A2",
    "@keyframes k{from{display:none}} .x{animation:k}": "",
    "@font-face{font-family:x} .x{display:none}": "A2",
    "@import 'a.css';.x{display:none}": "A2",
    "ul{.x{display:none}}": "A2",
    "ul{& .x{display:none}}": "A2",
    "ul{&.Big{.x{display:none}}}": "A2",
    "ul{> .x{display:none}}": "A2",
    ".x{ul &{display:none}}": "A2",
    "ul{@media screen{.x{display:none}}}": "A2",
    ".x{@media screen{display:none}}": "A2",
    "ul, section{b{display:none}}": "B3",
    "& .x{display:none}": "A2",
    "}.x{display:none}": "",
    "<!-- .x{display:none} -->": "A2",
    ".x{color:red;;display:none;}": "A2",
    ".x{color:{red};display:none}": "A2",
    ".x{display:none": "A2",
    ".x{*zoom:1;display:none}": "A2",
    "a:hover{color:red} .x{display:none}": "A2",
}


@pytest.mark.parametrize(("sheet", "hidden"), SHEETS.items())
def test_sheet_hides_what_it_means(sheet: str, hidden: str) -> None:
    assert hidden_by(sheet) == hidden


def test_elements_of_a_script_count_as_defined() -> None:
    # A page at rest in Chromium without its script would hide them; with it, readers see them.
    assert hidden_by("custom-box:not(:defined) {display:none}") == ""


def test_names_match_in_any_case_without_a_doctype() -> None:
    def text(html: str) -> str:
        return read_document(Source(html.encode(), "text/html", "https://example.org/"), Part.WHOLE).text

    page = "<style>.zz,#TOP{display:none}</style><p class=ZZ>1</p><p id=top>2</p><p>3</p>"
    assert text(page) == "3"
    assert text(f"<!doctype html>{page}") == "1\n\n2\n\n3"


@pytest.mark.parametrize(
    "sheet",
    [
        "q div div div div div p{display:none}",
        "q ~ div ~ div ~ div ~ p{display:none}",
        "div:has(div:has(div:has(q))){display:none}",
        ":is(div div) :is(div div) :is(q div){display:none}",
        "q div:nth-child(2n+1) :not(div:nth-last-of-type(3)) p{display:none}",
        "div:only-of-type :lang(de) p{display:none}",
    ],
)
def test_hostile_selectors_on_deep_pages_are_judged_in_linear_time(sheet: str) -> None:
    page = f"<style>{sheet}</style>" + "<div>" * 2_000 + "<p>text</p>"
    source = Source(page.encode(), "text/html", "https://example.org/")
    assert read_document(source, Part.WHOLE).text == "text"


def test_page_with_too_many_declarations_for_its_size_is_refused() -> None:
    page = "<style>i{" + "left:0;" * 3_000 + "}</style>" + "<i></i>" * 1_001
    with pytest.raises(ToolError, match="too complicated"):
        read_document(Source(page.encode(), "text/html", "https://example.org/"), Part.WHOLE)


def test_page_whose_rules_take_too_many_steps_is_refused() -> None:
    matcher = Matcher(parse_page("<i></i>" * 10), most_steps=40)
    selector = parse_selectors(parse_stylesheet(":not(q){}")[0].prelude)[0]
    assert len(matcher.select(selector)) == 13
    with pytest.raises(ToolError, match="too complicated"):
        matcher.select(selector)
