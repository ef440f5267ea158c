"""A tool's parameters as form fields, and a filled form as arguments. Follows the tool's JSON Schema, nothing else."""

import json
from collections.abc import Mapping

from msgspec import structs

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.tool import ToolSpec
from skales.server.told import told
from skales.server.ui.tool_views import Control, ToolField
from skales.server.words import N_, _

# Texts of this kind run over several lines.
_LONG_TEXTS = ("content", "text", "body", "new_text", "old_text", "patch", "markdown", "message", "html")
_EXAMPLES = {"path": "notes.txt", "link": "notes.txt", "uri": "https://example.org", "shell-command": "ls -la"}
_HINTS = {
    "path": N_("A file or folder; relative to the workspace"),
    "link": N_("A file or folder; relative to the workspace"),
    "uri": N_("An address that begins with https://"),
    "shell-command": N_("A command as in a terminal"),
}


def build_fields(spec: ToolSpec, filled: Mapping[str, str] | None = None) -> tuple[ToolField, ...]:
    """One field per parameter, in the schema's order; with what was filled in, when something was."""
    required = set(required_names(spec))
    fields = (
        _build_field(name, _without_null(as_object(schema)), required=name in required)
        for name, schema in as_object(spec.parameters.get("properties")).items()
    )
    if filled is None:
        return tuple(fields)
    return tuple(structs.replace(field, value=filled.get(field.field, "")) for field in fields)


def read_arguments(spec: ToolSpec, filled: Mapping[str, str]) -> JsonObject:
    """The arguments a filled form means; empty optional fields are left out. Raises InputError that names the field."""
    arguments: dict[str, JsonValue] = {}
    for field in build_fields(spec):
        text = filled.get(field.field, "")
        if field.control is Control.SWITCH:
            if (text == "true") is not (field.value == "true"):
                arguments[field.name] = text == "true"
        elif text.strip() or (field.required and field.control in (Control.LINE, Control.TEXT)):
            arguments[field.name] = _read_value(field, text.replace("\r\n", "\n"))
    return arguments


def write_command(spec: ToolSpec) -> str:
    """The `/tool` line with the required parameters to fill in."""
    example = spec.example.arguments if spec.example else {}
    words = [f"{name}={_quote(example.get(name, '…'))}" for name in required_names(spec)]
    return " ".join(("/tool", spec.name, *words))


def required_names(spec: ToolSpec) -> list[str]:
    """The parameters that must be given."""
    return [str(name) for name in as_list(spec.parameters.get("required"))]


def _build_field(name: str, schema: JsonObject, *, required: bool) -> ToolField:
    choices = tuple(str(choice) for choice in as_list(schema.get("enum")) if choice is not None)
    kind = as_text(schema.get("format"))
    control = _choose_control(name, schema, has_choices=bool(choices))
    default = schema.get("default")
    help_text = told(as_text(schema.get("description")).strip())
    if control is Control.LIST:
        kind = as_text(as_object(schema.get("items")).get("format"))
        help_text = f"{help_text} {_('One per line.')}".strip()
    return ToolField(
        name=name,
        label=name.replace("_", " ").capitalize(),
        help=help_text or (_(_HINTS[kind]) if kind in _HINTS else ""),
        control=control,
        required=required,
        value=_show_default(default),
        choices=choices,
        step="1" if schema.get("type") == "integer" else "any",
        minimum=_show_bound(schema.get("minimum")),
        maximum=_show_bound(schema.get("maximum")),
        example=_EXAMPLES.get(kind, "") if control in (Control.LINE, Control.LIST) else "",
    )


def _choose_control(name: str, schema: JsonObject, *, has_choices: bool) -> Control:
    if has_choices:
        return Control.CHOICE
    match schema.get("type"):
        case "boolean":
            return Control.SWITCH
        case "integer" | "number":
            return Control.NUMBER
        case "array" if as_object(schema.get("items")).get("type") == "string":
            return Control.LIST
        case "string":
            return Control.TEXT if name in _LONG_TEXTS else Control.LINE
        case _:
            return Control.JSON


def _without_null(schema: JsonObject) -> JsonObject:
    """The schema of the value itself where "or nothing" is offered beside it."""
    options = [option for option in as_list(schema.get("anyOf")) if as_object(option).get("type") != "null"]
    if len(options) == 1:
        return {**as_object(options[0]), **{key: value for key, value in schema.items() if key != "anyOf"}}
    kinds = [kind for kind in as_list(schema.get("type")) if kind != "null"]
    return {**schema, "type": kinds[0]} if len(kinds) == 1 else schema


def _read_value(field: ToolField, text: str) -> JsonValue:
    match field.control:
        case Control.LIST:
            return [line.strip() for line in text.split("\n") if line.strip()]
        case Control.JSON:
            try:
                return parse_json(text)
            except ValueError as error:
                raise InputError(
                    _("%(field)s is not valid JSON: %(reason)s", field=field.label, reason=error),
                    hint=_("Correct it and run again"),
                ) from error
        case Control.NUMBER:
            return _read_number(field, text.strip())
        case Control.LINE | Control.TEXT | Control.CHOICE | Control.SWITCH:
            return text


def _read_number(field: ToolField, text: str) -> JsonValue:
    try:
        return int(text) if field.step == "1" else float(text)
    except ValueError as error:
        wanted = _("%(field)s must be a whole number") if field.step == "1" else _("%(field)s must be a number")
        raise InputError(wanted % {"field": field.label}, hint=_("Correct it and run again")) from error


def _show_default(default: JsonValue) -> str:
    match default:
        case None:
            return ""
        case str():
            return default
        case bool():
            return "true" if default else "false"
        case _ if isinstance(default, (list, tuple)) and all(isinstance(item, str) for item in default):
            return "\n".join(str(item) for item in default)
        case _:
            return json.dumps(default, ensure_ascii=False)


def _show_bound(bound: JsonValue) -> str:
    return str(bound) if isinstance(bound, (int, float)) and not isinstance(bound, bool) else ""


def _quote(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f'"{text}"' if " " in text else text
