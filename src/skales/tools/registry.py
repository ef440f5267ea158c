"""All built-in tools behind the port the agent knows. Looks up and runs; whether a call may run is the gate's business.

Nothing is read before the first question, and a tool's module is imported at its first call.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path

from skales.core.errors import SkalesError, ToolError
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.ports import CallScope, Question
from skales.core.tool import ToolResult, ToolSpec
from skales.tools.addons import is_addon_on
from skales.tools.arguments import check_arguments
from skales.tools.binding import bind_arguments
from skales.tools.conditions import NO_CONDITIONS, Condition, Standing
from skales.tools.context import ToolContext
from skales.tools.define import Preview, Returned
from skales.tools.describe import describe_call
from skales.tools.finding import ToolFinder
from skales.tools.index import IndexEntry, load_index
from skales.tools.schema import ToolFunction, as_tool_function

_ALIASES = Path(__file__).with_name("aliases.toml")
_SUMMARY_LIMIT = 200


async def _ask_nobody(_question: Question) -> str:
    raise ToolError("A preview asks nobody")


_NOBODY = CallScope(session_id=SessionId(""), call_id="", ask=_ask_nobody, report=lambda _progress: None)


class BuiltinToolbox:
    """The Toolbox of the tools in this package."""

    def __init__(
        self,
        context_factory: Callable[[CallScope], ToolContext],
        addons: Callable[[], Mapping[str, bool]],
        conditions: Mapping[str, Condition] = NO_CONDITIONS,
    ) -> None:
        """Take what makes a call's surroundings; switches and conditions are asked for at each question."""
        self._context_factory = context_factory
        self._addons = addons
        self._conditions = conditions
        self._worded: dict[str, ToolSpec] = {}
        self._enabled: tuple[tuple[Mapping[str, bool], Mapping[str, Standing]], tuple[ToolSpec, ...]] | None = None

    def specs(self) -> Sequence[ToolSpec]:
        """Every built-in tool in a stable order, switched off ones included."""
        return [self._with_words(entry.spec) for entry in self._entries.values()]

    def is_enabled(self, name: str) -> bool:
        """Whether the tool exists, its add-on is on and what it needs is there."""
        return self._entry(name) is not None and not self.why_off(name)

    def why_off(self, name: str) -> str:
        """Why a tool is not enabled, as a sentence without a period; empty when it is."""
        entry = self._entry(name)
        if entry is None:
            return f"There is no tool {name!r}"
        spec = entry.spec
        if spec.addon and not is_addon_on(spec.addon, self._addons()):
            return f"{spec.name} belongs to the add-on {spec.addon!r}, which is switched off"
        return self._standing(spec).missing

    def find(self, name: str) -> ToolSpec | None:
        """The tool of this name or alias."""
        entry = self._entry(name)
        return self._with_words(entry.spec) if entry else None

    def enabled(self) -> Sequence[ToolSpec]:
        """The tools that are on, in the same order; the same object as long as they are the same."""
        state = (self._addons(), {need: self._stand(need) for need in self._needs})
        if self._enabled is None or self._enabled[0] != state:
            switches, stands = state
            on = [spec for spec in self.specs() if not spec.addon or is_addon_on(spec.addon, switches)]
            self._enabled = (state, tuple(spec for spec in on if not spec.needs or not stands[spec.needs].missing))
        return self._enabled[1]

    def search(self, request: str, limit: int) -> Sequence[ToolSpec]:
        """The tools that are on and that a request may be about, the likeliest first."""
        enabled = {spec.name for spec in self.enabled()}
        found = self._finder.find(request, len(self._entries))
        return [spec for spec in found if spec.name in enabled][:limit]

    def check_arguments(self, spec: ToolSpec, arguments: JsonObject) -> JsonObject:
        """The arguments with harmless spellings made right. Raises InputError that names the fault."""
        return check_arguments(spec, arguments)

    def describe(self, spec: ToolSpec, arguments: JsonObject) -> str:
        """What the call would do, in plain words and at most 200 characters."""
        entry = self._entry(spec.name)
        return describe_call(spec, entry.action if entry else "", arguments)

    def preview(self, spec: ToolSpec, arguments: JsonObject) -> str:
        """What the call would change, or why it would fail; empty for a tool that cannot tell. Reads the disk."""
        entry = self._entry(spec.name)
        if entry is None or not entry.preview:
            return ""
        context = self._context_factory(_NOBODY)
        function: Preview = getattr(import_module(entry.module), entry.preview)
        try:
            bound = bind_arguments(_load_function(entry), check_arguments(entry.spec, arguments), context.paths)
            return _sendable(function(context, **bound))
        except SkalesError as error:
            return f"As it stands, this would fail. {_sendable(error.message)}"

    async def run(self, spec: ToolSpec, arguments: JsonObject, scope: CallScope) -> ToolResult:
        """Run it. Raises ToolError for an expected failure; anything else is a fault of the tool."""
        entry = self._entry(spec.name)
        if entry is None:
            raise ToolError(f"There is no tool {spec.name!r}", code="unknown_tool")
        context = self._context_factory(scope)
        function = _load_function(entry)
        try:
            checked = check_arguments(entry.spec, arguments)
            returned = await function(context, **bind_arguments(function, checked, context.paths))
        except ToolError:
            raise
        except SkalesError as error:
            raise ToolError(error.message, hint=error.hint, code=error.code) from error
        return _as_result(returned)

    def _standing(self, spec: ToolSpec) -> Standing:
        """How it is about what the tool needs; a need that nobody knows is not met."""
        return self._stand(spec.needs) if spec.needs else Standing()

    def _stand(self, need: str) -> Standing:
        condition = self._conditions.get(need)
        return condition() if condition else Standing(missing=f"What is called {need!r} is not here")

    def _with_words(self, spec: ToolSpec) -> ToolSpec:
        """The tool with what it needs named in its description; the same object as long as the words are the same."""
        place = f"{{{spec.needs}}}"
        if not spec.needs or place not in spec.description:
            return spec
        description = spec.description.replace(place, self._standing(spec).words)
        known = self._worded.get(spec.name)
        if known is None or known.description != description:
            known = self._worded[spec.name] = replace(spec, description=description)
        return known

    def _entry(self, name: str) -> IndexEntry | None:
        return self._entries.get(name) or self._entries.get(self._aliases.get(name, ""))

    @cached_property
    def _entries(self) -> Mapping[str, IndexEntry]:
        return {entry.spec.name: entry for entry in load_index()}

    @cached_property
    def _needs(self) -> frozenset[str]:
        return frozenset(entry.spec.needs for entry in self._entries.values() if entry.spec.needs)

    @cached_property
    def _finder(self) -> ToolFinder:
        return ToolFinder(self.specs())

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return load_aliases()


def load_aliases() -> Mapping[str, str]:
    """Other name → tool name."""
    return {name: str(target) for name, target in tomllib.loads(_ALIASES.read_text(encoding="utf-8")).items()}


def _load_function(entry: IndexEntry) -> ToolFunction:
    function = as_tool_function(getattr(import_module(entry.module), entry.function, None))
    assert function is not None, f"{entry.module} has no tool {entry.function!r}; the index is stale"
    return function


def _as_result(returned: Returned) -> ToolResult:
    result = ToolResult(text=returned) if isinstance(returned, str) else returned
    # Names on disk may hold bytes that are no text; nothing behind this point could store or send them.
    result = replace(result, text=_sendable(result.text), summary=_sendable(result.summary))
    summary = result.summary or next((line.strip() for line in result.text.splitlines() if line.strip()), "Done")
    short = summary if len(summary) <= _SUMMARY_LIMIT else f"{summary[: _SUMMARY_LIMIT - 1]}…"
    return replace(result, summary=short)


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
