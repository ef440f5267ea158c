"""Derives a tool's ToolSpec from its signature and docstring, so that neither can drift from the function.

Supported parameter types are few on purpose: every provider understands the JSON Schema they become. No `$ref`, no
unions, no null. Spec: tools.md.
"""

import inspect
import re
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import Struct

from skales.core.errors import SkalesError
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import ToolSpec
from skales.tools.define import LinkPath, Range, Returned, ShellCommand, Url, mark_of

ToolFunction = Callable[..., Awaitable[Returned]]
Values = TypeVar("Values", bound=tuple[JsonValue, ...])

_SECTION = re.compile(r"^(Args|Returns|Raises|Example|Examples|Note|Yields):\s*$")
_ARGUMENT = re.compile(r"^ {4}(\w+)(?: \([^)]*\))?:\s*(.*)$")
_SCALARS: Mapping[object, JsonObject] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Path: {"type": "string", "format": "path"},
    LinkPath: {"type": "string", "format": "path"},
    Url: {"type": "string", "format": "uri"},
    ShellCommand: {"type": "string", "format": "shell-command"},
}


class SchemaError(SkalesError):
    """A tool function is not written as tools must be; a fault of the code, found when the index is generated."""

    def __init__(self, message: str, *, hint: str = "", code: str = "schema") -> None:
        super().__init__(message, hint=hint, code=code)


class Parameter(Struct, frozen=True):
    """One parameter of a tool function: its bare type, without `Annotated`, limits and `| None`, and its default."""

    name: str
    type: object
    is_list: bool
    default: object


def derive_spec(function: ToolFunction) -> ToolSpec:
    """What the function is as a tool. Raises SchemaError when its mark, signature or docstring is incomplete."""
    mark = mark_of(function)
    name = function.__name__
    if mark is None:
        raise SchemaError(f"{name!r} is not marked as a tool", hint="Put @tool above it")
    description, documented = _read_docstring(function)
    return ToolSpec(
        name=name,
        description=description,
        parameters=_object_schema(function, documented),
        category=mark.category,
        safety=mark.safety,
        effects=mark.effects,
        addon=mark.addon,
        example=mark.example,
        found_by=mark.found_by,
        is_basic=mark.basic,
        asks_unless=_harmless(function, mark.asks_unless),
        needs=mark.needs,
        once=mark.once,
        repeatable=_harmless(function, mark.repeatable),
        links=frozenset(parameter.name for parameter in tool_parameters(function) if parameter.type is LinkPath),
    )


def _harmless(function: ToolFunction, values: Mapping[str, Values]) -> Mapping[str, Values]:
    for name in values:
        if name not in inspect.signature(function).parameters:
            raise SchemaError(f"{function.__name__!r} has no parameter {name!r} to run unasked by")
    return values


@lru_cache(maxsize=1_000)
def tool_parameters(function: ToolFunction) -> Sequence[Parameter]:
    """The parameters after `ctx`, in order, for binding values to the function's own types."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    return [
        _bare_parameter(name, hints[name], signature.parameters[name].default) for name in _parameter_names(function)
    ]


def _bare_parameter(name: str, hint: object, default: object) -> Parameter:
    inner, _limits = _unwrap(hint)
    if get_origin(inner) in {list, tuple, Sequence}:
        item, _limits = _unwrap(get_args(inner)[0])
        return Parameter(name, item, is_list=True, default=default)
    return Parameter(name, inner, is_list=False, default=default)


def _object_schema(function: ToolFunction, documented: Mapping[str, str]) -> JsonObject:
    hints = get_type_hints(function, include_extras=True)
    names = _parameter_names(function)
    if unknown := sorted(set(documented) - set(names)):
        raise SchemaError(f"{function.__name__!r} documents {unknown[0]!r}, which is not a parameter")
    signature = inspect.signature(function)
    properties: dict[str, JsonValue] = {}
    required: list[str] = []
    for name in names:
        if not documented.get(name):
            raise SchemaError(f"{function.__name__!r} has no words for {name!r}", hint="Add a line under Args:")
        if name not in hints:
            raise SchemaError(f"{function.__name__!r} has no type for {name!r}")
        default: object = signature.parameters[name].default
        properties[name] = {**_schema_of(hints[name]), "description": documented[name], **_default(default)}
        if default is inspect.Parameter.empty:
            required.append(name)
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _parameter_names(function: ToolFunction) -> Sequence[str]:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].name != "ctx":
        raise SchemaError(f"{function.__name__!r} does not take `ctx` first")
    for parameter in parameters:
        if parameter.kind in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            raise SchemaError(f"{function.__name__!r} takes `*{parameter.name}`, which no schema can say")
    return [parameter.name for parameter in parameters[1:]]


def _schema_of(hint: object) -> JsonObject:
    inner, limits = _unwrap(hint)
    if inner in _SCALARS:
        return {**_SCALARS[inner], **_limit_keys(limits, "minimum", "maximum")}
    if isinstance(inner, type) and issubclass(inner, StrEnum):
        return {"type": "string", "enum": [member.value for member in inner]}
    origin, arguments = get_origin(inner), get_args(inner)
    if origin is Literal and all(isinstance(value, str) for value in arguments):
        return {"type": "string", "enum": list(arguments)}
    if origin in {list, tuple, Sequence} and arguments:
        return {"type": "array", "items": _schema_of(arguments[0]), **_limit_keys(limits, "minItems", "maxItems")}
    if dict in {inner, origin} or origin is Mapping:
        return {"type": "object"}
    raise SchemaError(f"No provider-safe schema for the type {inner!r}", hint="Use a simple type, a list or a Literal")


def _unwrap(hint: object) -> tuple[object, Range | None]:
    """The type inside `Annotated[…]` and `… | None`, and its limits."""
    limits: Range | None = None
    while True:
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
            limits = next((note for note in notes if isinstance(note, Range)), limits)
        elif get_origin(hint) in {Union, types.UnionType}:
            chosen = [part for part in get_args(hint) if part is not type(None)]
            if len(chosen) != 1:
                raise SchemaError(f"A parameter can be one type or None, not {hint!r}")
            hint = chosen[0]
        else:
            return hint, limits


def _limit_keys(limits: Range | None, least: str, most: str) -> JsonObject:
    return {} if limits is None else {least: limits.least, most: limits.most}


def _default(default: object) -> JsonObject:
    """The default where a model gains by knowing it: `None`, empty and `False` go without saying."""
    if isinstance(default, StrEnum):
        return {"default": default.value}
    if isinstance(default, (str, int, float)) and default:
        return {"default": default}
    if isinstance(default, Path):
        return {"default": default.as_posix()}
    return {}


def _read_docstring(function: ToolFunction) -> tuple[str, Mapping[str, str]]:
    """The description and the words for each argument."""
    text = inspect.getdoc(function) or ""
    sections: dict[str, list[str]] = {"": []}
    current = ""
    for line in text.splitlines():
        if found := _SECTION.match(line):
            current = found[1]
            sections[current] = []
        else:
            sections[current].append(line)
    description = " ".join(" ".join(sections[""]).split())
    if not description:
        raise SchemaError(f"{function.__name__!r} has no docstring", hint="Line one tells the model when to use it")
    return description, _argument_words(sections.get("Args", []))


def _argument_words(lines: Sequence[str]) -> Mapping[str, str]:
    words: dict[str, str] = {}
    last = ""
    for line in lines:
        if found := _ARGUMENT.match(line):
            last = found[1]
            words[last] = found[2].strip()
        elif last and line.strip():
            words[last] = f"{words[last]} {line.strip()}".strip()
    return words


def as_tool_function(value: object) -> ToolFunction | None:
    """The value when it is a marked function, for walking over a module's names."""
    return cast(ToolFunction, value) if callable(value) and mark_of(value) is not None else None
