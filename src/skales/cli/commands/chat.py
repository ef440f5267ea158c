"""`skales chat`: one question and its answer, or a conversation."""

import argparse
import asyncio
import contextlib
import importlib
import json
import sys
from collections.abc import Awaitable, Callable, Mapping

from skales.cli.backend import Backend, open_backend
from skales.cli.commands.stop import kill
from skales.cli.commands.undo import take_back
from skales.cli.conversation import run_compaction, run_turn
from skales.cli.questions import read_line
from skales.cli.terminal import aside, paint, row, success, title, warn
from skales.cli.turn_view import TurnView
from skales.core.errors import InputError, SkalesError
from skales.core.json import as_list, as_object, as_text

_COMPACT = "/compact"
_HELP = """  /new            start a new conversation
  /compact        summarise the oldest part of this conversation for the model
  /model          show the model in use
  /tools          list the tools
  /tool NAME …    run a tool without a model: /tool read_file path=notes.txt
  /why [NAME …]   what would happen with a call, and by which rules; alone: with the last one
  /status         what runs here
  /killswitch     stop everything that runs, also in other windows
  /undo           take back the last change
  /quit           leave"""


def run(arguments: argparse.Namespace) -> int:
    """One-shot with a text, else interactive."""
    text: str | None = arguments.text
    if text == "-" or (text is None and not sys.stdin.isatty()):
        text = sys.stdin.read().strip()
        if not text:
            raise InputError("There is no message on standard input", hint='Write skales chat "your question"')
    if text is None:
        return asyncio.run(_talk(arguments.session))
    return asyncio.run(_ask_once(text, arguments.session, as_json="json" in arguments))


async def _ask_once(text: str, session_id: str | None, *, as_json: bool) -> int:
    async with open_backend() as backend:
        session_id = session_id or await backend.create_session()
        view = TurnView(quiet=as_json)
        await _take(backend, session_id, text, view)
    if as_json:
        print(json.dumps(view.as_json(session_id), ensure_ascii=False))
    return 0 if view.succeeded else 1


async def _talk(session_id: str | None) -> int:
    _enable_line_editing()
    async with open_backend() as backend:
        aside("Type a message, /help for commands, /quit to leave. Ctrl-C stops an answer.")
        await _tell_unsure(backend)
        while True:
            try:
                text = read_line(paint("\nYou > ", "bold", to=sys.stderr)).strip()
            except (EOFError, KeyboardInterrupt):
                print(file=sys.stderr)
                return 0
            if text in ("/quit", "/exit", "/q"):
                return 0
            if text == "/new":
                session_id = None
                aside("New conversation.")
            elif text in _DEEDS:
                await _DEEDS[text](backend)
            elif text in _SHOWN:
                await _show(backend, text)
            elif text == _COMPACT and session_id is None:
                aside("There is nothing to summarise yet.")
            elif text.startswith("/") and text != _COMPACT and not _is_for_the_turn(text):
                warn(f"Unknown command {text.split()[0]!r}; /help lists them")
            elif text:
                session_id = await _say(backend, session_id, text)


async def _tell_unsure(backend: Backend) -> None:
    """What may have been sent waits for a word of the person, who may not look at the page."""
    for intent in map(as_object, as_list((await backend.report("outbox"))["waiting"])):
        warn(f"May have been sent: {as_text(intent['action'])}")
        aside(f"  Look there, then say: skales outbox sent | again | drop {as_text(intent['id'])}")


def _is_for_the_turn(text: str) -> bool:
    return text == "/why" or text.startswith(("/tool ", "/why "))


async def _say(backend: Backend, session_id: str | None, text: str) -> str | None:
    try:
        session_id = session_id or await backend.create_session()
        await _take(backend, session_id, text, TurnView())
    except SkalesError as error:
        warn(str(error))
    return session_id


async def _take(backend: Backend, session_id: str, text: str, view: TurnView) -> None:
    if text == _COMPACT:
        await run_compaction(backend, session_id, view)
    else:
        await run_turn(backend, session_id, text, view)


async def _undo(backend: Backend) -> None:
    try:
        if await take_back(backend, {}, is_sure=False):
            success("Undone")
    except SkalesError as error:
        warn(str(error))


_DEEDS: Mapping[str, Callable[[Backend], Awaitable[object]]] = {"/killswitch": kill, "/undo": _undo}
_SHOWN = ("/help", "/model", "/tools", "/status")


async def _show(backend: Backend, command: str) -> None:
    if command == "/help":
        print(_HELP)
        return
    report = await backend.report(command.removeprefix("/"))
    if command == "/tools":
        for tool in as_list(report["tools"]):
            print(f"  {as_text(as_object(tool)['name']):<20} {as_text(as_object(tool)['description']).splitlines()[0]}")
        return
    title(command.removeprefix("/").capitalize())
    for key, value in report.items():
        row(key, value)


def _enable_line_editing() -> None:
    with contextlib.suppress(ImportError):  # not there on Windows
        importlib.import_module("readline")  # loading it gives input() editing and history
