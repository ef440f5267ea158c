"""connectors.json: REST services that a person set up once, each with its address, its sign-in and what may be done.

Its keys are sealed; no tool may read it. Making requests is not its business. Spec: integrations.md, "API connector".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.ids import is_safe_id
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.endpoints import parse_base_url
from skales.data.key_store import GRACE_S, PATIENCE_S
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import texts_of
from skales.data.secret_places import CONNECTORS, SecretDocument
from skales.data.vault import Vault
from skales.data.vault_text import is_sealed, usable

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_MOST = 200
_MOST_SECRET = 8_192
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_LINE = re.compile(r"[\x20-\x7e]*")


class AuthKind(StrEnum):
    """How a connector shows who it is."""

    NONE = "none"
    BEARER = "bearer"
    BASIC = "basic"
    HEADER = "header"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorAuth:
    """The sign-in. `name` is the user of `basic`, and what the header or the query's parameter is called."""

    kind: AuthKind = AuthKind.NONE
    name: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """One service. Requests stay below `base_url`, which has no slash at its end."""

    id: str
    name: str
    base_url: str
    auth: ConnectorAuth = ConnectorAuth()
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    methods: tuple[str, ...] = ("GET",)


class ConnectorStore:
    """The connectors of one data directory, read from disk on every call. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, vault: Vault | None = None) -> None:
        self._document = SecretDocument(CONNECTORS, directory, quarantine, vault or Vault(directory, quarantine))

    def list(self) -> Sequence[Connector]:
        """All that can be used, in the order of the file; an entry that is none stays there and does not count.

        A secret that does not open now is empty, and such a header is left out.
        """
        return self._list(GRACE_S)

    def ids(self) -> Sequence[str]:
        """What those that can be used are called; no secret is opened for it."""
        parsed = (_parse(as_object(entry)) for entry in as_list(self._document.peek().get("connectors")))
        return list(dict.fromkeys(connector.id for connector in parsed if connector))

    def _list(self, wait_s: float) -> Sequence[Connector]:
        try:
            raw = self._document.read(wait_s)
        except (NotFoundError, BrokenDocumentError):
            return []
        parsed = (_parse(as_object(entry)) for entry in as_list(raw.get("connectors")))
        return [connector for connector in parsed if connector is not None]

    def get(self, name: str) -> Connector:
        """The connector of an id or a name in any case. Raises NotFoundError that lists what there is."""
        known = self._list(PATIENCE_S)
        wanted = name.strip().casefold()
        for connector in known:
            if wanted in (connector.id.casefold(), connector.name.casefold()):
                return connector
        names = ", ".join(connector.id for connector in known)
        raise NotFoundError(
            f"There is no connector {name[:60]!r}",
            hint=f"There are: {names}" if names else "`skales connectors add` makes one",
        )

    def add(self, connector: Connector) -> Connector:
        """Keep a new one, its parts checked. Raises InputError, or ConflictError when the id is taken."""
        checked = check_connector(connector)

        def change(raw: dict[str, JsonValue]) -> None:
            entries = _entries(raw)
            if any(as_text(as_object(entry).get("id")) == checked.id for entry in entries):
                raise ConflictError(
                    f"There is a connector {checked.id!r} already", hint="Remove it, or choose another name"
                )
            if len(entries) >= _MOST:
                raise ConflictError(f"There are {_MOST} connectors already", hint="Remove one first")
            raw["connectors"] = [*entries, _entry(checked)]

        self._document.update(change)
        return checked

    def set_secret(self, name: str, secret: str) -> None:
        """Put in another key or password. Raises NotFoundError, InputError, or ConflictError when none is used."""
        connector = self.get(name)
        if connector.auth.kind is AuthKind.NONE:
            raise ConflictError(f"{connector.id!r} signs in without a secret", hint="Add it anew with another --auth")
        kept = check_secret(secret)

        def change(raw: dict[str, JsonValue]) -> None:
            raw["connectors"] = [
                {**as_object(entry), "auth": {**as_object(as_object(entry).get("auth")), "secret": kept}}
                if as_text(as_object(entry).get("id")) == connector.id
                else entry
                for entry in _entries(raw)
            ]

        self._document.update(change)

    def remove(self, name: str) -> Connector:
        """Forget one; the connector that it was. Raises NotFoundError."""
        connector = self.get(name)

        def change(raw: dict[str, JsonValue]) -> None:
            raw["connectors"] = [
                entry for entry in _entries(raw) if as_text(as_object(entry).get("id")) != connector.id
            ]

        self._document.update(change)
        return connector


def connector_id(name: str) -> str:
    """The id for a name: letters, digits and dashes. Raises InputError when nothing is left."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:60]
    if not is_safe_id(slug):
        raise InputError("A connector needs a name with letters", hint="Such as crm or home-assistant")
    return slug


def check_connector(connector: Connector) -> Connector:
    """The connector with its parts made right. Raises InputError, which never repeats a secret."""
    base_url = parse_base_url(connector.base_url)
    if not base_url:
        raise InputError("A connector needs a base address", hint="Write it like https://api.example.org/v1")
    methods = tuple(dict.fromkeys(method.strip().upper() for method in connector.methods)) or ("GET",)
    if wrong := next((method for method in methods if method not in METHODS), ""):
        raise InputError(f"{wrong[:20]!r} is not a method", hint=f"Use some of {', '.join(METHODS)}")
    for name, text in connector.headers.items():
        if not _HEADER.fullmatch(name) or not _LINE.fullmatch(text):
            raise InputError(f"The header {name[:60]!r} cannot be sent", hint="Use a plain name and one line of text")
    return Connector(
        id=connector_id(connector.id or connector.name),
        name=" ".join(connector.name.split())[:60],
        base_url=base_url,
        auth=_check_auth(connector.auth),
        headers=dict(connector.headers),
        methods=methods,
    )


def _check_auth(auth: ConnectorAuth) -> ConnectorAuth:
    name = auth.name.strip()
    match auth.kind:
        case AuthKind.NONE:
            return ConnectorAuth()
        case AuthKind.BEARER:
            name = ""
        case AuthKind.BASIC if not name or ":" in name or not _LINE.fullmatch(name):
            raise InputError("Signing in by password needs a user name", hint="Give one without a colon")
        case AuthKind.HEADER | AuthKind.QUERY if not _HEADER.fullmatch(name):
            raise InputError(
                f"The {auth.kind.value} that carries the key needs a name", hint="Such as X-Api-Key or key"
            )
        case _:
            pass
    return ConnectorAuth(kind=auth.kind, name=name, secret=check_secret(auth.secret) if auth.secret else "")


def check_secret(secret: str) -> str:
    """A key or password that can be sent. Raises InputError, which never repeats it."""
    bare = secret.strip()
    if not bare or len(bare) > _MOST_SECRET or not _LINE.fullmatch(bare):
        raise InputError("This is no key or password that can be sent", hint="Use one line of plain characters")
    return bare


def _entries(raw: Mapping[str, JsonValue]) -> Sequence[JsonValue]:
    return as_list(raw.get("connectors"))


def _parse(entry: JsonObject) -> Connector | None:
    """None for what is no connector."""
    auth = as_object(entry.get("auth"))
    try:
        found = Connector(
            id=as_text(entry.get("id")),
            name=as_text(entry.get("name")) or as_text(entry.get("id")),
            base_url=as_text(entry.get("baseUrl")),
            auth=ConnectorAuth(
                kind=AuthKind(as_text(auth.get("kind")) or AuthKind.NONE),
                name=as_text(auth.get("name")),
                secret=usable(as_text(auth.get("secret"))),
            ),
            headers={
                name: text
                for name, text in as_object(entry.get("headers")).items()
                if isinstance(text, str) and not is_sealed(text)
            },
            methods=texts_of(entry.get("allowedMethods")) or ("GET",),
        )
        return check_connector(found)
    except (ValueError, InputError):
        return None


def _entry(connector: Connector) -> JsonObject:
    auth = connector.auth
    return {
        "id": connector.id,
        "name": connector.name,
        "baseUrl": connector.base_url,
        "auth": {
            "kind": auth.kind.value,
            **({"name": auth.name} if auth.name else {}),
            **({"secret": auth.secret} if auth.secret else {}),
        },
        "headers": dict(connector.headers),
        "allowedMethods": list(connector.methods),
    }
