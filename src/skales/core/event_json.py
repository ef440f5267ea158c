"""Turn events as JSON and back: how a surface in another process (the terminal, a script) sees the stream."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

from skales.core import events
from skales.core.events import TurnEvent
from skales.core.json import JsonObject, JsonValue

_CLASSES: Mapping[str, type[Any]] = {cls.__name__: cls for cls in typing.get_args(events.TurnEvent)}


def event_to_json(event: TurnEvent) -> JsonObject:
    """The event's fields and its class name under `type`."""
    return {"type": type(event).__name__, **cast(JsonObject, _encode(event))}


def event_from_json(value: JsonObject) -> TurnEvent:
    """Read what `event_to_json` wrote. Raises ValueError for anything else."""
    cls = _CLASSES.get(str(value.get("type")))
    if cls is None:
        raise ValueError(f"unknown event type {value.get('type')!r}")
    return cast(TurnEvent, _decode(value, cls))


def _encode(value: object) -> JsonValue:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return cast(JsonValue, value.value)
    if isinstance(value, Mapping):
        return {str(key): _encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encode(item) for item in value]
    return cast(JsonValue, value)


def _decode(value: JsonValue, wanted: Any) -> object:
    if isinstance(wanted, type) and dataclasses.is_dataclass(wanted) and isinstance(value, Mapping):
        # The JSON types name themselves, which only their own module could resolve; they need no conversion.
        hints = typing.get_type_hints(wanted, localns={"JsonValue": object})
        known = {field.name for field in dataclasses.fields(wanted)}
        return wanted(**{name: _decode(item, hints[name]) for name, item in value.items() if name in known})
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return wanted(value)
    origin = typing.get_origin(wanted)
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_decode(item, typing.get_args(wanted)[0]) for item in value)
    if origin in (types.UnionType, typing.Union) and value is not None:
        inner = [option for option in typing.get_args(wanted) if dataclasses.is_dataclass(option)]
        return _decode(value, inner[0]) if inner else value
    return value
