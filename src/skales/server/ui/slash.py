"""Commands in the message field: one table of what there is, and what can come of one.

What each does is in `slash_actions`; the page shows this table in the palette and in the help.
Spec: ui-surfaces.md, "Slash commands".
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches

from msgspec import Struct, field

from skales.core.errors import InputError
from skales.server.words import LANGUAGES, N_, _

# A path such as `/etc/hosts` is no command.
_WORD = re.compile(r"/([a-z][a-z_-]*)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


class Command(Struct, frozen=True):
    """A word that does something when it begins a message. `argument` shows what may follow it."""

    name: str
    what: str
    argument: str = ""


COMMANDS = (
    Command("/new", N_("begin a new chat")),
    Command("/clear", N_("begin a new chat; this one stays in the list")),
    Command("/model", N_("choose who answers in this conversation"), N_("[model]")),
    Command("/compare", N_("ask several models the same, side by side"), N_("[message]")),
    Command("/tool", N_("run a tool yourself"), N_("name [key=value]")),
    Command("/why", N_("why a call asks, or what would happen with one"), N_("[name] [key=value]")),
    Command("/stop", N_("stop the answer in this conversation")),
    Command("/kill", N_("stop everything that runs")),
    Command("/killswitch", N_("end everything at once, and pause tasks and the schedule")),
    Command("/resume", N_("go on where this conversation stands")),
    Command("/compact", N_("summarise the oldest part of this conversation for the model")),
    Command("/undo", N_("take back what a tool changed")),
    Command("/search", N_("find conversations"), N_("[words]")),
    Command("/export", N_("save this conversation as a file")),
    Command("/status", N_("show what answers and what runs")),
    Command("/provider", N_("open the providers in the settings")),
    Command("/tools", N_("open the tools")),
    Command("/settings", N_("open the settings")),
    Command("/theme", N_("change how the page looks"), "[system|light|dark]"),
    Command("/language", N_("change the language of the page"), f"[{'|'.join(LANGUAGES)}]"),
    Command("/version", N_("show the version of Skales")),
    Command("/help", N_("show keys and commands")),
)


class Say(Struct, frozen=True):
    """The text is a message."""

    text: str


class Go(Struct, frozen=True):
    """The page goes to an address, or shows it anew."""

    address: str


class Tell(Struct, frozen=True):
    """The page says something and stays."""

    lines: tuple[str, ...]


class Act(Struct, frozen=True):
    """The page's scripts do something; without them `instead` happens."""

    name: str
    instead: "Go | Tell"
    facts: Mapping[str, str] = field(default_factory=dict)


Outcome = Say | Go | Tell | Act


def parse_command(text: str) -> tuple[str, str]:
    """The name of a command without its slash and what follows it; an empty name for a message.

    A blank before the slash, or a second slash, make it a message. The turn itself runs `/tool` and `/why`.
    Raises InputError for a command that does not exist.
    """
    found = _WORD.fullmatch(text.rstrip())
    if found is None or found[1].lower() in ("tool", "why"):
        return "", text
    name = found[1].lower()
    if f"/{name}" not in {command.name for command in COMMANDS}:
        raise _unknown(name)
    return name, (found[2] or "").strip()


def unescape(text: str) -> str:
    """The message that a text with two slashes at its start means."""
    # The blank keeps the turn from taking `/tool` for a command.
    return f" {text[1:]}" if text.startswith("//") else text


def _unknown(name: str) -> InputError:
    near = get_close_matches(f"/{name}", [command.name for command in COMMANDS], n=1, cutoff=0.5)
    hint = _("Put a blank in front to send it as text")
    if near:
        hint = _("Perhaps %(command)s was meant. Put a blank in front to send it as text", command=near[0])
    return InputError(_("There is no command /%(name)s", name=name), hint=hint, code="unknown_command")
