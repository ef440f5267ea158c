"""The rows of a provider's card, made from its catalogue entry, and the choice of the one that answers."""

from skales.app.app import App
from skales.app.local_provider import LOCAL_PROVIDER
from skales.core.errors import InputError
from skales.core.json import JsonValue
from skales.data.endpoints import parse_account_id, parse_base_url
from skales.data.setting_shapes import Settings
from skales.providers.catalog import Badge, KeyNeed, ProviderEntry, find_entry, load_catalog
from skales.server.ui.provider_names import is_custom, name_provider
from skales.server.ui.setting_table import Kind, Option, Section, Setting
from skales.server.words import N_, _

ACTIVE = "activeProvider"


def list_providers(settings: Settings) -> tuple[str, ...]:
    """Every provider there can be: the catalogue's, then the person's own slots."""
    own = (name for name in settings.providers if is_custom(name))
    return (*load_catalog(), *own)


def is_set_up(settings: Settings, provider_id: str) -> bool:
    """Whether somebody gave it what it needs, or it needs nothing."""
    own = settings.provider(provider_id)
    if provider_id in (LOCAL_PROVIDER, settings.active_provider) or is_custom(provider_id):
        return True
    entry = find_entry(provider_id)
    if entry.starts_off:
        return own.is_chosen()
    if entry.key is KeyNeed.REQUIRED:
        return bool(own.api_key)
    return bool(own.api_key or own.base_url or own.model)


def list_set_up(app: App, settings: Settings) -> tuple[str, ...]:
    """Those that somebody set up, and those that can answer anyway: a model server nearby that was found."""
    offered = {offer.provider_id for offer in app.models.available()}
    return tuple(name for name in list_providers(settings) if name in offered or is_set_up(settings, name))


def is_on(settings: Settings, provider_id: str) -> bool:
    """Whether it may be asked; some entries stay silent until they are switched on in so many words."""
    own = settings.provider(provider_id)
    return own.is_chosen() if find_entry(provider_id).starts_off else own.enabled


def active_row(app: App, settings: Settings) -> Setting:
    """Who answers in new conversations."""
    return Setting(
        name=ACTIVE,
        section=Section.PROVIDERS,
        label=N_("Who answers"),
        help=N_("Counts from the next message on. Each conversation can use another."),
        kind=Kind.SELECT,
        words=N_("default, active provider, model"),
        options=tuple(Option(name, name_provider(settings, name)) for name in list_set_up(app, settings)),
        check=_check_active,
    )


def provider_rows(provider_id: str) -> tuple[Setting, ...]:
    """Everything of a provider that can be chosen, except its key."""
    entry = find_entry(provider_id)
    rows = [_switch_row(provider_id)]
    if is_custom(provider_id):
        rows.append(_row(provider_id, "label", N_("Name")))
    rows += _connection_rows(provider_id, entry)
    rows.append(_model_row(provider_id, entry))
    if Badge.LOCAL not in entry.badges and not entry.starts_off:
        rows.append(_address_row(provider_id, entry, is_advanced=True))
    if provider_id != LOCAL_PROVIDER:
        rows.append(_window_row(provider_id))
    return tuple(rows)


def find_row(settings: Settings, name: str) -> tuple[str, Setting] | None:
    """The provider and the row of a dotted name such as `providers.openai.model`."""
    for provider_id in list_providers(settings):
        if name.startswith(f"providers.{provider_id}."):
            for row in provider_rows(provider_id):
                if row.name == name:
                    return provider_id, row
    return None


def _row(provider_id: str, field: str, label: str, **more: object) -> Setting:
    facts: dict[str, object] = {"kind": Kind.LINE, **more}
    path = ("providers", provider_id, *field.split("."))
    name = f"providers.{provider_id}.{field}"
    return Setting(name=name, section=Section.PROVIDERS, label=label, path=path, **facts)  # type: ignore[arg-type]


def _switch_row(provider_id: str) -> Setting:
    def check(settings: Settings, value: JsonValue) -> None:
        if value is False and settings.active_provider == provider_id:
            raise InputError(
                _("The provider that answers cannot be switched off"), hint=_("Choose another one to answer first")
            )

    return _row(
        provider_id,
        "enabled",
        N_("Switched on"),
        kind=Kind.SWITCH,
        help=N_("Off keeps the key and everything else, and asks nobody."),
        check=check,
    )


def _connection_rows(provider_id: str, entry: ProviderEntry) -> list[Setting]:
    """What it takes to reach it, besides the key."""
    rows: list[Setting] = []
    if Badge.LOCAL in entry.badges and provider_id != LOCAL_PROVIDER:
        rows.append(_address_row(provider_id, entry))
    if entry.other_base_urls:
        rows.append(_endpoint_row(provider_id, entry))
    if "{account_id}" in entry.base_url:
        rows.append(_row(provider_id, "accountId", N_("Account id"), parse=parse_account_id))
    if entry.token_exchange:
        kinds = tuple(Option(kind, kind) for kind in entry.token_exchange.scopes)
        usual = Option("", _("As usual"))
        rows.append(_row(provider_id, "accountType", N_("Kind of account"), kind=Kind.SELECT, options=(usual, *kinds)))
        rows.append(_row(provider_id, "tokenUrl", N_("Address for tokens"), parse=parse_base_url, is_advanced=True))
    if entry.authority:
        rows.append(
            _row(
                provider_id,
                "caFile",
                N_("Certificate file of the authority"),
                help=N_(
                    "Empty trusts the bundled root for this provider alone; system trusts the usual authorities only."
                ),
                is_advanced=True,
            )
        )
    if entry.sign_in:
        rows.append(_row(provider_id, "signIn.clientId", N_("Client id of your own application")))
    return rows


def _address_row(provider_id: str, entry: ProviderEntry, *, is_advanced: bool = False) -> Setting:
    return _row(
        provider_id,
        "baseUrl",
        N_("Address"),
        placeholder=entry.base_url or "http://127.0.0.1:8080/v1",
        parse=parse_base_url,
        is_advanced=is_advanced,
        help=N_("Empty means the usual one. Keys and messages go there.") if entry.base_url else "",
    )


def _endpoint_row(provider_id: str, entry: ProviderEntry) -> Setting:
    """The usual address is the empty choice, so that a file that names none shows it."""
    options = [
        Option("" if address == entry.base_url else name, name) for name, address in entry.other_base_urls.items()
    ]
    if all(option.value for option in options):
        options.insert(0, Option("", _("As usual")))
    return _row(
        provider_id,
        "endpoint",
        N_("Endpoint"),
        kind=Kind.SELECT,
        options=tuple(options),
        help=N_("Keys of one do not count at the other."),
    )


def _model_row(provider_id: str, entry: ProviderEntry) -> Setting:
    return _row(
        provider_id,
        "model",
        N_("Model"),
        placeholder=entry.models[0] if entry.models else N_("Id of the model"),
        suggestions=f"models-{provider_id}",
        help=N_("Pick from the list, or write any id."),
    )


def _window_row(provider_id: str) -> Setting:
    return _row(
        provider_id,
        "contextTokens",
        N_("Context window"),
        kind=Kind.NUMBER,
        unit=N_("tokens"),
        high=100_000_000,
        is_advanced=True,
        help=N_("How much a request may hold. 0 means what is known of the model."),
    )


def _check_active(settings: Settings, value: JsonValue) -> None:
    if isinstance(value, str) and value and not is_on(settings, value):
        raise InputError(_("This provider is switched off"), hint=_("Switch it on first"))
