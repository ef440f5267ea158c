"""`skales connectors`: the REST services that `connector_request` may call. Secrets go in and never come out."""

import argparse
import getpass
import json
import sys

from skales.cli.terminal import aside, can_ask, success
from skales.core.clock import SystemClock
from skales.core.errors import InputError
from skales.core.json import JsonObject
from skales.data.connectors import AuthKind, Connector, ConnectorAuth, ConnectorStore, check_connector, check_secret
from skales.data.paths import locate_data_directory
from skales.data.quarantine import Quarantine
from skales.data.vault import Vault


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action. The file is read at each use; a running server sees the change at once."""
    directory = locate_data_directory()
    directory.create()
    quarantine = Quarantine(directory.quarantine, SystemClock())
    vault = Vault(directory, quarantine)
    vault.settle()
    store = ConnectorStore(directory, quarantine, vault)
    match arguments.action:
        case "add":
            _add(store, arguments)
        case "secret":
            store.set_secret(arguments.name, _read_secret(arguments, "Its new key or password: "))
            success(f"The secret of {store.get(arguments.name).id} is replaced")
        case "remove":
            success(f"{store.remove(arguments.name).id} is removed")
        case _:
            _list(store, is_json=getattr(arguments, "json", False))
    return 0


def _add(store: ConnectorStore, arguments: argparse.Namespace) -> None:
    wanted = Connector(
        id="",
        name=arguments.name,
        base_url=arguments.base_url,
        auth=ConnectorAuth(kind=AuthKind(arguments.auth), name=arguments.auth_name),
        headers=dict(_header(text) for text in arguments.header),
        methods=tuple(arguments.method) or ("GET",),
    )
    # First, so that nobody types a key for nothing.
    checked = check_connector(wanted)
    secret = "" if checked.auth.kind is AuthKind.NONE else _read_secret(arguments, "Its key or password: ")
    auth = ConnectorAuth(kind=checked.auth.kind, name=checked.auth.name, secret=secret)
    made = store.add(
        Connector(
            id=checked.id,
            name=checked.name,
            base_url=checked.base_url,
            auth=auth,
            headers=checked.headers,
            methods=checked.methods,
        )
    )
    success(f"{made.id} is set up")
    aside(f"  {made.base_url}, {', '.join(made.methods)}, signs in by {made.auth.kind}")


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise InputError(f"{name[:60]!r} is not a header", hint='Write it like "Accept-Language: de"')
    return name.strip(), value.strip()


def _read_secret(arguments: argparse.Namespace, prompt: str) -> str:
    """From standard input when asked to, else typed without being shown."""
    if arguments.secret_stdin:
        return check_secret(sys.stdin.readline())
    if not can_ask():
        raise InputError("There is no terminal to ask for the secret", hint="Send it with --secret-stdin")
    return check_secret(getpass.getpass(prompt))


def _list(store: ConnectorStore, *, is_json: bool) -> None:
    connectors = store.list()
    if is_json:
        print(json.dumps({"connectors": [_shown(one) for one in connectors]}, indent=2, ensure_ascii=False))
        return
    if not connectors:
        aside("There are none. `skales connectors add NAME URL` sets one up")
    for one in connectors:
        state = "" if one.auth.kind is AuthKind.NONE or one.auth.secret else ", its secret is missing"
        print(f"{one.id}  {one.base_url}  {', '.join(one.methods)}  {one.auth.kind}{state}")


def _shown(connector: Connector) -> JsonObject:
    """A connector without its secret; headers by name only, since people put keys there in spite of the advice."""
    return {
        "id": connector.id,
        "name": connector.name,
        "baseUrl": connector.base_url,
        "auth": {
            "kind": connector.auth.kind.value,
            "name": connector.auth.name,
            "hasSecret": bool(connector.auth.secret),
        },
        "headers": sorted(connector.headers),
        "allowedMethods": list(connector.methods),
    }
