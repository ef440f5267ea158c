"""Who may call: the page by its cookie, programs by a token. What routes depend on to get the app.

Spec: http-api.md, "Authentication". Host and Origin are judged before, in `guards`.
"""

import hmac
from typing import Annotated

from fastapi import Depends, Request, Response

from skales.app.app import App
from skales.server.errors import HttpError
from skales.server.words import _, pick_language, use_language

# Dependencies are coroutines although they wait for nothing: plain functions would each cost a hop to a thread.

COOKIE = "skales_session"


def running_app(request: Request) -> App:
    """The app behind a request."""
    app = request.app.state.skales
    assert isinstance(app, App), "set by create_server"
    return app


async def get_app(request: Request) -> App:
    """The running app, for routes."""
    return running_app(request)


AppDep = Annotated[App, Depends(get_app)]


async def require_devkit(request: Request, app: AppDep) -> None:
    """The DevKit's own order: switched off 403, no token set 500, wrong token 401."""
    config = app.devkit.read()
    if not config.enabled:
        raise HttpError(403, "DevKit not enabled")
    if not config.token:
        raise HttpError(500, "DevKit token not configured")
    if not _same(_bearer(request), config.token):
        raise HttpError(401, "Invalid DevKit token")


async def require_page(request: Request, response: Response, app: AppDep) -> None:
    """The page's cookie. Opening a page sets it; everything else must bring it. Answers speak the person's language."""
    use_language(pick_language(app.settings.load().locale, request.headers.get("accept-language", "")))
    if _has_cookie(request, app):
        return
    if request.method == "GET" and _opens_page(request):
        introduce(response, app)
        return
    raise HttpError(401, _("Open the page first"), hint=_("This address answers the Skales page only"))


def introduce(response: Response, app: App) -> None:
    """Give the page its cookie; only for an answer to somebody who opens a page."""
    response.set_cookie(COOKIE, app.page_token, httponly=True, samesite="strict", path="/")


async def require_anyone_known(request: Request, app: AppDep) -> None:
    """The page's cookie, the DevKit token, or the local token of this process (`run/server.json`)."""
    bearer = _bearer(request)
    config = app.devkit.read()
    known = (
        _has_cookie(request, app)
        or _same(bearer, app.local_token)
        or (config.enabled and bool(config.token) and _same(bearer, config.token))
    )
    if not known:
        raise HttpError(401, "This needs the page's session or a token", hint="Send Authorization: Bearer <token>")


PageSession = Depends(require_page)
DevKitToken = Depends(require_devkit)
KnownCaller = Depends(require_anyone_known)


def _has_cookie(request: Request, app: App) -> bool:
    return _same(request.cookies.get(COOKIE, ""), app.page_token)


def _opens_page(request: Request) -> bool:
    """Whether the answer is a whole page; fragments, streams and scripts ask with other headers."""
    return "text/html" in request.headers.get("accept", "") and "hx-request" not in request.headers


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _same(given: str, expected: str) -> bool:
    """In constant time; an empty expectation matches nothing."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())
