"""The Developer section: a playground that calls the real routes, what they would answer now, and their manual.

It is there while the DevKit is on. The token stays in this process: the playground's calls go out from here.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import StreamingResponse
from markupsafe import Markup
from msgspec import Struct

from skales.app.app import App
from skales.app.reports import report_memories, report_model, report_sessions, report_status, report_tools
from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.server.access import AppDep, PageSession
from skales.server.frame_views import Shell
from skales.server.markdown import render_markdown
from skales.server.ui.developer_views import (
    DebugMemory,
    DebugPanel,
    DebugSession,
    DebugTool,
    DevKitDocs,
    DevKitOff,
    Fact,
    Playground,
    RouteForm,
)
from skales.server.ui.devkit_routes import DevKitRoute, describe_routes, find_route, list_routes
from skales.server.ui.frame import build_shell
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.views import Screen
from skales.server.words import _

router = APIRouter(dependencies=[PageSession])

_SHOWN = 25
# A turn may run for as long as it likes; connecting to ourselves may not.
_CONNECT_S = 5.0


class _Outgoing(Struct, frozen=True):
    """A call about to be made; `body` None sends none."""

    method: str
    address: str
    headers: Mapping[str, str]
    body: JsonValue


@router.get("/developer", response_class=PageResponse)
def open_playground(app: AppDep, call: str = "") -> str:
    """Forms for every operation."""
    config = app.devkit.read()
    if not config.enabled:
        return _show_off(app)
    chosen = find_route(call) or list_routes()[0]
    routes = tuple(_show_route(route, is_current=route is chosen) for route in list_routes())
    page = Playground(
        shell=_shell(app, _("API playground")),
        routes=routes,
        current=next(route for route in routes if route.is_current),
        has_token=bool(config.token),
        config_path=str(app.directory.devkit),
    )
    return render(page)


@router.get("/developer/debug", response_class=PageResponse)
def open_debug(app: AppDep) -> str:
    """What the routes would answer now."""
    return _show_debug(app) if app.devkit.read().enabled else _show_off(app)


@router.get("/developer/docs", response_class=PageResponse)
def open_docs(app: AppDep, request: Request) -> str:
    """The DevKit's manual."""
    if not app.devkit.read().enabled:
        return _show_off(app)
    own = app.devkit.page()
    text = own or describe_routes(str(request.base_url).rstrip("/"))
    page = DevKitDocs(
        shell=_shell(app, _("DevKit manual")),
        html=Markup(render_markdown(text)),  # noqa: S704 - the renderer's promise
        path=str(app.directory.devkit_page),
        is_own=bool(own),
    )
    return render(page)


@router.post("/ui/developer/call")
async def call_route(
    app: AppDep,
    request: Request,
    name: Annotated[str, Form()],
    query: Annotated[str, Form()] = "{}",
    body: Annotated[str, Form()] = "",
) -> StreamingResponse:
    """Call an operation over this server's own socket, and pass on what comes as it comes.

    The first line of the answer is JSON about the call, the rest is the body. Raises NotFoundError, InputError.
    """
    route = find_route(name)
    config = app.devkit.read()
    if route is None or not config.enabled:
        raise NotFoundError(_("There is no such call"))
    headers = {"authorization": f"Bearer {config.token}"} if route.needs_token and config.token else {}
    address = f"{str(request.base_url).rstrip('/')}{route.address(_read_query(query))}"
    pieces = _pass_on(app, _Outgoing(route.method, address, headers, _read_body(body)))
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8")


async def _pass_on(app: App, call: _Outgoing) -> AsyncGenerator[bytes, None]:
    import httpx2

    # The machine's proxy has no business with this machine's own addresses.
    async with httpx2.AsyncClient(trust_env=False, timeout=httpx2.Timeout(None, connect=_CONNECT_S)) as client:
        started_s = app.clock.monotonic_s()
        async with client.stream(call.method, call.address, headers=call.headers, json=call.body) as answer:
            first: JsonObject = {
                "status": answer.status_code,
                "reason": answer.reason_phrase,
                "duration_ms": round((app.clock.monotonic_s() - started_s) * 1000),
                "type": answer.headers.get("content-type", ""),
            }
            yield json.dumps(first).encode() + b"\n"
            async for piece in answer.aiter_bytes():
                yield piece


def _read_query(text: str) -> dict[str, str]:
    return {name: value for name, value in as_object(_parse(text)).items() if isinstance(value, str)}


def _read_body(text: str) -> JsonValue:
    return _parse(text) if text.strip() else None


def _parse(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputError(
            _("The body is not valid JSON: %(reason)s", reason=error), hint=_("Correct it and send again")
        ) from error


def _show_route(route: DevKitRoute, *, is_current: bool) -> RouteForm:
    return RouteForm(
        name=route.name,
        method=route.method,
        path=route.path,
        what=_(route.what),
        parameters=route.parameters,
        body=route.example,
        command=route.command(),
        is_current=is_current,
    )


def _show_debug(app: App) -> str:
    status, model = report_status(app), report_model(app)
    tools, sessions, memories = report_tools(app), report_sessions(app, limit=_SHOWN), report_memories(app)
    listed = [as_object(tool) for tool in as_list(tools["tools"])]
    raw = {"status": status, "model": model, "tools": tools, "sessions": sessions, "memory": memories}
    panel = DebugPanel(
        shell=_shell(app, _("Debug panel")),
        status=tuple(Fact(name, str(value)) for name, value in {**status, **model}.items() if value != ""),
        tools=tuple(DebugTool(as_text(tool.get("name")), tool.get("enabled") is True) for tool in listed),
        tools_on=sum(tool.get("enabled") is True for tool in listed),
        sessions=tuple(_show_session(app, as_object(session)) for session in as_list(sessions["sessions"])),
        session_count=app.sessions.count(),
        memories=tuple(_show_memory(as_object(memory)) for memory in as_list(memories["memories"])[:_SHOWN]),
        memory_count=app.memories.count(),
        raw=json.dumps(raw, ensure_ascii=False, indent=2),
    )
    return render(panel)


def _show_session(app: App, session: JsonObject) -> DebugSession:
    updated_ms, count = session.get("updatedAt"), session.get("messageCount")
    assert isinstance(updated_ms, int), "our own report"
    assert isinstance(count, int), "our own report"
    return DebugSession(
        id=as_text(session.get("id")),
        title=as_text(session.get("title")) or _("New chat"),
        model=as_text(session.get("model")),
        messages=count,
        when=show_moment(updated_ms, app.clock.now_ms()),
    )


def _show_memory(memory: JsonObject) -> DebugMemory:
    return DebugMemory(as_text(memory.get("id")), as_text(memory.get("category")), as_text(memory.get("content")))


def _show_off(app: App) -> str:
    return render(DevKitOff(_shell(app, _("Developer")), str(app.directory.devkit)))


def _shell(app: App, title: str) -> Shell:
    return build_shell(app, title, Screen.DEVELOPER)
