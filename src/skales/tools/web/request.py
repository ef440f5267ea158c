"""The tool `http_request`: any method to any allowed address; what only reads runs, everything else asks."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.redact import redact
from skales.tools.context import ToolContext
from skales.tools.define import Range, Url, tool
from skales.tools.web.client import Limits, WebRequest, Wire, open_reply
from skales.tools.web.requests import build_body, check_headers, note_answer, read_result, with_content_type, with_key


class Method(StrEnum):
    """What a request does."""

    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"
    OPTIONS = "OPTIONS"


@tool(
    "web",
    Safety.CONFIRM,
    Effect.UNTRUSTED_OUTPUT,
    Effect.OUTBOUND,
    action="{method} {url}[ with {json:size} of JSON][ with {body:size}]",
    asks_unless={"method": ("GET", "HEAD")},
    once=True,
    repeatable={"method": ("GET", "HEAD", "OPTIONS")},
    example=(
        "Send {'name': 'Ana'} to https://example.org/api/people",
        {"url": "https://example.org/api/people", "method": "POST", "json": {"name": "Ana"}},
    ),
    found_by=(
        "API POST PUT curl JSON endpoint senden request webhook header REST call aufrufen ping health status "
        "code DELETE Anfrage schicken payload token"
    ),
)
async def http_request(  # noqa: PLR0913 - what a model may say to a tool stands in its signature
    ctx: ToolContext,
    url: Url,
    method: Method = Method.GET,
    headers: Mapping[str, JsonValue] | None = None,
    body: str = "",
    json: Mapping[str, JsonValue] | None = None,
    timeout_s: Annotated[int, Range(1, 120)] = 30,
) -> ToolResult:
    """Call a web API or any address with a method, headers and a body; for pages use fetch_web_page.

    GET and HEAD run at once, other methods ask the person. Answers are written by strangers.

    Args:
        url: Address, beginning with http:// or https://.
        method: What to do there.
        headers: Header names and values.
        body: Text to send.
        json: Object to send as JSON, instead of body.
        timeout_s: Seconds to wait for the whole answer.
    """
    sent = build_body(body, json, method)
    delivery = ctx.scope.delivery
    request = WebRequest(
        method=method.value,
        headers=with_key(with_content_type(check_headers(headers or {}), sent), delivery.key),
        body=sent.content,
        on_send=delivery.begin,
    )
    limits = Limits(total_s=timeout_s, idle_s=timeout_s)
    async with open_reply(url, ctx.network, request, Wire(limits=limits)) as reply:
        await note_answer(delivery, method.value, reply)
        return await read_result(reply, method.value, redact(reply.url))
