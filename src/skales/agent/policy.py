"""The rules one call is judged by: where it reaches, what its command does, how it may start. No call runs here.

Spec: orchestrator.md, "Effective decision"; security.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from msgspec import Struct, structs

from skales.core.errors import SkalesError
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import Outcome, SafetyMode, ToolSpec, Verdict, property_formats, safety_of_call, strictest
from skales.security.decision import dangerous_in_mode, decide
from skales.security.network import NetworkPolicy, decide_url
from skales.security.paths import PathPolicy, decide_path, resolve_path

_KINDS = {"path": "path", "uri": "host", "shell-command": "command"}


class Finding(Struct, frozen=True):
    """What one rule says of a call: `kind` is `level`, `path`, `host`, `command` or `more`, `about` what it read."""

    kind: str
    verdict: Verdict
    about: str = ""


class Policy(Struct, frozen=True):
    """What the person's settings allow at this moment. `unconfined` says why commands run without a sandbox."""

    mode: SafetyMode
    paths: PathPolicy
    network: NetworkPolicy
    unconfined: Callable[[], str] = lambda: ""

    def judge(self, spec: ToolSpec, arguments: JsonObject, *, by_user: bool) -> Verdict:
        """The strictest rule about a call whose arguments are valid."""
        return strictest(*(finding.verdict for finding in self.findings(spec, arguments, by_user=by_user)))

    def findings(self, spec: ToolSpec, arguments: JsonObject, *, by_user: bool) -> tuple[Finding, ...]:
        """What each rule says about a call whose arguments are valid; the safety level comes first."""
        formats = property_formats(spec)
        start = decide(safety_of_call(spec, arguments), self.mode, by_user=by_user)
        if start.outcome is Outcome.ASK and "shell-command" in formats.values() and (words := self.unconfined()):
            start = replace(start, reason=words)
        reached = (
            Finding(_KINDS.get(formats[name], "more"), self._judge_value(_form(spec, name, formats), text), text)
            for name, value in arguments.items()
            if name in formats
            for text in _texts(value)
        )
        return (Finding("level", start), *reached)

    def _judge_value(self, kind: str, text: str) -> Verdict:
        match kind:
            case "path" | "link":
                try:
                    return decide_path(resolve_path(text, self.paths, follow_last=kind == "path"), self.paths)
                except SkalesError as error:
                    return Verdict(Outcome.DENY, str(error), "path")
            case "uri":
                return decide_url(text, self.network)
            case "shell-command":
                return self._judge_command(text)
            case _:
                return Verdict(Outcome.ALLOW)

    def _judge_command(self, command: str) -> Verdict:
        """The command guard, and the blocked folders for each file the command names."""
        # The shell's grammar is loaded with the first command, not with the program.
        from skales.security.shell import judge_command
        from skales.security.shell_paths import named_paths

        # Commands may reach beyond the allowed folders, which their own approval is for; blocked ones stay closed.
        closed = structs.replace(self.paths, unrestricted=True)
        named = [self._judge_named(text, closed) for text in named_paths(command)]
        return strictest(dangerous_in_mode(judge_command(command).verdict, self.mode), *named)

    def _judge_named(self, text: str, closed: PathPolicy) -> Verdict:
        try:
            return decide_path(resolve_path(text, closed), closed)
        except SkalesError:
            return Verdict(Outcome.ALLOW)  # no usable path; the program will say so


def _form(spec: ToolSpec, name: str, formats: Mapping[str, str]) -> str:
    return "link" if name in spec.links else formats[name]


def _texts(value: JsonValue) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping) or value is None or isinstance(value, (int, float)):
        return []
    return [item for item in value if isinstance(item, str)]
