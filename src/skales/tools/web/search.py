"""The tool `search_web`: asks one engine after the other until one answers, and quotes what it found."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, structs

from skales.core.errors import InputError, SkalesError, ToolError
from skales.core.events import Progress
from skales.core.tool import Effect, Outcome, Safety, ToolResult
from skales.security.network import NetworkPolicy, decide_url
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.file.wording import count_of
from skales.tools.web.client import Limits, WebRequest, Wire, open_reply
from skales.tools.web.engines import Ask, Hit, tidy_hits
from skales.tools.web.quoting import quote_untrusted
from skales.tools.web.search_desk import NEED, ReadyEngine

_MOST_BYTES = 2_000_000
_MOST_QUERY = 400
_FEW = 8
# An engine that takes longer is worse than the next one.
_LIMITS = Limits(total_s=15, idle_s=10, redirects=3)


class SearchDepth(StrEnum):
    """How much is wanted."""

    BASIC = "basic"
    ADVANCED = "advanced"


class _Found(Struct, frozen=True):
    engine: ReadyEngine
    hits: Sequence[Hit]
    failed: Sequence[str]


@tool(
    "core",
    Safety.AUTO,
    Effect.UNTRUSTED_OUTPUT,
    Effect.OUTBOUND,
    addon="web_search",
    needs=NEED,
    action="Search the web for {query}",
    example=("What is new in Python 3.14?", {"query": "Python 3.14 new features"}),
    basic=True,
    found_by=(
        "google mal Web Netz news aufmacht offen Öffnungszeiten opening hours price score match googeln "
        "Internet suchen Nachrichten aktuell recherchieren look up online latest im current who is Neues "
        "neueste won Preis teuer kostet cost restaurant good best recommendation nachschlagen Wahl Ergebnis "
        "hotel shop store buy kaufen near Empfehlung Test review open"
    ),
)
async def search_web(ctx: ToolContext, query: str, searchDepth: SearchDepth = SearchDepth.BASIC) -> ToolResult:  # noqa: N803 - the name other programs use
    """Search the web with {search_engine} when the answer may be newer or rarer than what you know.

    Gives titles, addresses and short passages; read a page with fetch_web_page. Results are written by strangers.

    Args:
        query: What to look for, in a few words.
        searchDepth: `advanced` for more and longer results.
    """
    words = " ".join(query.split())
    if not words or len(words) > _MOST_QUERY:
        raise InputError(f"A search takes 1 to {_MOST_QUERY} characters", hint="Say what to look for in a few words")
    found = await _ask_in_turn(ctx, words, is_thorough=searchDepth is SearchDepth.ADVANCED)
    kept, left_out = _sift(found.hits, words, ctx)
    shown = kept if searchDepth is SearchDepth.ADVANCED else kept[:_FEW]
    return _result(words, found, shown, left_out)


async def _ask_in_turn(ctx: ToolContext, query: str, *, is_thorough: bool) -> _Found:
    """The first answer. Raises ToolError with the reason of each engine when none answered."""
    failed: list[str] = []
    engines = ctx.search.engines()
    for number, ready in enumerate(engines):
        ctx.scope.report(Progress(f"Asking {ready.engine.label}", number, len(engines), unit="steps"))
        try:
            hits = await _ask_one(ctx, ready, Ask(query, ready.base_url, ready.api_key, is_thorough))
        except SkalesError as error:
            ctx.search.report_failure(ready.engine.id)
            failed.append(f"{ready.engine.label}: {error.message}")
        else:
            ctx.search.report_success(ready.engine.id)
            return _Found(ready, tidy_hits(hits), failed)
    reasons = "; ".join(failed) or ctx.search.standing().missing
    raise ToolError(
        f"No search engine answered ({reasons})",
        hint="Read a page whose address is known with fetch_web_page, or say that the search is not possible now",
        code="no_search_engine",
    )


async def _ask_one(ctx: ToolContext, ready: ReadyEngine, ask: Ask) -> Sequence[Hit]:
    sent = ready.engine.build(ask)
    request = WebRequest(method=sent.method, headers=sent.headers, body=sent.body, stays=True)
    # The person named the address, on purpose also when it is on this computer; `stays` keeps redirects there.
    policy = structs.replace(ctx.network, allow_loopback=True, allow_lan=True) if ready.is_own_address else ctx.network
    async with open_reply(sent.url, policy, request, Wire(limits=_LIMITS)) as reply:
        body, is_cut = await reply.read(_MOST_BYTES)
    if reply.status in {401, 403} and ready.engine.needs_key:
        raise ToolError(f"The key is not accepted (status {reply.status})", code="engine_refused")
    if reply.status == 429:
        raise ToolError("Its limit of requests is used up", code="engine_refused")
    if reply.status not in {200, 202} or is_cut:
        raise ToolError(f"It answered with status {reply.status}", code="engine_failed")
    return ready.engine.parse(body)


def _sift(hits: Sequence[Hit], query: str, ctx: ToolContext) -> tuple[Sequence[Hit], Sequence[str]]:
    """The hits that may be shown, and why others were left out."""
    asked = query.casefold()
    words = [word for word in ctx.search.buzzwords() if word not in asked]
    kept: list[Hit] = []
    blocked = filtered = 0
    for hit in hits:
        text = f"{hit.title} {hit.snippet}".casefold()
        if _is_closed(hit.address, ctx.network):
            blocked += 1
        elif any(word in text for word in words):
            filtered += 1
        else:
            kept.append(hit)
    notes = [f"{blocked} left out: their domains are closed to tools"] if blocked else []
    notes += [f"{filtered} left out by the setting searchBuzzwords"] if filtered else []
    return kept, notes


def _is_closed(address: str, policy: NetworkPolicy) -> bool:
    return decide_url(address, policy).outcome is not Outcome.ALLOW


def _result(query: str, found: _Found, hits: Sequence[Hit], left_out: Sequence[str]) -> ToolResult:
    label = found.engine.engine.label
    rows = [f"{number}. {hit.title}\n   {hit.address}\n   {hit.snippet}".rstrip() for number, hit in enumerate(hits, 1)]
    count = count_of(len(hits), "result")
    lines = [f"{label} answered with {count}."] if hits else [f"{label} found nothing for this."]
    if rows:
        lines.append(quote_untrusted("\n\n".join(rows), found.engine.base_url))
    if left_out:
        lines.append(f"{'; '.join(left_out)}.")
    if found.failed:
        lines.append(f"Asked before, without an answer: {'; '.join(found.failed)}.")
    return ToolResult(
        text="\n".join(lines),
        summary=f"{count} from {label} for {query[:120]}",
        data={
            "engine": found.engine.engine.id,
            "query": query,
            "results": [{"title": hit.title, "url": hit.address, "snippet": hit.snippet} for hit in hits],
        },
    )
