"""Values of settings.json on their way between file and form, so that no edit by hand is lost.

The page carries what it showed (`was`). A change counts only while the file still says that; so does an undo.
"""

import json
from collections.abc import Sequence
from typing import cast

from skales.core.errors import ConflictError, InputError
from skales.core.json import JsonValue, as_object, parse_json
from skales.data.setting_faults import RawSettings, parse_settings
from skales.data.setting_names import open_object
from skales.data.setting_shapes import ProviderSettings, Settings
from skales.data.settings import SettingsStore

Path = tuple[str, ...]

CHANGED = "changed_meanwhile"


def read_value(settings: Settings, place: Path) -> JsonValue:
    """What counts there now, also for a provider that the file does not name."""
    match place:
        case ("providers", provider_id, *rest) if provider_id not in settings.providers:
            return _walk(ProviderSettings().model_dump(mode="json", by_alias=True), rest)
        case _:
            return _walk(settings.model_dump(mode="json", by_alias=True), place)


def read_token(settings: Settings, place: Path) -> str:
    """What the file says there, as JSON on one line; empty when it says nothing that counts."""
    value = _walk(settings.model_dump(mode="json", by_alias=True, exclude_unset=True), place)
    return "" if value is None else json.dumps(value)


def parse_token(token: str) -> JsonValue:
    """The value of a token, None for an empty one. Raises InputError."""
    try:
        return parse_json(token) if token else None
    except ValueError as error:
        raise InputError("This is not a value of settings.json", code="bad_token") from error


def change_value(store: SettingsStore, place: Path, value: JsonValue, *, expected: str | None = None) -> str:
    """Write a value, None to take the key out; the token of what was there.

    Raises ConflictError with code `changed_meanwhile` when the file does not say what `expected` says, InputError for
    a value that cannot be kept. Nothing is written then.
    """
    former = ""

    def change(raw: RawSettings) -> None:
        nonlocal former
        former = read_token(parse_settings(raw)[0], place)
        if expected is not None and former != expected:
            raise ConflictError("settings.json was changed in the meantime", code=CHANGED)
        _put(raw, place, value)

    store.update(change)
    return former


def _put(raw: RawSettings, place: Path, value: JsonValue) -> None:
    *above, last = place
    parent = raw
    for part in above:
        if value is None and part not in parent:
            return
        parent = open_object(parent, part)
    if value is None:
        parent.pop(last, None)
    else:
        parent[last] = value


def _walk(value: object, place: Sequence[str]) -> JsonValue:
    for part in place:
        value = as_object(cast(JsonValue, value)).get(part)
    return cast(JsonValue, value)
