"""Turns checked JSON arguments into what a tool function's types say: above all, texts into paths it may use."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import Outcome
from skales.security.paths import PathPolicy, decide_path, resolve_path
from skales.tools.define import LinkPath
from skales.tools.schema import Parameter, ToolFunction, tool_parameters


def bind_arguments(function: ToolFunction, arguments: JsonObject, policy: PathPolicy) -> Mapping[str, object]:
    """Keyword arguments for the function. Raises ToolRefusedError in the words of the rule that forbids a path."""
    bound: dict[str, object] = {}
    for parameter in tool_parameters(function):
        value = arguments.get(parameter.name)
        if value is not None:
            bound[parameter.name] = _bind(value, parameter, policy)
            continue
        if isinstance(parameter.default, Path):
            bound[parameter.name] = _bind(str(parameter.default), parameter, policy)
    return bound


def _bind(value: JsonValue, parameter: Parameter, policy: PathPolicy) -> object:
    if parameter.is_list and isinstance(value, Sequence) and not isinstance(value, str):
        return [_bind_one(item, parameter.type, policy) for item in value]
    return _bind_one(value, parameter.type, policy)


def _bind_one(value: JsonValue, wanted: object, policy: PathPolicy) -> object:
    if not isinstance(value, str):
        return value
    if wanted is Path or wanted is LinkPath:
        return allowed_path(value, policy, follow_last=wanted is Path)
    if isinstance(wanted, type) and issubclass(wanted, StrEnum):
        return wanted(value)
    return value


def allowed_path(text: str, policy: PathPolicy, *, follow_last: bool = True) -> Path:
    """The real path a text means, when the rules let a tool use it. Raises ToolError or InputError."""
    try:
        path = resolve_path(text, policy, follow_last=follow_last)
    except OSError as error:
        # A folder on the way can vanish while its links are followed.
        raise ToolError(f"The path {text!r} cannot be followed: {error.strerror}", hint="Try again") from error
    verdict = decide_path(path, policy)
    if verdict.outcome is Outcome.DENY:
        raise ToolRefusedError(verdict.reason)
    return path
