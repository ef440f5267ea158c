"""Endpoints of the person's own: added under a name, renamed by their label, removed with everything in them."""

import re

from skales.app.app import App
from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonValue
from skales.data.endpoints import parse_base_url
from skales.data.setting_faults import RawSettings
from skales.data.setting_names import open_object
from skales.server.ui.provider_cards import is_near
from skales.server.ui.provider_keys import read_key
from skales.server.ui.provider_names import CUSTOM_PREFIX, is_custom
from skales.server.ui.setting_search import fold
from skales.server.words import _

_LONGEST = 60
_OTHER_SIGNS = re.compile(r"[^a-z0-9]+")


def add_slot(app: App, name: str, address: str, key: str, *, is_near_by: bool) -> str:
    """The id of a new slot. Raises InputError for a name or address that cannot be used.

    `is_near_by` says that the endpoint is meant to run on this computer or network; an address elsewhere is refused.
    """
    label = " ".join(name.split())
    if not label or len(label) > _LONGEST:
        raise InputError(_("Give it a name of at most %(num)d characters", num=_LONGEST))
    base_url = parse_base_url(address)
    if not base_url:
        raise InputError(_("Write its address"), hint=_("For example %(path)s", path="http://127.0.0.1:8080/v1"))
    if is_near_by and not is_near(base_url):
        raise InputError(
            _("This address is not on this computer or your network"),
            hint=_("Correct it, or take the tick away if messages may leave your network"),
        )
    api_key = read_key(key, "")
    taken = app.settings.load().providers
    provider_id = _free_id(label, set(taken))
    entry: dict[str, JsonValue] = {"enabled": True, "label": label, "baseUrl": base_url}
    if api_key:
        entry["apiKey"] = api_key

    def change(raw: RawSettings) -> None:
        open_object(raw, "providers").setdefault(provider_id, entry)

    app.settings.update(change)
    return provider_id


def remove_slot(app: App, provider_id: str) -> None:
    """Take a slot out, its key with it. Raises InputError for one that answers, NotFoundError for no slot."""
    settings = app.settings.load()
    if not is_custom(provider_id) or provider_id not in settings.providers:
        raise NotFoundError(_("There is no such endpoint of your own"))

    def change(raw: RawSettings) -> None:
        if raw.get("activeProvider") == provider_id:
            raise InputError(
                _("The provider that answers cannot be removed"), hint=_("Choose another one to answer first")
            )
        open_object(raw, "providers").pop(provider_id, None)

    app.settings.update(change)


def _free_id(label: str, taken: set[str]) -> str:
    bare = _OTHER_SIGNS.sub("-", fold(label)).strip("-")[:40] or "endpoint"
    candidates = [f"{CUSTOM_PREFIX}{bare}", *(f"{CUSTOM_PREFIX}{bare}-{number}" for number in range(2, 1000))]
    return next(name for name in candidates if name not in taken)
