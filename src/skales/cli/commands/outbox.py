"""`skales outbox`: what was sent, and a word about what nobody is sure of."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import paint, success, title
from skales.core.clock import to_datetime
from skales.core.json import JsonObject, as_int, as_list, as_object, as_text

_SHOWN = 20
_COLOURS = {"sent": "green", "failed": "red", "maybe": "yellow", "dropped": "dim"}
_DONE = {"sent": "Noted as sent", "drop": "Dropped; it is not sent any more", "again": "Sent"}


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    as_json = "json" in arguments
    if arguments.action in _DONE:
        return asyncio.run(_answer(arguments.id, arguments.action, as_json=as_json))
    return asyncio.run(_list(as_json=as_json))


async def _list(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("outbox")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    waiting = [as_object(item) for item in as_list(report["waiting"])]
    if waiting:
        title(f"{len(waiting)} may have been sent. Look there, then say: skales outbox sent | again | drop ID")
        for intent in waiting:
            _print_intent(intent)
    others = [as_object(item) for item in as_list(report["others"])][:_SHOWN]
    title(f"The last {len(others)} of what was sent" if others else "Nothing else was sent lately")
    for intent in others:
        _print_intent(intent)
    print()
    return 0


async def _answer(intent_id: str, answer: str, *, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.answer_outbox(intent_id, answer)
    result = as_object(report["result"])
    is_failed = result.get("ok") is False
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    elif is_failed:
        print(paint(as_text(result.get("text")) or as_text(result.get("summary")), "red"))
    else:
        success(as_text(result.get("summary")) or _DONE[answer])
    return 1 if is_failed else 0


def _print_intent(intent: JsonObject) -> None:
    state = as_text(intent["state"])
    print(f"  {paint(f'[{state}]', _COLOURS.get(state, 'dim'))} {as_text(intent['action'])}")
    when = to_datetime(as_int(intent["createdAt"]))
    note = f"  {as_text(intent['note'])}" if intent["note"] else ""
    print(paint(f"    {as_text(intent['id'])}  {as_text(intent['tool'])}  {when:%Y-%m-%d %H:%M}{note}", "dim"))
