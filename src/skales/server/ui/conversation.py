"""Builds the chat page: a transcript of the newest messages, or the welcome."""

import os
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import anyio.to_thread
from msgspec import structs

from skales.app.app import App
from skales.core.approval import Approval
from skales.core.ids import SessionId, is_safe_id
from skales.core.message import Role
from skales.data.sessions import Session
from skales.server.conversation_views import ChatPage, Example, MarkList, ModelFacts, Stretch, Transcript, Welcome
from skales.server.live import place_on_disk
from skales.server.ui.cards import build_card
from skales.server.ui.frame import build_shell
from skales.server.ui.models import describe_model, describe_starter
from skales.server.ui.phrases import greet
from skales.server.ui.picker import build_composer
from skales.server.ui.provider_names import name_providers
from skales.server.ui.transcript import (
    Indexed,
    Setting,
    build_entries,
    build_queue,
    build_summaries,
    find_turn_start,
    judge_end,
    read_marks,
)
from skales.server.views import Screen
from skales.server.words import _

_MESSAGES_AT_ONCE = 30
# Above a message that is jumped to, so that it does not stand at the very top.
_LEAD = 10
# The workspace may be huge; this many entries are enough to find something to try.
_LOOKED_AT = 200
_READABLE = frozenset({".md", ".txt", ".pdf", ".docx", ".odt", ".rst", ".csv", ".html", ".json", ".xlsx", ".pptx"})


async def build_transcript(app: App, session_id: SessionId, at: int | None = None) -> Transcript:
    """The newest messages, or those around `at`, and all that waits.

    Raises NotFoundError, BrokenDocumentError, StorageError.
    The place is read before the disk: what happens between is in the transcript and comes again, which changes nothing.
    """
    place = place_on_disk(app, session_id)
    is_running = app.turns.running(session_id)
    approvals = [found for found in await app.approvals.pending() if found.session_id == session_id]
    build = partial(_build_transcript, app, session_id, at, is_running=is_running, approvals=approvals)
    return structs.replace(await anyio.to_thread.run_sync(build), place=str(place))


def build_older(app: App, session_id: SessionId, before: int) -> Stretch:
    """The stretch of messages above an index. Reads the disk; raises NotFoundError."""
    session = app.sessions.load(session_id)
    return _build_stretch(app, session, _cut_above(session, before), is_running=False)


def build_newer(app: App, session_id: SessionId, start: int) -> Stretch:
    """The stretch of messages from an index on; at the end of the conversation with its place in the stream.

    Reads the disk; raises NotFoundError.
    """
    place = place_on_disk(app, session_id)
    is_running = app.turns.running(session_id)
    session = app.sessions.load(session_id)
    stretch = _build_stretch(app, session, _cut_from(session, start), is_running=is_running)
    return structs.replace(stretch, older_before=0, place="" if stretch.newer_from else str(place))


def build_chat_page(app: App, transcript: Transcript | None, *, query: str = "", deleted: str = "") -> ChatPage:
    """The page around a transcript, or the first page; `deleted` can still be brought back. Reads the disk."""
    session = app.sessions.load(SessionId(transcript.session_id)) if transcript else None
    title = (session.title if session else "") or _("New chat")
    current = session.id if session else ""
    shell = build_shell(app, title, Screen.CHAT, current=current, query=query)
    return ChatPage(
        shell=structs.replace(shell, deleted=deleted if is_safe_id(deleted) else ""),
        session_id=current,
        title=title,
        model=describe_model(app, session.provider if session else "", session.model if session else ""),
        transcript=transcript,
        welcome=None if transcript and session and _is_begun(transcript, session) else _build_welcome(app),
        composer=build_composer(app, session),
        marks=MarkList(session.id, app.marks.read(session).sources) if session else MarkList(),
    )


def _build_transcript(
    app: App, session_id: SessionId, at: int | None, *, is_running: bool, approvals: Sequence[Approval]
) -> Transcript:
    session = app.sessions.load(session_id)
    # What is near the end comes with the end.
    is_near = at is None or at >= len(session.messages) - _MESSAGES_AT_ONCE + _LEAD
    messages = _cut_above(session, None) if is_near or at is None else _cut_from(session, max(at - _LEAD, 0))
    stretch = _build_stretch(app, session, messages, is_running=is_running)
    return Transcript(
        session_id=session_id,
        stretch=stretch,
        place="",
        is_running=is_running,
        queue=build_queue(session),
        approvals=tuple(build_card(approval, app.toolbox.find(approval.tool)) for approval in approvals),
        outcome=None if stretch.newer_from else judge_end(messages, is_running=is_running, waits=bool(approvals)),
    )


def _cut_above(session: Session, before: int | None) -> Sequence[Indexed]:
    """The messages that end before an index, or at the end."""
    end = len(session.messages) if before is None else min(max(before, 0), len(session.messages))
    return _cut(session, max(end - _MESSAGES_AT_ONCE, 0), end)


def _cut_from(session: Session, start: int) -> Sequence[Indexed]:
    """The messages that begin with an index; a short rest comes with them."""
    total = len(session.messages)
    start = min(max(start, 0), total)
    end = start + _MESSAGES_AT_ONCE
    while end < total and session.messages[end].role is Role.TOOL:
        end += 1
    return _cut(session, start, min(end, total))


def _cut(session: Session, start: int, end: int) -> Sequence[Indexed]:
    """A stretch must not begin with results whose calls are above it."""
    while 0 < start < end and session.messages[start].role is Role.TOOL:
        start -= 1
    return list(enumerate(session.messages[start:end], start))


def _build_stretch(app: App, session: Session, messages: Sequence[Indexed], *, is_running: bool) -> Stretch:
    if not messages:
        return Stretch(())
    first, following = messages[0][0], messages[-1][0] + 1
    is_end = following >= len(session.messages)
    setting = Setting(
        app.gate.describe,
        app.clock.now_ms(),
        is_running and is_end,
        chosen=(session.provider, session.model),
        marks=read_marks(session),
        turn_start=find_turn_start(session.messages, first),
        facts_of=cache(app.models.facts),
        label_of=name_providers(app),
        summaries=build_summaries(session),
    )
    entries = build_entries(messages, setting, is_end=is_end)
    return Stretch(entries, older_before=first, newer_from=0 if is_end else following)


def _is_begun(transcript: Transcript, session: Session) -> bool:
    """A turn that was just started may not have written its message yet."""
    return transcript.is_running or bool(session.messages or session.queued)


def _build_welcome(app: App) -> Welcome:
    model = describe_model(app)
    names = _list_files(app.directory.workspace)
    return Welcome(
        greeting=greet(app.clock.now_ms()),
        model=model,
        starter=describe_starter(app) if model.is_starter else None,
        examples=build_examples(model, names),
        folder="" if names else str(app.directory.workspace),
    )


def _list_files(folder: Path) -> list[str]:
    """Names of the first files in the person's folder, newest first."""
    found: list[tuple[float, str]] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= _LOOKED_AT:
                    break
                if not entry.name.startswith(".") and entry.is_file():
                    found.append((entry.stat().st_mtime, entry.name))
    except OSError:
        # Without the folder the page says how to fill it, which is right also then.
        return []
    return [name for _time, name in sorted(found, reverse=True)]


def build_examples(model: ModelFacts, names: Sequence[str]) -> tuple[Example, ...]:
    """Tasks on the person's own folder, whose files are named; without a model the same by hand."""
    readable = next((name for name in names if Path(name).suffix.lower() in _READABLE), "")
    if not model.ready:
        listing = Example(_("List my folder"), "/tool list_directory path=.", is_command=True)
        reading = Example(_("Read a file"), f'/tool read_file path="{readable}"', is_command=True)
        return (listing, reading) if readable else (listing,)
    if not names:
        return (
            Example(_("Begin a file"), _("Write a packing list for a weekend at the sea into packing.md")),
            Example(_("Begin a table"), _("Make a CSV file for my monthly expenses with six usual categories")),
            Example(_("Look around"), _("What can you do with files in my folder?")),
        )
    return (
        Example(_("Look around"), _("What is in my folder, and what belongs together?")),
        Example(_("Read for me"), _("Summarise %(name)s in five sentences", name=readable or names[0])),
        Example(_("Make space"), _("Which files in my folder take the most space?")),
    )
