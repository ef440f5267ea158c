"""What the person says of the sizes of single models: rows added and removed, kept in `providers.<id>.models`.

Other words about a model that stand there, such as whether it sees, are left alone. Spec: providers.md, "Rules".
"""

from collections.abc import Mapping

from msgspec import Struct

from skales.app.app import App
from skales.core.errors import InputError, SkalesError
from skales.core.json import JsonObject, JsonValue, as_object
from skales.server.ui.phrases import show_number
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_rows import list_providers
from skales.server.ui.provider_views import LimitLine, ModelLimits
from skales.server.ui.setting_saving import describe
from skales.server.ui.setting_values import CHANGED, Path, change_value, parse_token, read_token
from skales.server.ui.setting_views import Undo
from skales.server.words import _

# Stands for every model of the provider.
EVERY = "*"
_MOST_TOKENS = 100_000_000
_LONGEST_ID = 200
_MOST_ROWS = 100
_SIZES = ("contextTokens", "outputTokens")


class LimitChange(Struct, frozen=True):
    """What a button asks for: `add` with sizes as typed, or `remove`."""

    action: str
    model: str
    context: str = ""
    output: str = ""


def build_limits(
    app: App, provider_id: str, *, saved: str = "", error: str = "", former: str | None = None
) -> ModelLimits:
    """The rows as the file has them. Reads the disk."""
    settings = app.settings.load()
    was = read_token(settings, _place(provider_id))
    own = settings.provider(provider_id).models
    rows = tuple(
        LimitLine(model, _show(said.context_tokens), _show(said.output_tokens), is_every=model == EVERY)
        for model, said in sorted(own.items(), key=lambda row: (row[0] != EVERY, row[0]))
        if said.context_tokens or said.output_tokens
    )
    undo = None if former is None else Undo(former, was)
    return ModelLimits(
        provider_id, name_provider(settings, provider_id), was, rows, saved=saved, error=error, undo=undo
    )


def change_limits(app: App, provider_id: str, change: LimitChange, was: str) -> ModelLimits:
    """The rows after a change, or as they are with the reason why not."""
    try:
        _require(app, provider_id)
        before = as_object(parse_token(read_token(app.settings.load(), _place(provider_id))))
        former = change_value(app.settings, _place(provider_id), _changed(before, change) or None, expected=was)
    except SkalesError as error:
        return build_limits(app, provider_id, error=_say(error))
    return build_limits(app, provider_id, saved=_("Saved"), former=former)


def undo_limits(app: App, provider_id: str, former: str, saved: str) -> ModelLimits:
    """The rows as they were before the last change."""
    try:
        _require(app, provider_id)
        change_value(app.settings, _place(provider_id), parse_token(former), expected=saved)
    except SkalesError as error:
        return build_limits(app, provider_id, error=_say(error))
    return build_limits(app, provider_id, saved=_("Put back"))


def _place(provider_id: str) -> Path:
    return ("providers", provider_id, "models")


def _require(app: App, provider_id: str) -> None:
    """A slot that was removed meanwhile must not come back half. Raises InputError."""
    if provider_id not in list_providers(app.settings.load()):
        raise InputError(_("There is no such provider"))


def _changed(before: JsonObject, change: LimitChange) -> JsonObject:
    model = change.model.strip()
    match change.action:
        case "remove":
            return _without(before, model)
        case "add":
            return _with_new(before, model, change)
        case _:
            raise InputError(_("This is none of the choices"))


def _without(before: JsonObject, model: str) -> JsonObject:
    if model not in before:
        raise InputError(_("This row is gone"))
    rest = {key: value for key, value in as_object(before[model]).items() if key not in _SIZES}
    others = {name: said for name, said in before.items() if name != model}
    return {**others, model: rest} if rest else others


def _with_new(before: JsonObject, model: str, change: LimitChange) -> JsonObject:
    if not model or len(model) > _LONGEST_ID or not model.isprintable():
        raise InputError(_("Write the id of a model, or * for all of them"))
    sizes: Mapping[str, JsonValue] = {
        name: size
        for name, text in zip(_SIZES, (change.context, change.output), strict=True)
        if (size := _read_size(text))
    }
    if not sizes:
        raise InputError(_("Write at least one of the two sizes"))
    if model not in before and len(before) >= _MOST_ROWS:
        raise InputError(_("The list is full"), hint=_("Remove one first"))
    kept = {key: value for key, value in as_object(before.get(model)).items() if key not in _SIZES}
    return {**before, model: {**kept, **sizes}}


def _read_size(text: str) -> int:
    """Tokens as typed, with or without marks between thousands; 0 for an empty field. Raises InputError."""
    digits = text.strip().replace(",", "").replace(".", "").replace("_", "").replace(" ", "")
    if not digits:
        return 0
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 12 else -1
    if not 1 <= number <= _MOST_TOKENS:
        raise InputError(_("Write a whole number from %(low)d to %(high)d", low=1, high=_MOST_TOKENS))
    return number


def _show(tokens: int) -> str:
    return show_number(tokens) if tokens else ""


def _say(error: SkalesError) -> str:
    if error.code == CHANGED:
        return _("settings.json was changed in the meantime. Here is what it says now; nothing was overwritten.")
    return describe(error)
