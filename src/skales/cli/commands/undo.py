"""`skales undo`: shows what would be taken back, asks, and does it."""

import argparse
import asyncio
import json

from skales.cli.backend import Backend, open_backend
from skales.cli.questions import read_line
from skales.cli.terminal import aside, can_ask, paint, success, title, warn
from skales.core.clock import to_datetime
from skales.core.errors import InputError
from skales.core.json import JsonObject, as_int, as_list, as_object, as_text

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_LISTED = 20


def run(arguments: argparse.Namespace) -> int:
    """List with `--list`, else take back."""
    as_json = "json" in arguments
    if arguments.list:
        return asyncio.run(_list(as_json=as_json))
    wish: JsonObject = {
        "step": arguments.id,
        "turn": arguments.turn,
        "redo": arguments.redo,
        "partial": arguments.partial,
    }
    return asyncio.run(_undo(wish, is_sure=arguments.yes, as_json=as_json))


async def _list(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("undo")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    print_timeline(report)
    return 0


def print_timeline(report: JsonObject) -> None:
    """The steps of a report, newest first."""
    steps = [as_object(step) for step in as_list(report["steps"])]
    title("Undo timeline" if steps else "Nothing was changed yet that could be undone")
    for step in steps[:_LISTED]:
        when = to_datetime(as_int(step["when"]))
        word = "Undid: " if step["tool"] == "undo" else "Brought back: " if step["tool"] == "redo" else ""
        print(f"  {word}{as_text(step['summary'])}")
        count = len(as_list(step["changes"]))
        facts = f"{step['id']}  {when:%Y-%m-%d %H:%M:%S}  {count} {'change' if count == 1 else 'changes'}"
        print(paint(f"    {facts}  {step['state']}", "dim"))
    print()


async def _undo(wish: JsonObject, *, is_sure: bool, as_json: bool) -> int:
    async with open_backend() as backend:
        done = await take_back(backend, wish, is_sure=is_sure, is_quiet=as_json)
    if done is None:
        return 1
    if as_json:
        print(json.dumps(done, ensure_ascii=False))
        return 0
    count = len(as_list(done["changes"]))
    success(f"{'Brought back' if wish['redo'] else 'Undid'} {count} {'change' if count == 1 else 'changes'}")
    return 0


async def take_back(backend: Backend, wish: JsonObject, *, is_sure: bool, is_quiet: bool = False) -> JsonObject | None:
    """Show it, ask unless sure, do it; None when the person said no. Raises what the backend raises."""
    preview = await backend.preview_undo(wish)
    if not is_quiet:
        _print_preview(preview)
    if not is_sure:
        if is_quiet or not can_ask():
            raise InputError("Nobody can be asked here", hint="Add --yes to do it without a question")
        if read_line("Do it? [y/N] ").strip().lower() not in ("y", "yes"):
            aside("Nothing was changed.")
            return None
    # The steps that were shown, not those that are the newest by now.
    shown = [as_object(step) for step in as_list(preview["steps"])]
    named = wish if wish.get("step") or len(shown) != 1 else {**wish, "step": as_text(shown[0]["id"])}
    return await backend.undo(named)


def _print_preview(preview: JsonObject) -> None:
    verb = "Bring back" if preview["redo"] else "Undo"
    for step in as_list(preview["steps"]):
        title(f"{verb}: {as_text(as_object(step)['summary'])}")
        for note in as_list(as_object(step)["notes"]):
            warn(f"  {as_text(note)}")
    for item in as_list(preview["changes"]):
        change = as_object(item)
        if change["problem"]:
            warn(f"  ✗ {as_text(change['name'])}: {as_text(change['problem'])}")
            continue
        print(f"  {as_text(change['what'])} {as_text(change['name'])}")
        if change["note"]:
            print(paint(f"    {as_text(change['note'])}", "dim"))
        for line in as_list(change["lines"]):
            text = as_text(line)
            colour = _COLOURS.get(text[:1])
            print(f"    {paint(text, colour) if colour else text}")
