"""Translates tool schemas into the subset that Google takes, and the arguments that come back into the tool's types.

Constraints are translated where the subset has them and put into words where it does not. Each part of a schema gives
two things: how it is written for Google, and a function that turns a value written for it back. The tool's own schema
is not changed, and the gate checks arguments against that one.
Spec: https://ai.google.dev/api/caching#Schema
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field, structs

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.providers.formats.schema_merge import (
    find_reference,
    flatten_variants,
    keywords_of_others,
    list_types,
    merge_all_of,
    merge_schemas,
)
from skales.providers.formats.schemas import add_words
from skales.providers.lenient_json import read_object, read_strict
from skales.providers.toolnames import to_wire_name

TurnBack = Callable[[JsonValue], JsonValue]

# A schema that refers to itself would never end; what lies deeper is asked for as JSON text.
_MAX_REFERENCES = 5
# References that lead to references multiply; a tool of a stranger must not cost more than this.
_MAX_EXPANSIONS = 200
_LEGAL_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# What RE2, which checks patterns there, has no notion of.
_FOREIGN_PATTERN = re.compile(r"\(\?[=!<]|\\[1-9]")
_FORMATS = {"string": {"date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}
# Formats that a model understands when it reads them; ours for the gate mean nothing to it.
_TOLD_FORMATS = frozenset({"date", "time", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid", "regex"})
_KEPT = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}
_HANDLED = frozenset(
    {"type", "description", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}
    | {"additionalProperties", "nullable", "format", "pattern", "minimum", "maximum", "prefixItems"}
)
_AS_TEXT = "A JSON object, written as text."


class WireSchema(Struct, frozen=True):
    """A schema for Google and the way back for its values. `turn_back` raises ValueError in words for the model."""

    schema: JsonObject
    turn_back: TurnBack = lambda value: value


class _Scope(Struct, frozen=True):
    """Where references lead, which ones led here, and all that were followed so far."""

    root: JsonObject
    references: tuple[str, ...] = ()
    followed: list[str] = field(default_factory=list)


def translate_parameters(parameters: JsonObject) -> WireSchema:
    """The parameters of a tool; an empty schema when it takes none, since Google wants none then."""
    scope = _Scope(parameters)
    node = flatten_variants(parameters)
    if not as_object(node.get("properties")):
        return WireSchema({})
    return _translate_object(node, scope)


def _resolve(node: JsonObject, scope: _Scope) -> tuple[JsonObject, _Scope | None]:
    """The node behind a reference with what stands beside it, and the scope inside; no scope for an endless one."""
    while reference := as_text(node.get("$ref")):
        is_deep = len(scope.references) >= _MAX_REFERENCES or len(scope.followed) >= _MAX_EXPANSIONS
        if is_deep or reference in scope.references:
            return node, None
        scope.followed.append(reference)
        scope = structs.replace(scope, references=(*scope.references, reference))
        beside = {key: value for key, value in node.items() if key != "$ref"}
        node = merge_schemas(find_reference(reference, scope.root), beside)
    return node, scope


def _translate(value: JsonValue, outer: _Scope) -> WireSchema:
    node, scope = _resolve(as_object(value), outer)
    if scope is None:
        return _translate_endless(node)
    node = merge_all_of(node, scope.root)
    variants = [as_object(part) for key in ("anyOf", "oneOf") for part in as_list(node.get(key))]
    if variants:
        return _translate_union(node, variants, scope)
    types = list_types(node)
    if "enum" in node or "const" in node:
        return _translate_enum(node)
    plain = [name for name in types if name != "null"]
    if len(plain) > 1:
        return _translate_union({**node, "type": None}, [{"type": name} for name in types], scope)
    wire = _translate_plain(plain[0] if plain else "", node, scope, is_null=types == ["null"])
    return _nullable(wire) if plain and ("null" in types or node.get("nullable") is True) else wire


def _translate_plain(kind: str, node: JsonObject, scope: _Scope, *, is_null: bool) -> WireSchema:
    if is_null:
        return WireSchema(_described({"type": "null"}, node))
    match kind:
        case "object" if as_object(node.get("properties")):
            return _translate_object(node, scope)
        case "object":
            return _translate_text_object(node)
        case "array":
            return _translate_array(node, scope)
        case "string":
            return WireSchema(_described(_bounded_string(node), node))
        case "integer" | "number":
            return _translate_number(kind, node)
        case "boolean":
            return WireSchema(_described({"type": "boolean"}, node))
        case _:
            return _translate_anything(node)


# --- parts ---


def _translate_object(node: JsonObject, scope: _Scope) -> WireSchema:
    parts = {
        name: _translate(part, scope) for name, part in as_object(node.get("properties")).items() if part is not False
    }
    spelled = {name: _spell_property(name) for name in parts}
    names = {wire: name for name, wire in spelled.items()}
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {spelled[name]: part.schema for name, part in parts.items()},
    }
    # A required name without a property would be refused.
    if required := list(dict.fromkeys(spelled[str(name)] for name in as_list(node.get("required")) if name in parts)):
        schema["required"] = required

    def turn_back(value: JsonValue) -> JsonValue:
        if not isinstance(value, Mapping):
            return value
        found: dict[str, JsonValue] = {}
        for wire_name, inner in value.items():
            name = names.get(wire_name, wire_name)
            found[name] = _named(name, parts[name].turn_back, inner) if name in parts else inner
        return found

    return WireSchema(_described(schema, node), turn_back)


def _translate_text_object(node: JsonObject) -> WireSchema:
    """An object of unknown names, for which Google has no schema: asked for as text."""
    values = as_object(node.get("additionalProperties"))
    told = f" Its values fit {json.dumps(values, ensure_ascii=False)}." if values else ""
    words = " ".join(filter(None, [as_text(node.get("description")), _AS_TEXT + told]))
    return WireSchema({"type": "string", "description": words}, _read_text_object)


def _translate_endless(node: JsonObject) -> WireSchema:
    """What a reference names that leads to itself: text, which may hold an object or an array."""
    words = " ".join(filter(None, [as_text(node.get("description")), "Objects and arrays are written as JSON text."]))
    return WireSchema({"type": "string", "description": words}, _opened)


def _translate_array(node: JsonObject, scope: _Scope) -> WireSchema:
    items = node.get("items")
    item = _translate(items, scope) if isinstance(items, Mapping) and items else WireSchema({"type": "string"}, _opened)
    kept = {name: node[name] for name in _KEPT["array"] if name in node}

    def turn_back(value: JsonValue) -> JsonValue:
        if not isinstance(value, list):
            return value
        return [_named(f"{index}", item.turn_back, inner) for index, inner in enumerate(value)]

    return WireSchema(_described({"type": "array", "items": item.schema, **kept}, node), turn_back)


def _bounded_string(node: JsonObject) -> JsonObject:
    schema: dict[str, JsonValue] = {"type": "string"}
    schema.update({name: node[name] for name in _KEPT["string"] if name in node})
    pattern = as_text(node.get("pattern"))
    if pattern and not _FOREIGN_PATTERN.search(pattern):
        schema["pattern"] = pattern
    return schema


def _translate_number(kind: str, node: JsonObject) -> WireSchema:
    schema: dict[str, JsonValue] = {"type": kind}
    low, high = _bounds(node, is_whole=kind == "integer")
    if low is not None:
        schema["minimum"] = low
    if high is not None:
        schema["maximum"] = high
    return WireSchema(_described(schema, node), _whole if kind == "integer" else lambda value: value)


def _bounds(node: JsonObject, *, is_whole: bool) -> tuple[float | None, float | None]:
    """The bounds that Google knows, never wider than meant: those of whole numbers move inside."""
    low, high = _number(node.get("minimum")), _number(node.get("maximum"))
    if not is_whole:
        # Older schemas say `exclusiveMinimum: true`; words say it then.
        return low, high
    above, below = _number(node.get("exclusiveMinimum")), _number(node.get("exclusiveMaximum"))
    if node.get("exclusiveMinimum") is True and low is not None:
        above = low
    if node.get("exclusiveMaximum") is True and high is not None:
        below = high
    lows = [math.ceil(low)] if low is not None else []
    highs = [math.floor(high)] if high is not None else []
    lows += [math.floor(above) + 1] if above is not None else []
    highs += [math.ceil(below) - 1] if below is not None else []
    return max(lows, default=None), min(highs, default=None)


def _translate_enum(node: JsonObject) -> WireSchema:
    """Only strings may be listed; other values are spelled as strings and turned back."""
    listed = [node["const"]] if "const" in node else list(as_list(node.get("enum")))
    values = [value for value in listed if value is not None]
    wire = _translate_values(node, values)
    return _nullable(wire) if len(values) < len(listed) or node.get("nullable") is True else wire


def _translate_values(node: JsonObject, values: Sequence[JsonValue]) -> WireSchema:
    if values and all(isinstance(value, bool) for value in values):
        words = {} if len(values) > 1 else {"const": values[0]}
        return WireSchema(add_words(_described({"type": "boolean"}, node), words))
    # An empty string may not be listed either.
    texts = {_spell_value(value): value for value in reversed(values) if value != ""}
    schema: dict[str, JsonValue] = {"type": "string"}
    if texts:
        schema["enum"] = list(dict.fromkeys(_spell_value(value) for value in values if value != ""))
    if all(isinstance(value, str) for value in values):
        return WireSchema(_described(schema, node))

    def turn_back(value: JsonValue) -> JsonValue:
        if isinstance(value, str) and value in texts:
            return texts[value]
        if value is None or value in values:
            return value
        raise ValueError(f"must be one of {', '.join(reversed(texts))}, not {value!r}")

    return WireSchema(_described(schema, node), turn_back)


def _translate_union(node: JsonObject, variants: Sequence[JsonObject], scope: _Scope) -> WireSchema:
    """Nothing may stand beside a union, so that what does goes into each of its variants."""
    beside = {key: value for key, value in node.items() if key not in ("anyOf", "oneOf") and value is not None}
    full = [merge_schemas(beside, variant) for variant in variants]
    kinds = [list_types(_resolve(variant, scope)[0]) for variant in full]
    rest = [(variant, kind) for variant, kind in zip(full, kinds, strict=True) if kind != ["null"]]
    wires = [(_translate(variant, scope), kind) for variant, kind in rest]
    if not wires:
        return WireSchema(_described({"type": "null"}, node))
    wire = wires[0][0] if len(wires) == 1 else _join([*wires])
    return _nullable(wire) if len(rest) < len(full) or node.get("nullable") is True else wire


def _join(wires: Sequence[tuple[WireSchema, Sequence[str]]]) -> WireSchema:
    def turn_back(value: JsonValue) -> JsonValue:
        for wire, kinds in wires:
            try:
                found = wire.turn_back(value)
            except ValueError:
                continue
            if not kinds or any(_is_kind(found, kind) for kind in kinds):
                return found
        return value

    # A union in a union is one union.
    parts = [part for wire, _ in wires for part in as_list(wire.schema.get("anyOf")) or (wire.schema,)]
    return WireSchema({"anyOf": parts}, turn_back)


def _translate_anything(node: JsonObject) -> WireSchema:
    first = _described({"type": "string"}, node)
    return WireSchema({"anyOf": [first, {"type": "number"}, {"type": "boolean"}]}, _opened)


# --- pieces ---


def _described(schema: JsonObject, node: JsonObject) -> JsonObject:
    """The schema with the node's description, and in words what it does not carry."""
    kind = as_text(schema.get("type"))
    foreign = keywords_of_others(kind)
    rest = {key: value for key, value in node.items() if key not in _HANDLED | foreign and key not in schema}
    wanted = as_text(node.get("format"))
    described = dict(schema)
    if wanted in _FORMATS.get(kind, ()) and "enum" not in schema:
        described["format"] = wanted
    elif wanted in _TOLD_FORMATS:
        rest["format"] = wanted
    if "pattern" in node and "pattern" not in schema:
        rest["pattern"] = node["pattern"]
    if kind == "integer":
        # They moved into the bounds; every whole number is a multiple of one.
        drop = {"exclusiveMinimum", "exclusiveMaximum"} | ({"multipleOf"} if node.get("multipleOf") == 1 else set())
        rest = {key: value for key, value in rest.items() if key not in drop}
    if as_text(node.get("description")):
        described["description"] = node["description"]
    return add_words(described, rest)


def _nullable(wire: WireSchema) -> WireSchema:
    if parts := as_list(wire.schema.get("anyOf")):
        schema: JsonObject = {"anyOf": [{**as_object(part), "nullable": True} for part in parts]}
    else:
        schema = {**wire.schema, "nullable": True}
    return WireSchema(schema, lambda value: None if value is None else wire.turn_back(value))


def _spell_property(name: str) -> str:
    if _LEGAL_PROPERTY.fullmatch(name):
        return name
    # The hash keeps names apart that are equal after cleaning; a dash or a leading digit is legal for tools only.
    return f"p_{to_wire_name(name + '.')[-60:]}".replace("-", "_")


def _spell_value(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _named(name: str, turn_back: TurnBack, value: JsonValue) -> JsonValue:
    try:
        return turn_back(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _read_text_object(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        found, end = read_object(text, 0) if text.startswith("{") else ({}, -1)
    except ValueError as error:
        raise ValueError(f"must be a JSON object written as text: {error}") from error
    if end != len(text):
        raise ValueError("must be one JSON object written as text")
    return found


def _opened(value: JsonValue) -> JsonValue:
    """Text that holds an object or an array as that; any other text stays text."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return read_strict(value)
        except ValueError:
            return value
    return value


def _whole(value: JsonValue) -> JsonValue:
    """Numbers have one type there, so that a whole one may come with a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number(value: JsonValue) -> float | None:
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def _is_kind(value: JsonValue, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return _number(value) is not None
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case _:
            return value is None
