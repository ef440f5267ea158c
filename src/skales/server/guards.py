"""What every request passes before anything reads it: Host and Origin; and what every answer carries: the page's rules.

A plain ASGI layer, so that streams pass untouched. Spec: security.md, "Network".
"""

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skales.security.origin import RequestOrigin, decide_request

_RULES: Sequence[tuple[bytes, bytes]] = (
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"frame-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class LocalGuard:
    """Refuses foreign callers with 403, a missing Host with 400, before the body is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge an HTTP request; lifespan passes, web sockets do not exist here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        verdict = decide_request(_origin_of(scope))
        if verdict.status != 200:
            await _refuse(send, verdict.status, verdict.reason)
            return

        async def send_with_rules(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A frame for a model's own page brings stricter rules of its own; two policies would only add up.
                own = {name for name, _value in message["headers"]}
                rules = [rule for rule in _RULES if rule[0] not in own]
                message = {**message, "headers": [*message["headers"], *rules]}
            await send(message)

        await self._app(scope, receive, send_with_rules)


def _origin_of(scope: Scope) -> RequestOrigin:
    def values(name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in scope["headers"] if key == name]

    def only(name: bytes) -> str | None:
        found = values(name)
        return ", ".join(found) if found else None

    return RequestOrigin(
        host_values=values(b"host"),
        origin=only(b"origin"),
        sec_fetch_site=only(b"sec-fetch-site"),
        sec_fetch_mode=only(b"sec-fetch-mode"),
        sec_fetch_dest=only(b"sec-fetch-dest"),
        port=scope["server"][1],
        method=scope["method"],
    )


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = b'{"error":"%s"}' % reason.replace('"', "'").encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
