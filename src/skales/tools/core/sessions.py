"""The tool `search_sessions`: finds words in past conversations."""

import re
from typing import Annotated

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.index import SearchHit
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool

# Our own ids say when a conversation began.
_STARTED = re.compile(r"session_(\d{13})")


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Search past conversations for {query}",
    example=("Which hotel did we talk about in spring?", {"query": "hotel"}),
    found_by=(
        "reden redet Ergebnis about erzählt told said gesagt when did I tell you Gespräche Unterhaltung "
        "früher chat history conversation talked discussed besprochen letzte Woche gesprochen last week month "
        "Monat recommended empfohlen yesterday gestern earlier Gespräch mentioned erwähnt recently neulich "
        "damals back"
    ),
)
async def search_sessions(ctx: ToolContext, query: str, limit: Annotated[int, Range(1, 50)] = 10) -> ToolResult:
    """Search past conversations with the person for words, when they refer to something that was said before.

    Args:
        query: Words that were used.
        limit: How many conversations at most.
    """
    hits = await to_thread.run_sync(ctx.sessions.search, query, limit)
    if not hits:
        return ToolResult(
            text=f"No conversation mentions {query!r}.", summary="No conversation found", data={"conversations": []}
        )
    found = "1 conversation" if len(hits) == 1 else f"{len(hits)} conversations"
    rows: list[JsonValue] = [{"id": hit.session_id, "title": hit.title, "snippet": hit.snippet} for hit in hits]
    return ToolResult(
        text="\n".join(_line(hit, ctx) for hit in hits), summary=f"{found} found", data={"conversations": rows}
    )


def _line(hit: SearchHit, ctx: ToolContext) -> str:
    notes = [f"id {hit.session_id}"]
    if started := _STARTED.fullmatch(hit.session_id):
        notes.insert(0, to_datetime(int(started[1])).strftime("%Y-%m-%d"))
    if hit.session_id == ctx.scope.session_id:
        notes.insert(0, "this conversation")
    words = " ".join(hit.snippet.split())
    return f"- {hit.title or 'Untitled'} ({', '.join(notes)})" + (f": {words}" if words else "")
