"""`skales vault`: how secrets are kept, a new master key, secrets by name for tools. Values never come out."""

import argparse
import getpass
import json
import sys

from skales.cli.terminal import aside, can_ask, row, success, title, warn
from skales.core.clock import SystemClock
from skales.core.errors import InputError
from skales.core.json import JsonObject
from skales.data.key_store import PATIENCE_S, StorePlace
from skales.data.paths import DataDirectory, locate_data_directory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import NamedSecret, SecretStore, check_name
from skales.data.vault import Vault, VaultStatus
from skales.data.vault_key import KeyPlace, Trouble
from skales.data.vault_rotation import SecretCount, count_secrets, rotate


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; the state is the default. A running server sees every change at its next use."""
    directory = locate_data_directory()
    directory.create()
    quarantine = Quarantine(directory.quarantine, SystemClock())
    vault = Vault(directory, quarantine)
    vault.keys.file_made = lambda: aside(f"  Secrets are sealed with a key file: {directory.encryption_key}")
    store = SecretStore(directory, quarantine, SystemClock(), vault)
    match arguments.action:
        case "set":
            _set(store, arguments)
        case "delete":
            success(f"The secret {store.delete(arguments.name).name} is deleted")
        case "list":
            _list(store, is_json="json" in arguments)
        case "rotate":
            place = StorePlace.FILE if arguments.to == "file" else StorePlace.AUTO
            _tell_rotated(rotate(directory, quarantine, vault, place), vault.status(PATIENCE_S), directory)
        case _:
            status, count = vault.status(PATIENCE_S), count_secrets(directory, quarantine, vault)
            _show(directory, status, count, is_json="json" in arguments)
    return 0


def describe_place(status: VaultStatus, directory: DataDirectory) -> str:
    """Where the master key is, in words."""
    match status.place:
        case KeyPlace.STORE:
            return f"in the key store of this computer ({status.store})" if status.store else "in the key store"
        case KeyPlace.FILE:
            return f"in the file {directory.encryption_key}, which only you can read"
        case KeyPlace.NONE:
            return "none yet; the first secret makes one"


def describe_trouble(status: VaultStatus) -> tuple[str, str]:
    """What is wrong and what to do; empty texts when nothing is."""
    match status.trouble:
        case Trouble.LOCKED:
            return "The key store does not answer", "Unlock it, or run `skales vault rotate --to file`"
        case Trouble.FAILED:
            return "The key store answers with an error", "Try again later; what is sealed stays as it is"
        case Trouble.GONE if status.place is KeyPlace.STORE:
            return (
                "The key is not on this computer any more",
                "Go back to the account that has it, or enter the keys again; what is sealed stays as it is",
            )
        case _:
            return "", ""


def _show(directory: DataDirectory, status: VaultStatus, count: SecretCount, *, is_json: bool) -> None:
    if is_json:
        report: JsonObject = {
            "place": status.place.value,
            "store": status.store,
            "trouble": status.trouble.value if status.trouble else "",
            "sealed": count.sealed,
            "plain": count.plain,
            "closed": count.closed,
        }
        print(json.dumps(report))
        return
    title("Vault")
    row("key", describe_place(status, directory))
    row("sealed", count.sealed)
    if count.plain:
        row("plain", f"{count.plain}; the next change of its file seals it, and so does `skales vault rotate`")
    if count.closed:
        row("closed", f"{count.closed} do not open now; they are kept as they are")
    trouble, advice = describe_trouble(status)
    if trouble:
        warn(trouble)
        aside(f"  {advice}")


def _tell_rotated(count: SecretCount, status: VaultStatus, directory: DataDirectory) -> None:
    success(f"{count.sealed - count.closed} secrets are sealed with a new key, {describe_place(status, directory)}")
    if count.closed:
        warn(f"{count.closed} did not open and are kept as they were, with the key they need")


def _set(store: SecretStore, arguments: argparse.Namespace) -> None:
    name = check_name(arguments.name)  # first, so that nobody types a secret for nothing
    value = _read_value(arguments)
    saved = store.save(name, value, hosts=arguments.host or None, tools=arguments.tool or None)
    success(f"The secret {saved.name} is kept")
    aside(f"  {_bound(saved)}. Tools use it as {{{{secret:{saved.name}}}}}")


def _read_value(arguments: argparse.Namespace) -> str:
    """From standard input when asked to, all of it; else typed without being shown."""
    if arguments.secret_stdin:
        return sys.stdin.read()
    if not can_ask():
        raise InputError("There is no terminal to ask for the secret", hint="Send it with --secret-stdin")
    return getpass.getpass("The secret: ")


def _list(store: SecretStore, *, is_json: bool) -> None:
    secrets = store.list()
    if is_json:
        shown: list[JsonObject] = [
            {"name": one.name, "hosts": list(one.hosts), "tools": list(one.tools), "savedAt": one.saved_ms}
            for one in secrets
        ]
        print(json.dumps({"secrets": shown}, indent=2))
        return
    if not secrets:
        aside("There are none. `skales vault set NAME` keeps one")
    for one in secrets:
        print(f"{one.name}  {_bound(one)}")


def _bound(secret: NamedSecret) -> str:
    words = [f"to {', '.join(secret.hosts)}"] if secret.hosts else []
    words += [f"for {', '.join(secret.tools)}"] if secret.tools else []
    return f"only {' and '.join(words)}" if words else "asks each time, since it is bound to nothing"
