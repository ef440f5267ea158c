"""What each command of the message field does: one function per word. Typed, clicked and posted they do the same."""

from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar
from urllib.parse import quote, urlencode

import anyio.to_thread
from msgspec import Struct

from skales import __version__
from skales.app.app import App
from skales.core.ids import SessionId
from skales.server.frame_views import Shell
from skales.server.ui.frame import build_shell
from skales.server.ui.models import describe_model
from skales.server.ui.picker import Suggestion, find_models, set_model
from skales.server.ui.slash import COMMANDS, Act, Go, Outcome, Say, Tell, parse_command, unescape
from skales.server.views import Screen
from skales.server.words import LANGUAGES, _, ngettext

_THEMES = ("system", "light", "dark")


class Told(Struct, frozen=True):
    """What a command has to say, as a page of its own, for browsers without scripts."""

    template: ClassVar[str] = "chat/told.html"
    shell: Shell
    lines: tuple[str, ...]
    back: str


class _Asked(Struct, frozen=True):
    """A command with what follows it, and where it was written; `session_id` is empty in a new chat."""

    session_id: SessionId
    rest: str

    @property
    def address(self) -> str:
        return f"/chat/{self.session_id}" if self.session_id else "/chat"


async def run_command(app: App, text: str, session_id: SessionId) -> Outcome:
    """Do what a command says; anything else is a message. Raises InputError for a command that does not exist."""
    name, rest = parse_command(text)
    return await _ACTIONS[name](app, _Asked(session_id, rest)) if name else Say(unescape(text))


def build_told(app: App, outcome: Tell, session_id: str) -> Told:
    """The page for browsers without scripts. Reads the disk."""
    shell = build_shell(app, _("Command"), Screen.CHAT, current=session_id)
    return Told(shell, outcome.lines, f"/chat/{session_id}" if session_id else "/chat")


def _lead_to(address: str) -> Callable[[App, _Asked], Awaitable[Outcome]]:
    async def go(_app: App, _asked: _Asked) -> Outcome:
        return Go(address)

    return go


async def _help(_app: App, _asked: _Asked) -> Outcome:
    lines = (" ".join(filter(None, (command.name, command.argument, "–", _(command.what)))) for command in COMMANDS)
    return Act("help", Tell(tuple(lines)))


async def _model(app: App, asked: _Asked) -> Outcome:
    """Sets the model when exactly one provider serves it; else the person chooses."""
    found = await find_models(app, asked.rest) if asked.rest else ()
    if len(found) == 1:
        return await _set_model(app, asked, found[0])
    if found:
        words = [_("Several providers serve %(model)s. Write one of:", model=asked.rest)]
        words += [f"/model {known.provider_id}/{known.model}" for known in found]
    elif asked.rest:
        words = [_("No provider that is set up lists %(model)s", model=asked.rest)]
    else:
        session = app.sessions.load(asked.session_id) if asked.session_id else None
        facts = describe_model(app, session.provider if session else "", session.model if session else "")
        words = [_("%(model)s of %(provider)s answers here", model=facts.model, provider=facts.provider)]
    return Act("model", Tell(tuple(words)), {"query": asked.rest})


async def _set_model(app: App, asked: _Asked, chosen: Suggestion) -> Outcome:
    words = Tell((_("%(model)s of %(provider)s answers from the next message on", **chosen.names),))
    if asked.session_id:
        await anyio.to_thread.run_sync(set_model, app, asked.session_id, chosen.provider_id, chosen.model)
        return Act("chosen", words, chosen.as_facts())
    # A new chat has no file yet; the page sends the choice with the first message.
    return Act("chosen", Tell((_("Choose the model once the conversation has begun"),)), chosen.as_facts())


async def _compare(_app: App, asked: _Asked) -> Outcome:
    facts = {"session": asked.session_id, "q": asked.rest}
    query = urlencode({name: value for name, value in facts.items() if value})
    return Go(f"/compare?{query}" if query else "/compare")


async def _stop(app: App, asked: _Asked) -> Outcome:
    stopped = bool(asked.session_id) and app.turns.stop(asked.session_id)
    return Tell((_("Stopped") if stopped else _("Nothing runs in this conversation"),))


async def _kill(app: App, _asked: _Asked) -> Outcome:
    count = await app.stop_all()
    if not count:
        return Tell((_("Nothing runs"),))
    return Tell((ngettext("Stopped %(num)d running answer", "Stopped %(num)d running answers", count),))


async def _killswitch(app: App, _asked: _Asked) -> Outcome:
    outcome = await app.kill_switch.use("page")
    stopped = _(
        "Stopped. Conversations: %(turns)d, tools: %(tools)d, programs in the background: %(programs)d.",
        turns=outcome.turns,
        tools=outcome.calls,
        programs=outcome.programs,
    )
    left = _("%(num)d of them did not end in time.", num=outcome.left) if outcome.left else ""
    paused = _("Tasks and the schedule are paused. The activity page has a note, and lets them go on.")
    return Tell(tuple(line for line in (stopped, left, paused) if line))


async def _resume(app: App, asked: _Asked) -> Outcome:
    if not asked.session_id:
        return Tell((_("There is nothing to go on with in a new chat"),))
    await app.turns.resume(asked.session_id)
    return Go(asked.address)


async def _compact(app: App, asked: _Asked) -> Outcome:
    if not asked.session_id:
        return Tell((_("There is nothing to summarise in a new chat"),))
    await app.turns.compact(asked.session_id)
    return Go(asked.address)


async def _undo(app: App, asked: _Asked) -> Outcome:
    """Leads to the last change of this conversation; nothing is taken back before it was looked at."""

    def find() -> str:
        return next(
            (
                step.id
                for step in app.undo.undoable()
                if not asked.session_id or step.session_id in ("", asked.session_id)
            ),
            "",
        )

    step_id = await anyio.to_thread.run_sync(find)
    return Go(f"/undo/{step_id}") if step_id else Tell((_("Nothing was changed here that could be undone"),))


async def _search(_app: App, asked: _Asked) -> Outcome:
    return Act("search", Go(f"/chat?q={quote(asked.rest)}"), {"query": asked.rest})


async def _export(_app: App, asked: _Asked) -> Outcome:
    if not asked.session_id:
        return Tell((_("There is nothing to save in a new chat"),))
    return Act("export", Go(f"/ui/sessions/{asked.session_id}/export?format=md"))


async def _theme(app: App, asked: _Asked) -> Outcome:
    wanted = asked.rest.lower()
    if wanted not in _THEMES:
        present = await anyio.to_thread.run_sync(app.settings.load)
        lines = (_("The page looks like this: %(theme)s", theme=present.theme), _("Write /theme system, light or dark"))
        return Tell(lines)
    await anyio.to_thread.run_sync(app.settings.set_value, "theme", wanted)
    return Go(asked.address)


async def _language(app: App, asked: _Asked) -> Outcome:
    wanted = asked.rest.lower()
    if wanted not in LANGUAGES:
        known = ", ".join(f"{tag} ({name})" for tag, name in LANGUAGES.items())
        return Tell((_("Write /language and one of: %(languages)s", languages=known),))
    await anyio.to_thread.run_sync(app.settings.set_value, "locale", wanted)
    return Go(asked.address)


async def _status(app: App, asked: _Asked) -> Outcome:
    def read() -> tuple[str, ...]:
        session = app.sessions.load(asked.session_id) if asked.session_id else None
        facts = describe_model(app, session.provider if session else "", session.model if session else "")
        who = _("%(model)s of %(provider)s answers here", model=facts.model, provider=facts.provider)
        runs = bool(asked.session_id) and app.turns.running(asked.session_id)
        return (
            f"{facts.trouble.message}." if facts.trouble else f"{who}.",
            _("An answer is on its way.") if runs else _("Nothing runs in this conversation."),
            _("Up for %(minutes)d minutes.", minutes=app.uptime_ms() // 60_000),
        )

    return Tell(await anyio.to_thread.run_sync(read))


async def _version(_app: App, _asked: _Asked) -> Outcome:
    return Tell((_("Skales %(version)s", version=__version__),))


_ACTIONS: Mapping[str, Callable[[App, _Asked], Awaitable[Outcome]]] = {
    "new": _lead_to("/chat"),
    "clear": _lead_to("/chat"),
    "help": _help,
    "model": _model,
    "compare": _compare,
    "stop": _stop,
    "kill": _kill,
    "killswitch": _killswitch,
    "resume": _resume,
    "compact": _compact,
    "undo": _undo,
    "search": _search,
    "export": _export,
    "theme": _theme,
    "language": _language,
    "status": _status,
    "tools": _lead_to("/tools"),
    "settings": _lead_to("/settings"),
    "provider": _lead_to("/settings#providers"),
    "version": _version,
}
