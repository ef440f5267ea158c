"""`skales config`: read and change settings, set up a provider. Keys go in and never come out."""

import argparse
import asyncio
import json
import sys

from skales.app.life import open_app
from skales.cli.terminal import aside, success, warn
from skales.core.clock import SystemClock
from skales.core.errors import ProviderError
from skales.data.endpoints import mask_key
from skales.data.paths import locate_data_directory
from skales.data.quarantine import Quarantine
from skales.data.settings import SettingsStore
from skales.data.vault import Vault
from skales.providers.catalog import find_entry


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action. Settings are a file; a running server sees the change at its next read."""
    directory = locate_data_directory()
    if arguments.action == "path":
        print(directory.root)
        return 0
    directory.create()
    quarantine = Quarantine(directory.quarantine, SystemClock())
    vault = Vault(directory, quarantine)
    vault.settle()
    settings = SettingsStore(directory, quarantine, vault)
    match arguments.action:
        case "get":
            _print_setting(settings, arguments.name or "")
        case "set":
            settings.set_value(arguments.name, arguments.value)
            success(f"{arguments.name} is {json.dumps(settings.get_value(arguments.name), ensure_ascii=False)}")
        case _:
            return _set_provider(settings, arguments)
    return 0


def _print_setting(settings: SettingsStore, name: str) -> None:
    value = settings.get_value(name)
    print(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))


def _set_provider(settings: SettingsStore, arguments: argparse.Namespace) -> int:
    find_entry(arguments.id)
    key = sys.stdin.readline().strip() if arguments.key_stdin else arguments.key
    settings.set_provider(
        arguments.id,
        base_url=arguments.base_url,
        model=arguments.model,
        api_key=key,
        activate=not arguments.no_activate,
    )
    stored = settings.load().providers[arguments.id]
    success(f"{arguments.id} is set up" + ("" if arguments.no_activate else " and active"))
    address, model = stored.base_url or "(the default)", stored.model or "(none yet)"
    aside(f"  base URL {address}, model {model}, key {mask_key(stored.api_key) or '(none)'}")
    return asyncio.run(_test(arguments.id)) if arguments.test else 0


async def _test(provider_id: str) -> int:
    async with open_app(locate_data_directory(), exclusive=False) as app:
        try:
            models = await app.models.test(provider_id)
        except ProviderError as error:
            warn(str(error))
            return 1
    success(f"It answers with {len(models)} models")
    for model in models[:20]:
        aside(f"  {model}")
    return 0
