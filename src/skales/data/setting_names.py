"""Settings by dotted name and as text, for a command line: find the key, read the text as the key's type.

Whether the value is allowed is the settings' own business.
"""

import math
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeGuard, get_args, get_origin

from pydantic import BaseModel

from skales.core.errors import ConflictError, InputError, NotFoundError
from skales.core.ids import is_safe_id
from skales.core.json import JsonValue, as_object, parse_json
from skales.data.endpoints import mask_key

_YES = ("true", "yes", "on", "1")
_NO = ("false", "no", "off", "0")
# Also keys that other programs keep in the same file: tavilyApiKey, replicate_api_token.
_SECRET_NAME = re.compile(r"(key|token|secret|password|authorization)$", re.IGNORECASE)


def read_setting(settings: BaseModel, name: str) -> JsonValue:
    """The value under a dotted name, all of them for an empty one; secrets are masked.

    Raises NotFoundError that suggests the nearest name.
    """
    value: JsonValue = settings.model_dump(mode="json", by_alias=True)
    parts = name.split(".") if name else []
    for number, part in enumerate(parts):
        known = as_object(value)
        if part not in known:
            raise _unknown(name, parts[:number], list(known))
        value = known[part]
    return _mask(name, value)


def write_setting(model: type[BaseModel], raw: dict[str, JsonValue], name: str, text: str) -> None:
    """Put what the text means under a dotted name of the raw object.

    A name must be one of the model's or be in the file already. Raises InputError.
    """
    *above, last = name.split(".")
    parent: dict[str, JsonValue] = raw
    kind: object = model
    for number, part in enumerate(above):
        below = _kind_below(kind, part)
        if below is None and part not in parent:
            raise _unknown(name, above[:number], _names(kind, parent))
        kind = below
        parent = open_object(parent, part)
    below = _kind_below(kind, last) or (_kind_of(parent[last]) if last in parent else None)
    if below is None:
        raise _unknown(name, above, _names(kind, parent))
    parent[last] = _parse(below, text, name)


def open_object(parent: dict[str, JsonValue], name: str) -> dict[str, JsonValue]:
    """The object under a name, made when missing. Raises ConflictError for what is none: it is left alone."""
    child = parent.setdefault(name, {})
    if not isinstance(child, dict):
        raise ConflictError(f"{name!r} in settings.json is not an object", hint="Correct or remove it in the file")
    return child


def _kind_below(kind: object, part: str) -> object:
    """The type under one more part of a name, None when the model knows nothing there."""
    if _is_model(kind):
        return next((field.annotation for field in kind.model_fields.values() if field.alias == part), None)
    if get_origin(kind) is dict and is_safe_id(part):
        return get_args(kind)[1]
    return None


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _kind_of(value: JsonValue) -> object:
    """What a key that only the file knows holds now; it keeps that type."""
    match value:
        case bool() | int() | float() | str():
            return type(value)
        case _:
            return object


def _parse(kind: object, text: str, name: str) -> JsonValue:
    if kind is bool:
        return _parse_bool(text, name)
    if kind is int or kind is float:
        return _parse_number(text, name)
    if kind is object:
        return _parse_json(text, name, "JSON")
    if get_origin(kind) is list:
        return _parse_list(text, name)
    if get_origin(kind) is dict or _is_model(kind):
        raise InputError(f"{name!r} holds several settings", hint=f"Name one of them: {name}.<name>")
    return text


def _parse_bool(text: str, name: str) -> bool:
    word = text.strip().lower()
    if word not in _YES + _NO:
        raise InputError(f"{name!r} must be true or false", code="bad_setting")
    return word in _YES


def _parse_number(text: str, name: str) -> JsonValue:
    number = _parse_json(text, name, "a number")
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise InputError(f"{name!r} must be a number", code="bad_setting")
    return number


def _parse_json(text: str, name: str, wanted: str) -> JsonValue:
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputError(f"{name!r} must be {wanted}", code="bad_setting") from error


def _parse_list(text: str, name: str) -> JsonValue:
    """A JSON array, or texts with commas between; only the former can hold a comma."""
    if text.lstrip().startswith("["):
        return _parse_json(text, name, "a list")
    return [item.strip() for item in text.split(",") if item.strip()]


def _mask(name: str, value: JsonValue) -> JsonValue:
    match value:
        case str():
            return mask_key(value) if _SECRET_NAME.search(name) else value
        case Mapping():
            return {key: _mask(key, inner) for key, inner in value.items()}
        case Sequence():
            return [_mask(name, inner) for inner in value]
        case _:
            return value


def _names(kind: object, parent: Mapping[str, JsonValue]) -> Sequence[str]:
    """The names that are possible below a type and in an object."""
    known = [field.alias or name for name, field in kind.model_fields.items()] if _is_model(kind) else []
    return list(dict.fromkeys([*known, *parent]))


def _unknown(name: str, above: Sequence[str], known: Sequence[str]) -> NotFoundError:
    """`known` are the names below `above` that could have been meant."""
    near = get_close_matches(name.split(".")[len(above)], known, n=3)
    words = ", ".join(".".join([*above, part]) for part in near or known)
    hint = f"Did you mean {words}?" if near else f"Known here: {words}" if words else ""
    return NotFoundError(f"There is no setting {name!r}", hint=hint, code="unknown_setting")
