"""Secrets on the settings page: how they are kept, and those a person named for tools. No value is ever shown."""

from typing import Annotated

from fastapi import APIRouter, Form
from msgspec import Struct

from skales.app.app import App
from skales.core.errors import SkalesError
from skales.data.secret_store import NamedSecret
from skales.data.vault import VaultStatus
from skales.data.vault_key import KeyPlace
from skales.data.vault_key import Trouble as KeyTrouble
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.setting_views import SecretLine, SecretsPart
from skales.server.views import Trouble
from skales.server.words import _

router = APIRouter(prefix="/ui/settings/secrets", dependencies=[PageSession])


class News(Struct, frozen=True):
    """What came of a change. `typed_name` and `typed_hosts` are what was typed when it could not be kept."""

    notice: str = ""
    typed_name: str = ""
    typed_hosts: str = ""
    trouble: Trouble | None = None


def build_secrets(app: App, news: News | None = None) -> SecretsPart:
    """How it stands. Reads the disk; the key store is waited for no longer than a moment."""
    status, came = app.vault.status(), news or News()
    return SecretsPart(
        kept=_where(app, status),
        trouble=came.trouble or _trouble(status),
        can_retry=status.trouble in (KeyTrouble.LOCKED, KeyTrouble.FAILED),
        rows=tuple(SecretLine(one.name, _bound(one)) for one in app.secrets.list()),
        notice=came.notice,
        typed_name=came.typed_name,
        typed_hosts=came.typed_hosts,
    )


@router.get("", response_class=PageResponse)
def show(app: AppDep) -> str:
    """The part as it stands now."""
    return render(build_secrets(app))


@router.post("", response_class=PageResponse)
def add(
    app: AppDep,
    name: Annotated[str, Form()] = "",
    value: Annotated[str, Form()] = "",
    hosts: Annotated[str, Form()] = "",
) -> str:
    """Keep a secret, or another value for one."""
    bound = [host for host in hosts.replace(",", " ").split() if host]
    try:
        saved = app.secrets.save(name, value, hosts=bound)
    except SkalesError as error:
        trouble = Trouble(told(error.message), told(error.hint))
        return render(build_secrets(app, News(typed_name=name, typed_hosts=hosts, trouble=trouble)))
    return render(build_secrets(app, News(notice=_("%(name)s is kept", name=saved.name))))


@router.post("/delete", response_class=PageResponse)
def delete(app: AppDep, name: Annotated[str, Form()]) -> str:
    """Forget a secret."""
    try:
        gone = app.secrets.delete(name)
    except SkalesError as error:
        return render(build_secrets(app, News(trouble=Trouble(told(error.message), told(error.hint)))))
    return render(build_secrets(app, News(notice=_("%(name)s is deleted", name=gone.name))))


@router.post("/retry", response_class=PageResponse)
def retry(app: AppDep) -> str:
    """Ask the key store again."""
    app.vault.retry()
    return render(build_secrets(app))


def _where(app: App, status: VaultStatus) -> str:
    match status.place:
        case KeyPlace.STORE:
            return _("Keys and passwords are sealed. What opens them is in this computer's key store.")
        case KeyPlace.FILE:
            return _(
                "Keys and passwords are sealed. What opens them is in %(file)s, which only your account can read: "
                "whoever has a copy of the whole folder can open them.",
                file=str(app.directory.encryption_key),
            )
        case KeyPlace.NONE:
            return _("Keys and passwords will be sealed with the first one that you save.")


def _trouble(status: VaultStatus) -> Trouble | None:
    match status.trouble:
        case KeyTrouble.LOCKED:
            return Trouble(
                _("The key store of this computer is locked or does not answer"),
                _("Unlock it and try again. What is sealed stays as it is."),
            )
        case KeyTrouble.FAILED:
            return Trouble(
                _("The key store of this computer answers with an error"),
                _("Try again later. What is sealed stays as it is."),
            )
        case KeyTrouble.GONE if status.place is KeyPlace.STORE:
            return Trouble(
                _("The key that your secrets were sealed with is not on this computer"),
                _("Go back to the account or computer that has it, or enter the keys again."),
            )
        case _:
            return None


def _bound(secret: NamedSecret) -> str:
    places = ", ".join((*secret.hosts, *secret.tools))
    return _("Only for %(places)s", places=places) if places else _("For everything, and asks each time")
