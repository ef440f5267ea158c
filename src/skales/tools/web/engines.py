"""The search engines as a table: how each is asked and how its answer reads. A new engine is one entry here.

Pure work on texts; making requests and choosing an engine is the business of `search`. Each base address can be
replaced by the setting `searchEngines.<engine>.baseUrl`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct

from skales.core.errors import ToolError
from skales.core.json import JsonObject, as_list, as_object, as_text, parse_json
from skales.security.invisible import strip_invisible
from skales.tools.web.charset import decode_body
from skales.tools.web.dom import Element, parse_page
from skales.tools.web.inline import bare_words

_MOST_HITS = 20
_MOST_TITLE = 200
_MOST_SNIPPET = 600
_MOST_ADDRESS = 2_000


class Hit(Struct, frozen=True):
    """One result: all of it words of strangers. `snippet` may be a passage of the page."""

    title: str
    address: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A search as an engine is asked. `is_thorough` wants more and longer results."""

    query: str
    base_url: str
    api_key: str = field(repr=False)
    is_thorough: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """What goes to an engine. Not the client's own class, which start-up has no need to load."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    method: str = "GET"
    body: bytes = b""


class Engine(Struct, frozen=True):
    """One engine. `build` makes the request, `parse` reads the body and raises ToolError when it holds no answer."""

    id: str
    label: str
    base_url: str
    needs_key: bool
    build: Callable[[Ask], Sent]
    parse: Callable[[bytes], Sequence[Hit]]


def _query(**values: str) -> str:
    """A query string; halves of characters, which no engine could read, become question marks."""
    return urlencode(values, errors="replace")


def _ask_duckduckgo(ask: Ask) -> Sent:
    headers = {"Accept": "text/html", "Accept-Language": "en;q=0.5,*;q=0.3"}
    return Sent(f"{ask.base_url}/html/?{_query(q=ask.query)}", headers)


def _read_duckduckgo(body: bytes) -> Sequence[Hit]:
    page = parse_page(decode_body(body, "text/html; charset=utf-8").text)
    elements = list(page.root.walk())
    names = {name for element in elements for name in _classes(element)}
    hits: list[Hit] = []
    for element in elements:
        if "result" in _classes(element) and "result--ad" not in _classes(element):
            hits += _read_result(element)
    if not hits and any("anomaly" in name or "challenge" in name for name in names):
        raise ToolError("It wants to see that a person is asking", code="engine_refused")
    if not hits and not names & {"no-results", "results", "result--no-result"}:
        raise ToolError("Its answer is no page of results", code="engine_failed")
    return hits


def _read_result(result: Element) -> Sequence[Hit]:
    below = list(result.walk())
    link = next((one for one in below if "result__a" in _classes(one)), None)
    snippet = next((one for one in below if "result__snippet" in _classes(one)), None)
    address = _led_to(link.attributes.get("href", "")) if link else ""
    return [Hit(bare_words(link), address, bare_words(snippet) if snippet else "")] if link and address else []


def _led_to(href: str) -> str:
    """Where a link of a results page leads behind the engine's own counting address; empty for advertisements."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.path == "/l/":
        return next(iter(parse_qs(parts.query).get("uddg", ())), "")
    return "" if parts.path.endswith("/y.js") else href


def _classes(element: Element) -> frozenset[str]:
    return frozenset(element.attributes.get("class", "").split())


def _ask_tavily(ask: Ask) -> Sent:
    wanted: JsonObject = {
        "query": ask.query,
        "search_depth": "advanced" if ask.is_thorough else "basic",
        "max_results": 15 if ask.is_thorough else 8,
    }
    headers = {
        "Authorization": f"Bearer {ask.api_key}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    body = json.dumps(wanted).encode()
    return Sent(f"{ask.base_url}/search", headers, "POST", body)


def _ask_brave(ask: Ask) -> Sent:
    query = _query(q=ask.query, count="20" if ask.is_thorough else "10", text_decorations="false")
    headers = {"X-Subscription-Token": ask.api_key, "Accept": "application/json"}
    return Sent(f"{ask.base_url}/res/v1/web/search?{query}", headers)


def _ask_searxng(ask: Ask) -> Sent:
    query = _query(q=ask.query, format="json")
    headers = {"Accept": "application/json"}
    if ask.api_key:
        headers["Authorization"] = f"Bearer {ask.api_key}"
    return Sent(f"{ask.base_url}/search?{query}", headers)


def _read_json(*place: str, snippet: str) -> Callable[[bytes], Sequence[Hit]]:
    """A reader of JSON answers whose rows stand at `place`, each with `title`, `url` and a snippet."""

    def read(body: bytes) -> Sequence[Hit]:
        try:
            answer = as_object(parse_json(body.decode("utf-8")))
        except ValueError as error:
            raise ToolError("Its answer is not JSON", code="engine_failed") from error
        *above, last = place
        if above and above[0] not in answer and answer:
            return []  # Brave leaves out the part without results
        holder = answer
        for name in above:
            holder = as_object(holder.get(name))
        if last not in holder:
            raise ToolError("Its answer holds no results", code="engine_failed")
        rows = map(as_object, as_list(holder[last]))
        return [Hit(as_text(row.get("title")), as_text(row.get("url")), as_text(row.get(snippet))) for row in rows]

    return read


ENGINES: Mapping[str, Engine] = {
    engine.id: engine
    for engine in (
        Engine("duckduckgo", "DuckDuckGo", "https://html.duckduckgo.com", False, _ask_duckduckgo, _read_duckduckgo),
        Engine(
            "tavily", "Tavily", "https://api.tavily.com", True, _ask_tavily, _read_json("results", snippet="content")
        ),
        Engine(
            "brave",
            "Brave",
            "https://api.search.brave.com",
            True,
            _ask_brave,
            _read_json("web", "results", snippet="description"),
        ),
        Engine("searxng", "SearXNG", "", False, _ask_searxng, _read_json("results", snippet="content")),
    )
}


def tidy_hits(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits that lead to a page, each address once, their texts on one line and cut to what a model needs."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        address = "".join(hit.address.split())
        if not address.lower().startswith(("http://", "https://")) or len(address) > _MOST_ADDRESS:
            continue
        kept.setdefault(address, Hit(_line(hit.title, _MOST_TITLE), address, _line(hit.snippet, _MOST_SNIPPET)))
    return list(kept.values())[:_MOST_HITS]


def _line(text: str, most: int) -> str:
    """On one line, without the marks with which engines set off the words that were looked for."""
    plain = text.replace("<strong>", "").replace("</strong>", "").replace("<b>", "").replace("</b>", "")
    shown = " ".join(strip_invisible(plain)[0].split())
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
