"""Waiting questions as cards: the call in plain words, its arguments as fields where their kinds are simple."""

import json
from collections.abc import Mapping

from skales.agent.budget import SUBJECT
from skales.core.approval import Approval, AskKind
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import ToolSpec
from skales.server.step_views import ApprovalCard, CardField
from skales.server.told import told
from skales.server.ui.steps import call_key, read_diff
from skales.server.ui.tool_views import Control, ToolField
from skales.server.ui.toolform import build_fields
from skales.server.ui.why import build_why
from skales.server.words import ngettext


def build_card(approval: Approval, spec: ToolSpec | None = None) -> ApprovalCard:
    """A waiting question; with the tool's schema its arguments come as fields, too."""
    reason = told(approval.reason)
    # What a model asks is in its own words.
    is_ours = approval.kind is not AskKind.QUESTION or approval.tool == SUBJECT
    return ApprovalCard(
        id=approval.id,
        call_key=call_key(approval.call_id),
        tool=approval.tool,
        action=told(approval.action) if is_ours else approval.action,
        reason=reason[:1].upper() + reason[1:],
        arguments=json.dumps(approval.args, ensure_ascii=False, indent=2, default=str),
        covers=told(approval.covers),
        created_ms=approval.created_ms,
        expires_ms=approval.expires_ms,
        is_question=approval.kind is AskKind.QUESTION,
        options=approval.options,
        option_words=tuple(map(told, approval.options)) if is_ours else approval.options,
        fields=_build_fields(spec, approval.args) if spec else (),
        preview=told(approval.preview),
        lines=read_diff(approval.preview),
        sandbox="" if approval.sandbox == approval.reason else told(approval.sandbox),
        past=_say_past(approval),
        why=build_why(approval.why),
    )


def _say_past(approval: Approval) -> str:
    """How many of the last calls of the tool a wider yes would have covered; empty where there were none."""
    if not approval.past_calls:
        return ""
    return ngettext(
        "It would have covered %(covered)d of the last %(num)d call of this tool.",
        "It would have covered %(covered)d of the last %(num)d calls of this tool.",
        approval.past_calls,
        covered=approval.past_covered,
    )


def _build_fields(spec: ToolSpec, arguments: JsonObject) -> tuple[CardField, ...]:
    """One per parameter that is given or must be; nothing when one of them is no plain value."""
    known = build_fields(spec)
    if set(arguments) - {field.name for field in known}:
        return ()
    shown = [field for field in known if field.name in arguments or field.required]
    if not all(_is_simple(field, arguments) for field in shown):
        return ()
    return tuple(_build_field(field, arguments) for field in shown)


def _is_simple(field: ToolField, arguments: Mapping[str, JsonValue]) -> bool:
    value = arguments.get(field.name)
    match field.control:
        case Control.SWITCH:
            return isinstance(value, bool) or value is None
        case Control.NUMBER:
            return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
        case Control.LIST:
            return value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value))
        case Control.CHOICE:
            return value is None or value in field.choices
        case Control.LINE | Control.TEXT:
            return value is None or isinstance(value, str)
        case Control.JSON:
            return False


def _build_field(field: ToolField, arguments: Mapping[str, JsonValue]) -> CardField:
    value = arguments.get(field.name)
    control = field.control
    if control is Control.LINE and isinstance(value, str) and ("\n" in value or len(value) > 120):
        control = Control.TEXT
    return CardField(
        name=field.name,
        label=field.label,
        control=control.value,
        value=_show(value, control),
        help=field.help,
        choices=field.choices,
        step=field.step,
        # A text over several lines may well be wanted empty.
        required=field.required and control is Control.LINE,
    )


def _show(value: JsonValue, control: Control) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() if control is Control.LIST:
            return "\n".join(str(item) for item in value)
        case _:
            return str(value)
