"""`skales addons`: list the add-ons, or switch one on or off."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import paint, title
from skales.core.json import JsonObject, as_list, as_object, as_text


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    if arguments.action in ("on", "off"):
        return asyncio.run(_switch(arguments.id, is_on=arguments.action == "on"))
    return asyncio.run(_list(as_json="json" in arguments))


async def _list(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("addons")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    addons = [as_object(addon) for addon in as_list(report["addons"])]
    title(f"{sum(addon['enabled'] is True for addon in addons)} of {len(addons)} add-ons are on")
    for addon in addons:
        print(f"  {_mark(addon)} {as_text(addon['id']):<20} {_facts(addon)}")
    print()
    return 0


async def _switch(addon_id: str, *, is_on: bool) -> int:
    async with open_backend() as backend:
        switched = await backend.switch_addon(addon_id, is_on=is_on)
    print(f"{as_text(switched['label'])} is {'on' if is_on else 'off'} from the next message on")
    return 0


def _mark(addon: JsonObject) -> str:
    return paint("●", "green") if addon["enabled"] else paint("○", "red")


def _facts(addon: JsonObject) -> str:
    count = len(as_list(addon["tools"]))
    needs = f", needs {as_text(addon['needs'])}" if addon["needs"] else ""
    kind = " (always on)" if addon["state"] == "core" else ""
    return f"{as_text(addon['about'])}{kind}; {count} {'tool' if count == 1 else 'tools'}{needs}"
