"""`skales stop`: one turn, or with `--all` everything that runs in the server, at once."""

import argparse
import asyncio
import json

from skales.cli.backend import Backend, open_backend
from skales.cli.terminal import aside, success, warn
from skales.core.errors import InputError
from skales.core.json import JsonObject, as_int
from skales.data.instance import find_instance
from skales.data.paths import locate_data_directory

GO_ON = (
    "Tasks and the schedule are paused; the activity page lets them go on, or skales config set automationPaused false"
)


def run(arguments: argparse.Namespace) -> int:
    """Stop what is asked for."""
    if bool(arguments.session) == arguments.all:
        raise InputError("Say what to stop", hint="Write `skales stop --all`, or the id of a conversation")
    return asyncio.run(_run(arguments.session, as_json="json" in arguments))


async def _run(session_id: str, *, as_json: bool) -> int:
    if find_instance(locate_data_directory()) is None:
        print(json.dumps({"running": False}) if as_json else "No Skales runs here")
        return 0
    async with open_backend() as backend:
        if session_id:
            await backend.stop(session_id)
            success(f"Stopped: {session_id}")
            return 0
        outcome = await kill(backend, quiet=as_json)
    if as_json:
        print(json.dumps(outcome))
    return 1 if as_int(outcome.get("left")) else 0


async def kill(backend: Backend, *, quiet: bool = False) -> JsonObject:
    """Use the kill switch and say what came of it."""
    outcome = await backend.kill()
    if quiet:
        return outcome
    turns, tools, programs = (as_int(outcome.get(name)) for name in ("turns", "tools", "programs"))
    success(f"Stopped. Conversations: {turns}, tools: {tools}, programs in the background: {programs}")
    if left := as_int(outcome.get("left")):
        warn(f"{left} of them did not end in time; the note says which")
    aside(f"What ran is in logs/incidents/{outcome.get('incident')}.md")
    aside(GO_ON)
    return outcome
