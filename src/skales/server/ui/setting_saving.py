"""A change from the page: read as the setting's kind, judged, written if the file still says what the page showed."""

import json
from collections.abc import Callable, Sequence

from msgspec import Struct

from skales.core.errors import InputError, SkalesError
from skales.core.json import JsonValue, as_list, as_object, as_text
from skales.data.setting_shapes import Settings
from skales.data.settings import SettingsStore
from skales.server.told import told
from skales.server.ui.setting_controls import Outcome, find_option
from skales.server.ui.setting_table import Kind, Setting
from skales.server.ui.setting_values import CHANGED, change_value, parse_token, read_token, read_value
from skales.server.words import _


class Posted(Struct, frozen=True):
    """What a row's form sent. `was` is None for a form that carries nothing back; `remove` counts from 0."""

    values: Sequence[str] = ()
    was: str | None = None
    confirmed: str = ""
    remove: int | None = None


def save_setting(store: SettingsStore, setting: Setting, posted: Posted) -> Outcome | None:
    """What came of it; None when the file says that already and nothing was to be done."""
    settings = store.load()
    try:
        present, token = read_value(settings, setting.place), read_token(settings, setting.place)
        value = _read(setting, posted)
        if setting.item_key:
            value = _as_items(setting.item_key, value, parse_token(token))
        if posted.was in (None, token) and _says_that(setting, token, present, value):
            return None
        _judge(setting, settings, value)
    except InputError as error:
        return Outcome(error=describe(error), typed=_typed(setting, posted))
    if _is_looser(setting, present, value) and not _is_confirmed(setting, posted, value):
        return Outcome(asked=str(value) if setting.options else "true")
    return _write(store, setting, value, posted.was)


def undo_setting(store: SettingsStore, setting: Setting, former: str, saved: str) -> Outcome:
    """Put back what was there, unless the file says something else than what had been saved by now."""
    settings = store.load()
    try:
        value = parse_token(former)
        _judge(setting, settings, value)
    except InputError as error:
        return Outcome(error=describe(error))
    if _is_looser(setting, read_value(settings, setting.place), value):
        return Outcome(asked=str(value) if setting.options else "true")
    try:
        change_value(store, setting.place, value, expected=saved)
    except SkalesError as error:
        if error.code == CHANGED:
            return Outcome(error=_("settings.json was changed in the meantime, so nothing was put back."))
        return Outcome(error=describe(error))
    return Outcome(saved=_("Put back"))


def describe(error: SkalesError) -> str:
    """Reason and way out as sentences."""
    return f"{told(error.message)}. {told(error.hint)}." if error.hint else f"{told(error.message)}."


def _write(store: SettingsStore, setting: Setting, value: JsonValue, was: str | None) -> Outcome:
    try:
        former = change_value(store, setting.place, value, expected=was)
    except SkalesError as error:
        typed = str(value) if setting.kind in (Kind.LINE, Kind.TEXT, Kind.NUMBER) else None
        if error.code == CHANGED:
            words = _("settings.json was changed in the meantime. Here is what it says now; nothing was overwritten.")
            return Outcome(error=words, mine=typed)
        return Outcome(error=describe(error), typed=typed)
    return Outcome(saved=_("Saved"), former=former)


def _says_that(setting: Setting, token: str, present: JsonValue, value: JsonValue) -> bool:
    """Whether the file means the value; a switch is only as said in so many words."""
    return token == json.dumps(value) or (value == present and setting.kind is not Kind.SWITCH)


def _read(setting: Setting, posted: Posted) -> JsonValue:
    """The value that the form means. Raises InputError."""
    text = posted.confirmed or (posted.values[-1] if posted.values else "")
    match setting.kind:
        case Kind.SWITCH:
            return text == "true"
        case Kind.SEGMENTS | Kind.CARDS | Kind.SELECT:
            if find_option(setting, text) is None:
                raise InputError(_("This is none of the choices"))
            return text
        case Kind.NUMBER:
            return _read_amount(setting, text) if setting.is_decimal else _read_number(setting, text)
        case Kind.FOLDERS:
            return _read_list(posted, _check_folder)
        case Kind.WORDS:
            return _read_list(posted, setting.parse or str.strip)
        case Kind.TEXT:
            return text.replace("\r\n", "\n").rstrip()
        case Kind.LINE:
            return setting.parse(text) if setting.parse else text.strip()


def _read_number(setting: Setting, text: str) -> int:
    digits = text.strip()
    # More digits than the limit has are no number that could count.
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 12 else -1
    if not setting.low <= number <= setting.high:
        raise InputError(_("Write a whole number from %(low)d to %(high)d", low=setting.low, high=setting.high))
    return number


def _read_amount(setting: Setting, text: str) -> float:
    """A number with a decimal point or, as much of the world writes it, a comma."""
    digits = text.strip().replace(",", ".", 1)
    is_number = digits.isascii() and digits.replace(".", "", 1).isdecimal() and len(digits) < 12
    number = float(digits) if is_number else -1.0
    if not setting.low <= number <= setting.high:
        raise InputError(_("Write a number from %(low)d to %(high)d", low=setting.low, high=setting.high))
    return number


def _read_list(posted: Posted, parse: Callable[[str], str]) -> list[JsonValue]:
    texts = [text.strip() for number, text in enumerate(posted.values) if number != posted.remove]
    return list(dict.fromkeys(parse(text) for text in texts if text))


def _as_items(key: str, folders: JsonValue, present: JsonValue) -> list[JsonValue]:
    """Folders as the objects they stand in, those that were there with all that the file says of them."""
    known = {as_text(as_object(item).get(key)): item for item in as_list(present)}
    return [known.get(folder, {key: folder}) for folder in map(as_text, as_list(folders))]


def _check_folder(text: str) -> str:
    """A relative path would mean another folder each time Skales is started elsewhere. Raises InputError."""
    is_home = text == "~" or text.startswith(("~/", "~\\"))
    is_rooted = text.startswith(("/", "\\\\")) or (text[1:3] in (":\\", ":/") and text[:1].isalpha())
    if not (is_home or is_rooted) or not text.isprintable():
        raise InputError(
            _("Write the whole path of the folder"), hint=_("For example %(path)s", path="/home/you/projects")
        )
    return text


def _judge(setting: Setting, settings: Settings, value: JsonValue) -> None:
    if setting.check is not None:
        setting.check(settings, value)


def _is_looser(setting: Setting, present: JsonValue, value: JsonValue) -> bool:
    if setting.kind is Kind.SWITCH:
        return bool(setting.warning) and value is True and present is not True
    wanted, now = find_option(setting, value), find_option(setting, present)
    return wanted is not None and bool(wanted.warning) and wanted.rank > (now.rank if now else 0)


def _is_confirmed(setting: Setting, posted: Posted, value: JsonValue) -> bool:
    return posted.confirmed == ("true" if setting.kind is Kind.SWITCH else value)


def _typed(setting: Setting, posted: Posted) -> str | None:
    """What a person would have to type again."""
    if setting.kind in (Kind.FOLDERS, Kind.WORDS):
        return next((text for text in reversed(posted.values) if text.strip()), None)
    return posted.values[-1] if posted.values and setting.kind in (Kind.LINE, Kind.TEXT, Kind.NUMBER) else None
