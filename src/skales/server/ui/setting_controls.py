"""From a setting and what the file says to a row of the page, with what came of its last change."""

from collections.abc import Sequence

from msgspec import Struct

from skales.core.json import JsonValue, as_list, as_object, as_text
from skales.data.setting_faults import SettingFault
from skales.data.setting_shapes import Settings
from skales.server.told import told
from skales.server.ui.setting_table import Kind, Option, Setting
from skales.server.ui.setting_values import read_token, read_value
from skales.server.ui.setting_views import Choice, Confirmation, Control, Undo
from skales.server.views import View
from skales.server.words import _


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of a change. `former` is the token of what was there, None when there is no way back.

    `asked` is a looser value that waits for a yes, `mine` a text that was not kept.
    """

    saved: str = ""
    former: str | None = None
    error: str = ""
    typed: str | None = None
    mine: str | None = None
    asked: str = ""


def build_control(
    settings: Settings,
    faults: Sequence[SettingFault],
    setting: Setting,
    outcome: Outcome | None = None,
    beside: tuple[View, ...] = (),
) -> Control:
    """The row as it stands now."""
    value = read_value(settings, setting.place)
    was = read_token(settings, setting.place)
    came = outcome or Outcome()
    return Control(
        name=setting.name,
        anchor=setting.anchor,
        label=_(setting.label),
        help=_(setting.help) if setting.help else "",
        kind=setting.kind,
        was=was,
        is_advanced=setting.is_advanced,
        text=_show_text(value) if came.typed is None else came.typed,
        is_on=value is True,
        choices=tuple(_show_option(option, value) for option in setting.options),
        folders=_list_texts(setting, value),
        unit=_(setting.unit) if setting.unit else "",
        low=setting.low,
        high=setting.high,
        placeholder=_(setting.placeholder) if setting.placeholder else "",
        suggestions=setting.suggestions,
        saved=came.saved,
        announcement=f"{_(setting.label)}: {came.saved}" if came.saved else "",
        undo=None if came.former is None else Undo(came.former, was),
        error=came.error,
        fault=_find_fault(faults, setting),
        mine=came.mine,
        confirmation=_ask(setting, came.asked) if came.asked else None,
        beside=beside,
    )


def _list_texts(setting: Setting, value: JsonValue) -> tuple[str, ...]:
    if setting.kind not in (Kind.FOLDERS, Kind.WORDS):
        return ()
    key = setting.item_key
    return tuple(as_text(as_object(item).get(key) if key else item) for item in as_list(value))


def loose_faults(faults: Sequence[SettingFault], settings: Sequence[Setting]) -> tuple[str, ...]:
    """Faults of the file that belong to none of these rows, as sentences."""
    return tuple(_say(fault) for fault in faults if not any(_belongs(fault, setting) for setting in settings))


def find_option(setting: Setting, value: JsonValue) -> Option | None:
    """The option of a value."""
    return next((option for option in setting.options if option.value == value), None)


def _find_fault(faults: Sequence[SettingFault], setting: Setting) -> str:
    return " ".join(_say(fault) for fault in faults if _belongs(fault, setting))


def _belongs(fault: SettingFault, setting: Setting) -> bool:
    return tuple(map(str, fault.place))[: len(setting.place)] == setting.place


def _say(fault: SettingFault) -> str:
    words = f"{fault.name!r} {told(fault.reason)}"
    sentence = _("In settings.json %(fault)s, so it does not count.", fault=words)
    return f"{sentence} {told(fault.hint)}." if fault.hint else sentence


def _ask(setting: Setting, asked: str) -> Confirmation:
    option = find_option(setting, asked)
    if option is None:
        return Confirmation(asked, _(setting.label), _(setting.warning))
    return Confirmation(asked, _(option.label), _(option.warning))


def _show_option(option: Option, value: JsonValue) -> Choice:
    return Choice(
        option.value, _(option.label), _(option.help) if option.help else "", option.symbol, option.value == value
    )


def _show_text(value: JsonValue) -> str:
    match value:
        case bool():
            return ""
        case str() | int():
            return str(value)
        case float():
            return f"{value:.10g}"
        case _:
            return ""
