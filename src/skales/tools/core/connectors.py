"""The tools `connector_request` and `create_connector`: services that a person set up, called without showing keys.

A request stays below the connector's base address, whatever the path says, and its secret is put in here, where no
model sees it. Spec: integrations.md, "API connector".
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from urllib.parse import quote, unquote, urlencode, urlsplit

from anyio import to_thread
from msgspec import structs

from skales.core.errors import InputError, ToolError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.connectors import AuthKind, Connector, ConnectorAuth
from skales.security.network import parse_url
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.web.client import WebRequest, open_reply
from skales.tools.web.requests import build_body, note_answer, read_result, with_content_type, with_key

NEED = "connector"
_MASK = "***"
_LEAST_MASKED = 4
_MOST_PATH = 4_000
_DECODINGS = 5
_PATH_SAFE = "%/:@!$&'()*+,;=~"


class ConnectorMethod(StrEnum):
    """What a request does."""

    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    Effect.OUTBOUND,
    needs=NEED,
    action="{method} {path} at the connector {connector}[ with {body:size}]",
    asks_unless={"method": ("GET", "HEAD")},
    once=True,
    repeatable={"method": ("GET", "HEAD")},
    example=("Which contacts are in the CRM?", {"connector": "crm", "path": "/contacts"}),
    found_by=(
        "API REST Schnittstelle CRM service abfragen endpoint call company eingerichtet Jira Tickets Shop "
        "Kunden customers orders fetch connected set"
    ),
)
async def connector_request(  # noqa: PLR0913 - what a model may say to a tool stands in its signature
    ctx: ToolContext,
    connector: str,
    path: str,
    method: ConnectorMethod = ConnectorMethod.GET,
    query: Mapping[str, JsonValue] | None = None,
    body: Mapping[str, JsonValue] | None = None,
) -> ToolResult:
    """Call a REST service that the person set up: {connector}. It signs in by itself.

    GET and HEAD run at once, other methods ask the person.

    Args:
        connector: Which one.
        path: Path below its base address, as in /contacts/7.
        method: What to do there.
        query: Values behind the question mark.
        body: Object to send as JSON.
    """
    chosen = await to_thread.run_sync(ctx.connectors.get, connector)
    if method.value not in chosen.methods:
        raise ToolError(
            f"The connector {chosen.id!r} does not allow {method}",
            hint=f"It allows {', '.join(chosen.methods)}; the person can change that",
            code="method_not_allowed",
        )
    shown = build_address(chosen, path, query or {})
    sent = build_body("", body, method)
    headers = {"Accept": "application/json, */*;q=0.5", **chosen.headers}
    address, signed = sign_in(chosen.auth, shown, headers)
    delivery = ctx.scope.delivery
    request = WebRequest(
        method=method.value,
        headers=with_key(with_content_type(signed, sent), delivery.key),
        body=sent.content,
        stays=True,
        on_send=delivery.begin,
    )
    # The person named the address, on purpose also when it is on this computer; `stays` keeps redirects there.
    policy = structs.replace(ctx.network, allow_loopback=True, allow_lan=True)
    async with open_reply(address, policy, request) as reply:
        await note_answer(delivery, method.value, reply)
        result = await read_result(reply, method.value, shown)
    return _without_secret(result, chosen.auth)


@tool(
    "core",
    Safety.MANUAL,
    Effect.WRITES,
    action="Set up the connector {name} for {base_url}",
    example=(
        "Set up my CRM at https://crm.example.org/api",
        {"name": "crm", "base_url": "https://crm.example.org/api"},
    ),
    found_by=(
        "API einrichten Schnittstelle REST service define connect neue Verbindung hook integrate anbinden "
        "anschließen einbinden Dienst Warenwirtschaft register"
    ),
)
async def create_connector(  # noqa: PLR0913 - what a person may say to a tool stands in its signature
    ctx: ToolContext,
    name: str,
    base_url: str,
    auth: AuthKind = AuthKind.NONE,
    auth_name: str = "",
    allowed_methods: Sequence[str] = ("GET",),
    headers: Mapping[str, str] | None = None,
) -> ToolResult:
    """Set up a REST service for connector_request. Its key is put in by the person, never here.

    Args:
        name: What to call it.
        base_url: Where all its addresses begin.
        auth: How it signs in.
        auth_name: User name for basic, else the name of the header or query parameter.
        allowed_methods: Methods that may be used.
        headers: Headers for every request, without secrets.
    """
    wanted = Connector(
        id="",
        name=name,
        base_url=base_url,
        auth=ConnectorAuth(kind=auth, name=auth_name),
        headers={key: str(value) for key, value in (headers or {}).items()},
        methods=tuple(allowed_methods),
    )
    made = await to_thread.run_sync(ctx.connectors.add, wanted)
    more = "" if auth is AuthKind.NONE else f" Its secret is still missing: run `skales connectors secret {made.id}`."
    return ToolResult(
        text=f"The connector {made.id} is set up for {made.base_url} ({', '.join(made.methods)}).{more}",
        summary=f"Set up the connector {made.id}",
        data={"id": made.id, "base_url": made.base_url},
    )


def build_address(connector: Connector, path: str, query: Mapping[str, JsonValue]) -> str:
    """The address of a path below the connector's base. Raises InputError for a path that could lead elsewhere."""
    _require_inside(path)
    base = connector.base_url
    below = quote(path.lstrip("/"), safe=_PATH_SAFE)
    address = f"{base}/{below}" if below else base
    pairs = [pair for name, value in query.items() for pair in _pairs(name, value)]
    address += f"?{urlencode(pairs, errors='replace')}" if pairs else ""
    start, found = parse_url(base), parse_url(address)
    root = urlsplit(start.url).path.rstrip("/")
    found_path = urlsplit(found.url).path
    if found.origin != start.origin or not (found_path == root or found_path.startswith(f"{root}/")):
        raise _leaves(path)
    return address


def _require_inside(path: str) -> None:
    """Refuse every way in which some server or proxy on the way could read a path as one outside."""
    decoded = path
    for _ in range(_DECODINGS):
        if (
            len(path) > _MOST_PATH
            or any(sign in decoded for sign in ("\\", "//", "?", "#"))
            or not decoded.isprintable()
            or any(part.partition(";")[0] in {".", ".."} for part in decoded.split("/"))
        ):
            raise _leaves(path)
        further = unquote(decoded)
        if further == decoded:
            return
        decoded = further
    raise _leaves(path)


def _leaves(path: str) -> InputError:
    return InputError(
        f"{path[:100]!r} is not a plain path below the connector's address",
        hint="Write it like /contacts/7, and put values into query",
        code="bad_path",
    )


def _pairs(name: str, value: JsonValue) -> Sequence[tuple[str, str]]:
    match value:
        case None:
            return []
        case bool():
            return [(name, "true" if value else "false")]
        case str() | int() | float():
            return [(name, str(value))]
        case Mapping():
            raise InputError(f"The value of {name[:60]!r} is an object", hint="A query holds texts, numbers and lists")
        case _:
            return [(name, str(item)) for item in value if isinstance(item, (str, int, float))]


def sign_in(auth: ConnectorAuth, address: str, headers: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Address and headers with the secret in its place. Raises ToolError when it is missing."""
    if auth.kind is not AuthKind.NONE and not auth.secret:
        raise ToolError(
            "The connector has no secret yet",
            hint="The person puts it in with `skales connectors secret`",
            code="no_secret",
        )
    match auth.kind:
        case AuthKind.NONE:
            return address, headers
        case AuthKind.BEARER:
            return address, {**headers, "Authorization": f"Bearer {auth.secret}"}
        case AuthKind.BASIC:
            return address, {**headers, "Authorization": f"Basic {_basic(auth)}"}
        case AuthKind.HEADER:
            return address, {**headers, auth.name: auth.secret}
        case AuthKind.QUERY:
            mark = "&" if "?" in address else "?"
            return f"{address}{mark}{urlencode({auth.name: auth.secret})}", headers


def _basic(auth: ConnectorAuth) -> str:
    return base64.b64encode(f"{auth.name}:{auth.secret}".encode()).decode()


def _without_secret(result: ToolResult, auth: ConnectorAuth) -> ToolResult:
    """The result without the secret, for services that send back what they were sent."""
    if len(auth.secret) < _LEAST_MASKED:
        return result
    forms = {
        auth.secret,
        quote(auth.secret),
        quote(auth.secret, safe=""),
        urlencode({"": auth.secret})[1:],
        _basic(auth),
    }
    ordered = sorted(forms, key=len, reverse=True)
    return replace(
        result,
        text=_masked_text(result.text, ordered),
        summary=_masked_text(result.summary, ordered),
        data=_masked(result.data, ordered),
    )


def _masked_text(text: str, forms: Sequence[str]) -> str:
    for form in forms:
        text = text.replace(form, _MASK)
    return text


def _masked(value: JsonValue, forms: Sequence[str]) -> JsonValue:
    match value:
        case str():
            return _masked_text(value, forms)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {_masked_text(name, forms): _masked(item, forms) for name, item in value.items()}
        case _:
            return [_masked(item, forms) for item in value]
