"""The tools page: every tool can be found and run here, with or without a model."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, Form, Request, Response

from skales.app.activity import find_uses
from skales.app.app import App
from skales.app.pins import PinStatus, pin_tool, read_pin
from skales.app.tool_runs import RunStep, follow_run
from skales.core.errors import InputError, SkalesError
from skales.core.events import ApprovalRequested, ApprovalResolved, Progress
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult, ToolSpec
from skales.server.access import AppDep, PageSession
from skales.server.live import Frame
from skales.server.told import told
from skales.server.ui.activity import build_rows
from skales.server.ui.asking import show_ask, show_asked
from skales.server.ui.frame import build_error_page, build_shell
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import first_sentence, show_duration, show_number, show_size
from skales.server.ui.push import PushResponse
from skales.server.ui.tool_views import ToolDetail, ToolGroup, ToolList, ToolPin, ToolResultView, ToolRow, ToolsPage
from skales.server.ui.toolform import build_fields, read_arguments, required_names, write_command
from skales.server.views import Screen, Trouble
from skales.server.words import N_, _

router = APIRouter(dependencies=[PageSession])

_SAFETY = {
    Safety.AUTO: N_("runs unasked"),
    Safety.CONFIRM: N_("asks first"),
    Safety.MANUAL: N_("only by you"),
}
_EFFECTS = {
    Effect.READS_PRIVATE: N_("reads private data"),
    Effect.UNTRUSTED_OUTPUT: N_("brings in foreign text"),
    Effect.OUTBOUND: N_("sends data out"),
    Effect.WRITES: N_("changes files"),
    Effect.DESTRUCTIVE: N_("cannot be undone"),
    Effect.SPENDS: N_("costs money"),
}
_CATEGORIES = {
    "automation": N_("Automation"),
    "communication": N_("Communication"),
    "core": N_("Core"),
    "creative": N_("Creative"),
    "file": N_("Files"),
    "integrations": N_("Integrations"),
    "media": N_("Media"),
    "productivity": N_("Productivity"),
    "social": N_("Social"),
    "system": N_("System"),
    "web": N_("Web"),
}
_USES = 5
Filled = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ToolName:
    """A tool as the message field completes it; `usage` is the whole command to fill in."""

    name: str
    what: str
    required: list[str]
    usage: str


async def _read_form(request: Request) -> Filled:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


FilledForm = Annotated[Filled, Depends(_read_form)]


@router.get("/tools", response_class=PageResponse)
def open_tools(app: AppDep, q: str = "") -> str:
    """The list, with nothing chosen."""
    shell = build_shell(app, _("Tools"), Screen.TOOLS)
    return render(ToolsPage(shell, _build_list(app, q, ""), None))


@router.get("/tools/{name}", response_class=PageResponse)
def open_tool(app: AppDep, name: str, response: Response, q: str = "") -> str:
    """One tool and its form beside the list."""
    spec = app.toolbox.find(name)
    if spec is None:
        response.status_code = 404
        trouble = Trouble(_("There is no tool named “%(name)s”", name=name), "", "/tools", _("See all tools"))
        return render(build_error_page(app, _("Tool not found"), trouble))
    return _show_tool(app, spec, q, None, None)


@router.post("/tools/{name}", response_class=PageResponse)
async def run_on_page(app: AppDep, name: str, filled: FilledForm) -> str:
    """Run it and show the whole page: what the form does where scripts do not run, and no question can be shown."""
    spec = _find(app, name)
    result = await _run(app, spec, filled)
    return await anyio.to_thread.run_sync(_show_tool, app, spec, "", filled, result)


@router.get("/ui/tools", response_class=PageResponse)
def list_tools(app: AppDep, q: str = "", current: str = "") -> str:
    """Tools that fit a search."""
    return render(_build_list(app, q, current))


@router.get("/ui/tools/names")
def list_names(app: AppDep) -> list[ToolName]:
    """Enabled tools, for completing `/tool` in the message field."""
    return [
        ToolName(spec.name, first_sentence(told(spec.description)), required_names(spec), write_command(spec))
        for spec in app.toolbox.specs()
        if app.toolbox.is_enabled(spec.name)
    ]


@router.post("/ui/tools/{name}/run")
async def run_tool(app: AppDep, name: str, filled: FilledForm) -> PushResponse:
    """Run it as the person at this computer and tell how it goes. A page that leaves ends the run."""
    return PushResponse(_frames(app, _find(app, name), filled))


@router.post("/ui/tools/{name}/pin", response_class=PageResponse)
def pin(app: AppDep, name: str, pinned: Annotated[bool, Form()]) -> str:
    """Offer it to models always, or only when it is found."""
    return render(_show_pin(pin_tool(app, _find(app, name), is_pinned=pinned)))


async def _frames(app: App, spec: ToolSpec, filled: Filled) -> AsyncGenerator[Frame, None]:
    async with aclosing(_follow(app, spec, filled, attended=True)) as steps:
        async for step in steps:
            match step:
                case Progress():
                    yield Frame("progress", _describe(step))
                case ApprovalRequested(approval):
                    yield Frame("ask", show_ask(approval, spec))
                case ApprovalResolved():
                    yield Frame("asked", show_asked(step))
                case ToolResultView():
                    yield Frame("end", {"html": render(step)})


async def _run(app: App, spec: ToolSpec, filled: Filled) -> ToolResultView:
    async with aclosing(_follow(app, spec, filled, attended=False)) as steps:
        return [step async for step in steps if isinstance(step, ToolResultView)][-1]


async def _follow(
    app: App, spec: ToolSpec, filled: Filled, *, attended: bool
) -> AsyncGenerator[RunStep | ToolResultView, None]:
    """How the run goes, then its result; what keeps it from running is a result too."""
    started_s = app.clock.monotonic_s()
    try:
        arguments = app.toolbox.check_arguments(spec, read_arguments(spec, filled))
        async with aclosing(follow_run(app, spec.name, arguments, surface="page", attended=attended)) as steps:
            async for step in steps:
                match step:
                    case ToolResult():
                        yield _show_result(step, int((app.clock.monotonic_s() - started_s) * 1000))
                    case _:
                        yield step
    except SkalesError as error:
        yield ToolResultView(ok=False, text="", duration="", trouble=Trouble(told(error.message), told(error.hint)))


def _describe(progress: Progress) -> JsonValue:
    """How far it is, for a bar and in words."""
    show = show_size if progress.unit == "bytes" else show_number
    done, total = show(progress.done), show(progress.total)
    words = _("%(done)s of %(total)s", done=done, total=total) if progress.total else done
    return {"label": told(progress.label), "done": progress.done, "total": progress.total, "words": words}


def _show_pin(status: PinStatus) -> ToolPin:
    return ToolPin(status.spec.name, status.is_pinned, is_basic=status.spec.is_basic)


def _show_result(result: ToolResult, duration_ms: int) -> ToolResultView:
    return ToolResultView(
        ok=not result.is_error,
        text=result.text,
        duration=show_duration(duration_ms),
        files=result.files,
        data="" if result.data is None else json.dumps(result.data, ensure_ascii=False, indent=2, default=str),
    )


def _show_tool(app: App, spec: ToolSpec, query: str, filled: Filled | None, result: ToolResultView | None) -> str:
    detail = ToolDetail(
        name=spec.name,
        description=told(spec.description),
        category=_label(spec.category),
        safety=_(_SAFETY[spec.safety]),
        effects=tuple(_(_EFFECTS[effect]) for effect in Effect if effect in spec.effects),
        is_risky=spec.safety is not Safety.AUTO,
        enabled=app.toolbox.is_enabled(spec.name),
        why_off=told(app.toolbox.why_off(spec.name)),
        fields=build_fields(spec, filled),
        command=write_command(spec),
        pin=_show_pin(read_pin(app, spec)),
        uses=build_rows(app, find_uses(app.directory, spec.name, _USES)),
        result=result,
    )
    return render(ToolsPage(build_shell(app, spec.name, Screen.TOOLS), _build_list(app, query, spec.name), detail))


def _build_list(app: App, query: str, current: str) -> ToolList:
    specs = app.toolbox.specs()
    words = query.lower().split()
    fitting = [spec for spec in specs if all(word in f"{spec.name} {told(spec.description)}".lower() for word in words)]
    groups = groupby(sorted(fitting, key=lambda spec: spec.category), key=lambda spec: spec.category)
    return ToolList(
        tuple(ToolGroup(_label(name), tuple(_row(app, spec, current) for spec in members)) for name, members in groups),
        query,
        len(specs),
    )


def _row(app: App, spec: ToolSpec, current: str) -> ToolRow:
    return ToolRow(
        spec.name, first_sentence(told(spec.description)), app.toolbox.is_enabled(spec.name), spec.name == current
    )


def _find(app: App, name: str) -> ToolSpec:
    spec = app.toolbox.find(name)
    if spec is None:
        raise InputError(_("There is no tool named “%(name)s”", name=name), hint=_("The tools page lists them"))
    return spec


def _label(category: str) -> str:
    words = _CATEGORIES.get(category)
    return _(words) if words else category.replace("_", " ").capitalize()
