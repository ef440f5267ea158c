"""What a conversation that has read other people's text may do unasked: everything that stays here and can be undone.

While it is marked, what sends out, spends, schedules, keeps something for later conversations or destroys asks first,
whatever the tool's level and the safety mode; unrestricted only warns. The reason names whose text was read. A page
may be fetched when its address is none that the text could have put together.
Spec: security.md, "Untrusted content".
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from skales.agent.marks import host_of, plain_address
from skales.agent.origin import TAINT_RULE, CallOrigin, Marks
from skales.agent.taint_repository import looks_only
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import (
    Effect,
    Outcome,
    Safety,
    SafetyMode,
    ToolCall,
    ToolSpec,
    Verdict,
    property_formats,
    safety_of_call,
)

# Words of a search and the like that may leave with what a text could have put into them.
_FREE_CHARACTERS = 160
_SHOWN_SOURCES = 3
# They change nothing that lasts and reach nobody but the person.
_PASSING = frozenset({"send_notification"})
_SCHEDULES = frozenset({"create_task", "planner_create_task"})
# Arguments with which a request brings something along.
_LOADS = ("headers", "body", "json", "data")
_DOWNLOADS = frozenset({Effect.OUTBOUND, Effect.UNTRUSTED_OUTPUT, Effect.WRITES})


class Danger(StrEnum):
    """What a call would do that other people's text must not bring about."""

    SEND = "send"
    FETCH = "fetch"
    SPEND = "spend"
    DESTROY = "destroy"
    SCHEDULE = "schedule"
    KEEP = "keep"
    PLANT = "plant"
    RUN = "run"


class TaintJudge(Struct, frozen=True):
    """The judge for the gate; the settings are asked at each call. `places` are the folders the agent works in.

    The first of them is the workspace, from which paths are read.
    """

    mode: Callable[[], SafetyMode]
    places: Callable[[], Sequence[Path]]

    def judge(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> Verdict:
        """Asks when a marked conversation would do something outward or lasting."""
        if origin.by_user or not origin.sources:
            return Verdict(Outcome.ALLOW)
        danger = find_danger(spec, call.arguments, origin.marks, self.places())
        if danger is None:
            return Verdict(Outcome.ALLOW)
        reason = explain(danger, origin.sources)
        if self.mode() is SafetyMode.UNRESTRICTED:
            return Verdict(Outcome.ALLOW, reason, TAINT_RULE)
        return Verdict(Outcome.ASK, reason, TAINT_RULE)


def find_danger(spec: ToolSpec, arguments: JsonObject, marks: Marks, places: Sequence[Path]) -> Danger | None:
    """What the call would do that the text read before must not bring about; None for what is free."""
    effects = spec.effects
    if "shell-command" in property_formats(spec).values():
        return None if _only_looks(spec, arguments, places) else Danger.RUN
    if Effect.DESTRUCTIVE in effects:
        return Danger.RUN if Effect.OUTBOUND in effects else Danger.DESTROY
    if Effect.SPENDS in effects:
        return Danger.SPEND
    if Effect.OUTBOUND in effects:
        return _judge_outward(spec, arguments, marks, places)
    if Effect.WRITES in effects:
        return _judge_write(spec, arguments, places)
    return None


def explain(danger: Danger, sources: Sequence[str]) -> str:
    """Why the call asks, with whose text was read."""
    names = name_sources(sources)
    match danger:
        case Danger.SEND:
            return f"this conversation holds untrusted text from {names}, and this would send something out"
        case Danger.FETCH:
            return f"this conversation holds untrusted text from {names}, and this address could carry something out"
        case Danger.SPEND:
            return f"this conversation holds untrusted text from {names}, and this would spend money"
        case Danger.DESTROY:
            return f"this conversation holds untrusted text from {names}, and this could destroy something"
        case Danger.SCHEDULE:
            return f"this conversation holds untrusted text from {names}, and this would be done later on its own"
        case Danger.KEEP:
            return f"this conversation holds untrusted text from {names}, and this would be kept for later"
        case Danger.PLANT:
            return f"this conversation holds untrusted text from {names}, and programs could obey what is written there"
        case Danger.RUN:
            return f"this conversation holds untrusted text from {names}, and this could send or destroy something"


def name_sources(sources: Sequence[str]) -> str:
    """The sources in one phrase."""
    shown = ", ".join(sources[:_SHOWN_SOURCES])
    more = len(sources) - _SHOWN_SOURCES
    return f"{shown} and {more} more" if more > 0 else shown


def _judge_outward(spec: ToolSpec, arguments: JsonObject, marks: Marks, places: Sequence[Path]) -> Danger | None:
    """A plain look at an address or a service is free as long as it carries nothing; everything else sends."""
    if not _is_plain_fetch(spec, arguments):
        return Danger.SEND
    formats = property_formats(spec)
    addresses = [text for name, value in arguments.items() if formats.get(name) == "uri" for text in _strings(value)]
    words = [text for name, value in arguments.items() if name not in formats for text in _strings(value)]
    if not all(is_known_address(address, marks) for address in addresses):
        return Danger.FETCH
    if sum(map(len, words)) > _FREE_CHARACTERS:
        return Danger.FETCH
    return _judge_write(spec, arguments, places) if Effect.WRITES in spec.effects else None


def _is_plain_fetch(spec: ToolSpec, arguments: JsonObject) -> bool:
    """Whether a call asks for something and hands nothing over but an address or a few words."""
    if Effect.UNTRUSTED_OUTPUT not in spec.effects or any(arguments.get(name) for name in _LOADS):
        return False
    if Effect.WRITES in spec.effects:
        # A download; what it writes is a file.
        return spec.effects <= _DOWNLOADS and "uri" in property_formats(spec).values()
    return safety_of_call(spec, arguments) is Safety.AUTO


def is_known_address(address: str, marks: Marks) -> bool:
    """Whether an address is none that a text could have filled with something to carry out.

    It stands so in the person's words or in the results of a search; or its host was named by the person, and it
    stands so in what was read or is the host's first page.
    """
    plain = plain_address(address)
    if plain in marks.said or plain in marks.found:
        return True
    host = host_of(address)
    named = any(host == known or host.endswith(f".{known}") for known in marks.hosts)
    if not named or "@" in urlsplit(address).netloc:
        return False
    parts = urlsplit(plain)
    return plain in marks.links or (host in marks.hosts and not parts.path.strip("/") and not parts.query)


def _judge_write(spec: ToolSpec, arguments: JsonObject, places: Sequence[Path]) -> Danger | None:
    """Files where the agent works are free, unless they are hidden; what is kept elsewhere is not."""
    if spec.name in _PASSING:
        return None
    formats = property_formats(spec)
    if "path" not in formats.values():
        is_later = spec.category == "automation" or spec.name in _SCHEDULES
        return Danger.SCHEDULE if is_later else Danger.KEEP
    texts = [text for name, value in arguments.items() if formats.get(name) == "path" for text in _strings(value)]
    return Danger.PLANT if any(_is_obeyed(text, places) for text in texts) else None


def _is_obeyed(text: str, places: Sequence[Path]) -> bool:
    """Whether programs could run a file there or take it for orders: outside the folders of work, or hidden in them."""
    try:
        path = (places[0] / Path(text).expanduser()).resolve()
        inside = [
            path.relative_to(place) for place in (place.resolve() for place in places) if place in (path, *path.parents)
        ]
    except (ValueError, OSError, RuntimeError):
        return True
    shortest = min((relative.parts for relative in inside), key=len, default=None)
    return shortest is None or any(part.startswith(".") for part in shortest)


def _only_looks(spec: ToolSpec, arguments: JsonObject, places: Sequence[Path]) -> bool:
    """Whether a command is made of programs that read and print, and of nothing else."""
    formats = property_formats(spec)
    texts = [
        text for name, value in arguments.items() if formats.get(name) == "shell-command" for text in _strings(value)
    ]
    others = [name for name, value in arguments.items() if name in ("python", "network", "background") and value]
    if others or not any(text.strip() for text in texts):
        return False
    from skales.security.shell_looking import only_looks  # loaded with the first command, not with the program

    if not all(only_looks(text) for text in texts if text.strip()):
        return False
    return "git" not in " ".join(texts) or all(
        looks_only(folder) for folder in _working_folders(spec, arguments, places)
    )


def _working_folders(spec: ToolSpec, arguments: JsonObject, places: Sequence[Path]) -> list[Path]:
    formats = property_formats(spec)
    given = [text for name, value in arguments.items() if formats.get(name) == "path" for text in _strings(value)]
    try:
        return [(places[0] / Path(text).expanduser()).resolve() for text in given or ["."]]
    except (ValueError, OSError, RuntimeError):
        return []


def _strings(value: JsonValue) -> list[str]:
    """Every string within a value, keys of objects as well."""
    match value:
        case str():
            return [value]
        case Mapping():
            return [*value, *(text for member in value.values() for text in _strings(member))]
        case Sequence():
            return [text for member in value for text in _strings(member)]
        case _:
            return []
