"""The DevKit's routes as facts: for the playground's forms and for the page that explains them.

A contract test holds this table and the server together. Spec: http-api.md, "The 17 DevKit paths".
"""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from msgspec import Struct, field

from skales.core.json import JsonObject
from skales.server.words import N_, _


class DevKitRoute(Struct, frozen=True):
    """One operation. `parameters` are the path's and the query's; `body` is an example. The open ones need no token."""

    name: str
    method: str
    path: str
    what: str
    parameters: Sequence[str] = ()
    body: JsonObject = field(default_factory=dict)
    needs_token: bool = True
    streams: bool = False

    @property
    def example(self) -> str:
        """The body to begin with, as text to edit; empty when there is none."""
        return json.dumps(self.body, ensure_ascii=False, indent=2) if self.body else ""

    def address(self, query: Mapping[str, str]) -> str:
        """The path with those parameters that have a value."""
        given = {name: query[name] for name in self.parameters if query.get(name)}
        path = self.path
        for name in self._in_path:
            path = path.replace(f"{{{name}}}", quote(given.pop(name, ""), safe=""))
        return f"{path}?{urlencode(given, quote_via=quote)}" if given else path

    @property
    def _in_path(self) -> Sequence[str]:
        return [name for name in self.parameters if f"{{{name}}}" in self.path]

    def command(self) -> str:
        """The same call for a terminal; the token comes from the environment."""
        words = ["curl"] + (["-N"] if self.streams else []) + ([] if self.method == "GET" else ["-X", self.method])
        words += ['-H "Authorization: Bearer $SKALES_DEVKIT_TOKEN"'] if self.needs_token else []
        if self.body:
            words += ["-H 'content-type: application/json'", f"-d '{json.dumps(self.body, ensure_ascii=False)}'"]
        asked = [name for name in self.parameters if name not in self._in_path]
        address = self.path + ("?" + "&".join(f"{name}=…" for name in asked) if asked else "")
        return " ".join([*words, f'"$SKALES_API_BASE{address}"'])


_ROUTES = (
    DevKitRoute(
        "chat",
        "POST",
        "/api/cli/chat",
        N_("Run one turn; its frames come as server-sent events"),
        body={"message": "What is in my workspace?"},
        streams=True,
    ),
    DevKitRoute("tools", "GET", "/api/cli/tools", N_("Every tool, and whether it is on")),
    DevKitRoute("model", "GET", "/api/cli/model", N_("The provider and model that new conversations use")),
    DevKitRoute(
        "switch-model",
        "PUT",
        "/api/cli/model",
        N_("Make a configured provider the active one"),
        body={"provider": "ollama", "model": "llama3.2"},
    ),
    DevKitRoute("sessions", "GET", "/api/cli/sessions", N_("All conversations, or the one named by id"), ("id",)),
    DevKitRoute("delete-session", "DELETE", "/api/cli/sessions", N_("Move one conversation to the trash"), ("id",)),
    DevKitRoute("memory", "GET", "/api/cli/memory", N_("Every memory, newest first")),
    DevKitRoute(
        "add-memory",
        "POST",
        "/api/cli/memory",
        N_("Keep one memory"),
        body={"content": "I work in metric units", "category": "preference", "keywords": ["units"]},
    ),
    DevKitRoute("delete-memory", "DELETE", "/api/cli/memory", N_("Forget one memory"), ("id",)),
    DevKitRoute("cron", "GET", "/api/cli/cron", N_("Every scheduled task, with its next run")),
    DevKitRoute(
        "add-cron",
        "POST",
        "/api/cli/cron",
        N_("Schedule a recurring task"),
        body={"name": "Morning summary", "schedule": "0 9 * * 1-5", "task": "Summarise yesterday's notes"},
    ),
    DevKitRoute("delete-cron", "DELETE", "/api/cli/cron", N_("Delete one scheduled task"), ("id",)),
    DevKitRoute(
        "switch-cron",
        "PATCH",
        "/api/cli/cron/{id}",
        N_("Turn one scheduled task on or off"),
        ("id",),
        body={"enabled": False},
    ),
    DevKitRoute(
        "run-cron",
        "POST",
        "/api/cli/cron/{id}/run",
        N_("Run one scheduled task now, beside its schedule"),
        ("id",),
    ),
    DevKitRoute("status", "GET", "/api/cli/status", N_("Version, model, counts and uptime")),
    DevKitRoute("devkit-status", "GET", "/api/cli/devkit-status", N_("Whether the DevKit is on"), needs_token=False),
    DevKitRoute("devkit-docs", "GET", "/api/cli/devkit-docs", N_("The text of DEVKIT.md"), needs_token=False),
)


def list_routes() -> Sequence[DevKitRoute]:
    """Every operation that programs may call with the DevKit's token."""
    return _ROUTES


def find_route(name: str) -> DevKitRoute | None:
    """The operation of this name, None when there is none."""
    return next((route for route in _ROUTES if route.name == name), None)


def describe_routes(base: str) -> str:
    """The routes as Markdown, each with a command to copy."""
    lines = [
        _('Programs on this computer may call these addresses. Errors are JSON: `{"error": "…"}`.'),
        "",
        "```sh",
        f"export SKALES_API_BASE={base}",
        _("export SKALES_DEVKIT_TOKEN=…  # the token of devkit.json"),
        "```",
    ]
    for route in _ROUTES:
        lines += [
            "",
            f"# `{route.method} {route.path}`",
            "",
            f"{_(route.what)}.",
            "",
            "```sh",
            route.command(),
            "```",
        ]
    return "\n".join(lines)
