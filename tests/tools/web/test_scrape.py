"""web_scrape and content_from_url: rows and key points of real pages, without what nobody sees."""

import pytest

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.json import JsonValue, as_list, as_object
from skales.core.tool import Effect, Safety, ToolResult, property_formats
from skales.tools.registry import BuiltinToolbox
from skales.tools.web.gist import choose_points, split_sentences
from tests.conftest import CASES
from tests.tools.conftest import Call
from tests.tools.web.conftest import LocalServer, reply

pytestmark = pytest.mark.anyio

PRICES = """<!doctype html><title>Prices</title><nav><a href=/home>Home</a></nav>
<table class=prices><caption>Prices in May</caption><tr><th>Article<th>Price</tr><tr><td>Tea<td>3 | 4 €</tr>
<tr><td>Coffee<td><span style="display:none">999</span>5 €</tr><tr><td rowspan=2>Cake<td>small 2 €</tr><tr><td>large 4 €
</table><table role=presentation><tr><td>layout</table>
<ul><li class=card><h2><a href="/a">First</a></h2><span class=by>Ana</span></li>
<li class=card><h2><a href="b?x=1#y">Second</a></h2></li>
<li class=card style="display:none"><h2><a href="/hidden">Hidden</a></h2></li></ul>
<a href="javascript:alert(1)">No</a> <a href="https://other.example/"><img src=i.png alt="A picture"></a>"""


@pytest.fixture
def prices(server: LocalServer) -> str:
    return server.page("/shop/", PRICES)


def sheet(result: ToolResult, number: int = 0) -> list[JsonValue]:
    return list(as_list(as_object(as_list(as_object(result.data)["sheets"])[number])["rows"]))


@pytest.mark.parametrize("name", ["web_scrape", "content_from_url"])
def test_reading_parts_of_a_page_is_automatic_outbound_and_untrusted(toolbox: BuiltinToolbox, name: str) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.addon) == ("web", Safety.AUTO, "")
    assert spec.effects == {Effect.OUTBOUND, Effect.UNTRUSTED_OUTPUT}
    assert property_formats(spec)["url"] == "uri"


async def test_tables_become_rows_without_hidden_text_and_layout(prices: str, call: Call) -> None:
    result = await call("web_scrape", url=prices)
    assert sheet(result) == [
        {"Article": "Tea", "Price": "3 | 4 €"},
        {"Article": "Coffee", "Price": "5 €"},
        {"Article": "Cake", "Price": "small 2 €"},
        {"Article": "", "Price": "large 4 €"},
    ]
    assert len(as_list(as_object(result.data)["sheets"])) == 1
    assert "Prices in May\n\n| Article | Price |\n| --- | --- |\n| Tea | 3 \\| 4 € |" in result.text
    assert "999" not in result.text
    assert result.summary == "4 rows from Prices"


@pytest.mark.parametrize(("rows", "summary"), [(1, "1 row from Tea"), (2, "2 rows from Tea")])
async def test_rows_are_counted_in_words(server: LocalServer, call: Call, rows: int, summary: str) -> None:
    table = "<table><tr><th>Article<th>Price</tr>" + "<tr><td>Tea<td>3 €</tr>" * rows
    url = server.page("/tea/", f"<!doctype html><title>Tea</title>{table}</table>")
    assert (await call("web_scrape", url=url)).summary == summary


async def test_links_come_with_their_whole_address(prices: str, server: LocalServer, call: Call) -> None:
    result = await call("web_scrape", url=prices, what="links")
    assert sheet(result) == [
        {"text": "Home", "address": server.url("/home")},
        {"text": "First", "address": server.url("/a")},
        {"text": "Second", "address": server.url("/shop/b?x=1#y")},
        {"text": "A picture", "address": "https://other.example/"},
    ]
    within = await call("web_scrape", url=prices, what="links", selector="nav, .nothing")
    assert len(sheet(within)) == 1


async def test_fields_are_read_row_by_row(prices: str, server: LocalServer, call: Call) -> None:
    fields: JsonValue = {"title": "h2", "link": "h2 > a@href", "by": ".by", "class": "@class"}
    result = await call("web_scrape", url=prices, what="fields", selector="li.card", fields=fields)
    assert sheet(result) == [
        {"title": "First", "link": server.url("/a"), "by": "Ana", "class": "card"},
        {"title": "Second", "link": server.url("/shop/b?x=1#y"), "by": "", "class": "card"},
    ]


async def test_fields_without_rows_are_columns_of_the_whole_page(prices: str, call: Call) -> None:
    result = await call("web_scrape", url=prices, fields={"price": "table.prices td:nth-child(2)", "by": "span.by"})
    assert sheet(result)[0] == {"price": "3 | 4 €", "by": "Ana"}
    assert sheet(result)[1] == {"price": "5 €", "by": ""}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"what": "fields"}, "needs `fields`"),
        ({"selector": "tr:nope("}, "not a CSS selector"),
        ({"selector": "a { color: red }"}, "not a CSS selector"),
        ({"selector": "@import url(x)"}, "not a CSS selector"),
        ({"selector": "h2,,h3"}, "not a CSS selector"),
        ({"fields": {"a": ""}}, "has no selector"),
        ({"fields": {"a": 7}}, "has no selector"),
        ({"fields": {"a": "div["}}, "not a CSS selector"),
        ({"selector": "a" * 10_000_000}, "at most 2,000 characters"),
        ({"fields": {"a": "a" * 2_001}}, "at most 2,000 characters"),
        ({"fields": {str(number): "p" for number in range(31)}}, "At most 30 fields"),
    ],
)
async def test_order_that_is_none_is_refused_before_anything_is_fetched(
    prices: str, server: LocalServer, call: Call, arguments: dict[str, JsonValue], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        await call("web_scrape", url=prices, **arguments)
    assert server.requests == []


async def test_selector_with_an_at_sign_in_it_is_no_attribute(server: LocalServer, call: Call) -> None:
    url = server.page("/", '<p title="a@b">mail</p><p title="c">none</p>')
    result = await call("web_scrape", url=url, fields={"t": 'p[title="a@b"]', "u": 'p[title="a@b"]@title'})
    assert sheet(result) == [{"t": "mail", "u": "a@b"}]


async def test_nothing_of_the_kind_is_said_plainly(prices: str, call: Call) -> None:
    result = await call("web_scrape", url=prices, selector=".nothing")
    assert result.text == f"Nothing of the kind is on {prices} (looked for: tables)."


async def test_rows_beyond_the_most_are_counted(server: LocalServer, call: Call) -> None:
    rows = "".join(f"<tr><td>{number}<td>x" for number in range(700))
    url = server.page("/", f"<table><tr><th>n<th>x{rows}</table>")
    result = await call("web_scrape", url=url)
    assert len(sheet(result)) == 500
    assert "200 more rows are not shown." in result.text


@pytest.mark.parametrize(
    ("body", "kind", "status", "message"),
    [
        (b"{}", "application/json", "200 OK", "is no web page"),
        (b"plain words", "text/plain", "200 OK", "is no web page"),
        (b"%PDF-1.7", "application/pdf", "200 OK", "a PDF document"),
        (b"<p>gone", "text/html", "404 Not Found", "answered 404 Not Found"),
    ],
)
@pytest.mark.parametrize("name", ["web_scrape", "content_from_url"])
async def test_what_is_no_page_is_an_error(  # noqa: PLR0913 - a table and its fixtures
    server: LocalServer, call: Call, name: str, body: bytes, kind: str, status: str, message: str
) -> None:
    server.answers["/"] = reply(body, kind, status)
    with pytest.raises(ToolError, match=message):
        await call(name, url=server.url())


async def test_hidden_text_of_the_injection_case_is_in_no_row_and_no_point(server: LocalServer, call: Call) -> None:
    server.answers["/"] = reply((CASES / "injection" / "INJ-01-hidden-text.html").read_bytes())
    scraped = await call("web_scrape", url=server.url(), fields={"all": "body *"})
    gist = await call("content_from_url", url=server.url())
    assert "MARK-VISIBLE" in scraped.text
    for text in (scraped.text, gist.text):
        assert "MARK-DISPLAY" not in text


async def test_hidden_text_is_counted_where_pages_are_read(server: LocalServer, call: Call) -> None:
    url = server.page(
        "/", '<p>Shown.</p><p style="display:none">Twelve chars</p><script>x()</script><p>a\u200b\u200bb</p>'
    )
    result = await call("fetch_web_page", url=url)
    assert "Left out: 14 characters that no reader of the page can see." in result.text
    assert as_object(result.data)["hidden_characters"] == 14
    clean = await call("fetch_web_page", url=server.page("/clean", "<p>Shown.</p><style>p{}</style>"))
    assert "Left out" not in clean.text


async def test_forbidden_address_is_refused(call: Call) -> None:
    with pytest.raises(ToolRefusedError):
        await call("web_scrape", url="http://169.254.169.254/latest/")


# --- content_from_url ----------------------------------------------------------------------------------------------

ARTICLE = """<!doctype html><html lang=en><head><title>Bridge closed | The Daily</title>
<meta property="og:title" content="Old bridge closed after frost"><meta property="og:site_name" content="The Daily">
<meta name="author" content="Ana Roth"><meta property="article:published_time" content="2026-11-02">
<meta property="og:image" content="/img/bridge.jpg"><meta name="description" content="A crack was found.">
</head><body><nav>Menu menu menu</nav><article><h1>Old bridge closed</h1>
<p>The old bridge over the river was closed on Monday after frost had opened a crack in its middle pillar.</p>
<p>Engineers found the crack in the pillar of the old bridge during a yearly inspection by boat. It was raining.</p>
<p>The city wants to repair the bridge before Easter, which will cost about two million euros.</p>
<p>Meanwhile a ferry carries people across the river from six in the morning until ten at night.</p>
<p>The old bridge over the river was closed on Monday after frost opened a crack in the middle pillar.</p>
</article></body></html>"""


async def test_gist_has_the_pages_own_words(server: LocalServer, call: Call) -> None:
    url = server.page("/news/1", ARTICLE)
    result = await call("content_from_url", url=url, points=3)
    data = as_object(result.data)
    assert data["title"] == "Old bridge closed after frost"
    assert data["image"] == server.url("/img/bridge.jpg")
    assert (data["site"], data["author"], data["published"]) == ("The Daily", "Ana Roth", "2026-11-02")
    assert data["description"] == "A crack was found."
    points = [str(point) for point in as_list(data["points"])]
    assert len(points) == 3
    assert points[0].startswith("The old bridge over the river was closed on Monday")
    assert all(point in ARTICLE for point in points)
    assert sum("closed on Monday" in point for point in points) == 1
    assert "Menu" not in result.text
    assert result.text.count("</untrusted_content>") == 1


async def test_page_without_marks_gives_title_and_picture_of_its_text(server: LocalServer, call: Call) -> None:
    url = server.page(
        "/x/", "<title>Plain</title><img src=icon.png width=16 height=16><p>Words.</p><img src=big.png width=800>"
    )
    data = as_object((await call("content_from_url", url=url)).data)
    assert (data["title"], data["image"], data["points"]) == ("Plain", server.url("/x/big.png"), [])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Dr. B. Smith of the 3. Regiment arrived in the town on Monday. He left the town again on Tuesday morning.",
            2,
        ),
        ("Die alte Brücke wurde am Montag gesperrt, weil sie Risse hat. Über den Fluss fährt jetzt eine Fähre.", 2),
        ("Too short. Also short.", 0),
        ("x" * 500, 0),
    ],
)
def test_sentences_are_told_apart(text: str, sentences: int) -> None:
    found = split_sentences([text])
    assert len(found) == sentences, found


def test_points_stand_in_the_order_of_the_text() -> None:
    sentences = [f"Sentence number {word} says something about rivers and {word} things." for word in ("one", "two")]
    other = "Completely different matters concern the mountains in winter time."
    assert choose_points([other, *sentences], "Rivers", 2) == (other, sentences[0])
