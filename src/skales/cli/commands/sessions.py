"""`skales sessions`: list, show, search, arrange, lift marks of, export or delete conversations."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import paint, success, title
from skales.core.clock import to_datetime
from skales.core.json import JsonObject, as_int, as_list, as_object, as_text

_LISTED = 20


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    as_json = "json" in arguments
    match arguments.action:
        case "show":
            return asyncio.run(_show(arguments.id, as_json=as_json))
        case "search":
            return asyncio.run(_search(arguments.words, arguments.limit, as_json=as_json))
        case "export":
            return asyncio.run(_export(arguments))
        case "pin" | "unpin":
            return asyncio.run(_pin(arguments.id, pinned=arguments.action == "pin"))
        case "folder":
            return asyncio.run(_move(arguments.id, arguments.name))
        case "lift":
            return asyncio.run(_lift(arguments.id))
        case "delete":
            return asyncio.run(_delete(arguments.id))
        case _:
            return asyncio.run(_list(getattr(arguments, "limit", _LISTED), as_json=as_json))


async def _list(limit: int, *, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("sessions")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    title(f"{as_int(report['count'])} conversations")
    for session in [as_object(item) for item in as_list(report["sessions"])][:limit]:
        when = to_datetime(as_int(session["updatedAt"]))
        print(f"  {as_text(session['title']) or 'Untitled'}")
        model = "/".join(part for part in (as_text(session["provider"]), as_text(session["model"])) if part)
        print(paint(f"    {session['id']}  {session['messageCount']} msgs  {model}  {when:%Y-%m-%d %H:%M}", "dim"))
    print()
    return 0


async def _show(session_id: str, *, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.session(session_id)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    session = as_object(report["session"])
    title(as_text(session["title"]) or "Untitled")
    for source in as_list(session.get("sources")):
        print(paint(f"Untrusted text from: {as_text(source)}", "yellow"))
    for message in as_list(session["messages"]):
        _print_message(as_object(message))
    return 0


def _print_message(message: JsonObject) -> None:
    content = message.get("content")
    text = as_text(content) or "".join(as_text(as_object(part).get("text")) for part in as_list(content))
    role = as_text(message.get("role"))
    for call in as_list(message.get("tool_calls")):
        function = as_object(as_object(call).get("function"))
        print(paint(f"→ {as_text(function.get('name'))} {as_text(function.get('arguments'))}", "dim"))
    if role == "tool":
        print(paint(f"✓ {text[:200]}", "dim"))
    elif text:
        print(f"{paint('You' if role == 'user' else 'Skales', 'bold')}\n{text}\n")


async def _search(words: str, limit: int, *, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.search_sessions(words, limit)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    hits = [as_object(item) for item in as_list(report["hits"])]
    title(f"{len(hits)} found")
    for hit in hits:
        print(f"  {as_text(hit['title']) or 'Untitled'}")
        print(paint(f"    {hit['id']}  {as_text(hit['snippet'])}", "dim"))
    print()
    return 0


async def _pin(session_id: str, *, pinned: bool) -> int:
    async with open_backend() as backend:
        await backend.arrange_session(session_id, pinned=pinned)
    success(f"{'Pinned' if pinned else 'Unpinned'} {session_id}")
    return 0


async def _move(session_id: str, folder: str) -> int:
    async with open_backend() as backend:
        await backend.arrange_session(session_id, folder=folder)
    success(f"Moved {session_id} to {folder!r}" if folder.strip() else f"Took {session_id} out of its folder")
    return 0


async def _lift(session_id: str) -> int:
    async with open_backend() as backend:
        lifted = [as_text(source) for source in as_list((await backend.lift_marks(session_id))["sources"])]
    success(f"No longer counted as untrusted: {', '.join(lifted)}" if lifted else "Nothing was marked")
    return 0


async def _export(arguments: argparse.Namespace) -> int:
    """The conversation comes as JSON from whoever holds it; the file is made here."""
    from skales.cli.exporting import write_export

    async with open_backend() as backend:
        report = await backend.session(arguments.id)
    where = write_export(as_object(report["session"]), arguments)
    if where:
        success(f"Wrote {where}")
    return 0


async def _delete(session_id: str) -> int:
    async with open_backend() as backend:
        await backend.delete_session(session_id)
    success(f"Moved {session_id} to the trash")
    return 0
