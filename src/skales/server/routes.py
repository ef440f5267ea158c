"""Every router of the server, with the places that its routes begin with. The first that matches answers.

A screen or a group of routes is added here: its router, and where it lives.
"""

from collections.abc import Sequence

from fastapi.params import Depends

from skales.server.access import DevKitToken, KnownCaller
from skales.server.development import is_development
from skales.server.later import LaterRoutes

_API = "skales.server.api"
_UI = "skales.server.ui"


def list_routes() -> Sequence[LaterRoutes]:
    """What the server answers; the page of the components only in development."""
    return [*_programs(), *_pages(), *([_page("design", "/design")] if is_development() else ())]


def _programs() -> Sequence[LaterRoutes]:
    return [
        _api("health", "/api/health"),
        _api("devkit", "/tools", "/model", "/sessions", "/status", prefix="/api/cli", guards=[DevKitToken]),
        _api("devkit_memory", "/memory", prefix="/api/cli", guards=[DevKitToken]),
        _api("devkit_cron", "/cron", prefix="/api/cli", guards=[DevKitToken]),
        _api("devkit", "/tools", "/model", "/sessions", "/status", prefix="/api", guards=[KnownCaller]),
        _api("devkit_cron", "/cron", prefix="/api", guards=[KnownCaller]),
        LaterRoutes(f"{_API}.devkit:open_router", "/api/cli/devkit-docs", "/api/cli/devkit-status"),
        _api("devkit_chat", "/api/cli/chat"),
        _api("approvals", "/api/approvals"),
        _api("local", "/api/killswitch", "/api/sessions", "/api/tools"),
        _api("history", "/api/sessions"),
        _api("cost_sums", "/api/costs"),
        _api("addons", "/api/addons"),
        _api("ftp", "/api/ftp/profiles"),
        _api("outbox", "/api/outbox"),
        _api("grants", "/api/grants", "/api/why"),
        _api("work", "/api/tasks", "/api/workflows"),
        _api("undo", "/api/undo"),
    ]


def _pages() -> Sequence[LaterRoutes]:
    return [
        _page("assets", "/static"),
        _page("sending", "/ui/chat/send"),
        _page("chat", "/", "/chat", "/ui/chat"),
        _page("notices", "/ui/events", "/ui/notices"),
        _page("attachments", "/ui/attachments"),
        _page("picker", "/ui/models", "/ui/chat"),
        _page("sessions", "/ui/sessions"),
        _page("search", "/history", "/ui/history/trash", "/ui/sessions"),
        _page("export", "/ui/history/export", "/ui/sessions"),
        _page("local", "/ui/local"),
        _page("commands", "/ui/commands"),
        _page("preview", "/ui/preview"),
        _page("bootstrap", "/bootstrap"),
        _page("activity", "/activity", "/ui/activity", "/ui/go-on", "/ui/killswitch"),
        _page("addons", "/skills"),
        _page("compare", "/compare", "/ui/compare"),
        _page("tools", "/tools", "/ui/tools"),
        _page("settings", "/settings", "/ui/settings/search", "/ui/settings/values", "/ui/settings/undo"),
        _page("setting_data", "/ui/settings/data"),
        _page("setting_devkit", "/ui/settings/devkit"),
        _page("setting_secrets", "/ui/settings/secrets"),
        _page("setting_secret_scan", "/ui/settings/secret-scan"),
        _page(
            "providers",
            "/settings/providers",
            "/ui/settings/providers",
            "/ui/settings/fallbacks",
            "/ui/settings/slots",
        ),
        _page("probe", "/ui/settings/providers"),
        _page("signin", "/ui/settings/providers"),
        _page("developer", "/developer", "/ui/developer"),
        _page("outbox", "/outbox", "/ui/outbox"),
        _page("costs", "/costs", "/ui/costs"),
        _page("tasks", "/tasks", "/ui/tasks"),
        _page("schedule", "/schedule", "/ui/schedule"),
        _page("grants", "/grants", "/ui/grants"),
        _page("undo", "/undo", "/ui/undo"),
    ]


def _api(module: str, *places: str, prefix: str = "", guards: Sequence[Depends] = ()) -> LaterRoutes:
    return LaterRoutes(f"{_API}.{module}:router", *places, prefix=prefix, guards=guards)


def _page(module: str, *places: str) -> LaterRoutes:
    return LaterRoutes(f"{_UI}.{module}:router", *places)
