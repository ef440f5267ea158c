"""What calls did: whether one could have done what is said, whether it names the thing, and how many it names. Pure."""

import re
import unicodedata
from functools import lru_cache

from msgspec import Struct

from skales.agent.claim_lexicon import Action, find_verb
from skales.core.tool import Effect

_SENDING = re.compile(
    r"send|reply|post|push|publish|upload|request|deploy|notif|message|tweet|social|delegate|forward|mail|invite|share|"
    r"calendar|merge|browser|click|key"
)
_DELETING = re.compile(r"delete|remove|empty|edit|replace|clear|cancel|trash|clean|update|manage|organi[sz]e|move")
_RUNNING = re.compile(
    r"run|command|process|deploy|install|script|launch|start|open|service|click|key|playbook|workflow"
)
_SCHEDULING = re.compile(r"schedul|calendar|planner|create_task|plan_to|reminder|alarm|event|book|cron|job|request")
_MOVING = re.compile(r"move|copy|download|extract|archive|upload|rename|organi[sz]e|zip|backup|publish")
_ORDERING = re.compile(r"order|buy|pay|purchase|checkout|transfer|book|request|click|browser")
_RECORDING = re.compile(r"screenshot|snapshot")
# These may do anything, and need not name what they did it to.
_ANYTHING = frozenset({"run_script", "run_workflow", "playbook_run", "dispatch_subtasks", "computer_click"})
_COMMAND = "execute_command"
# A tool of another program, of which only the name is known, that only looks.
_LOOKS = re.compile(
    r"(?:^|__|[./:-])(?:list|get|read|search|find|fetch|query|show|describe|view|lookup|check|status)(?:_|$)"
)
# Commands that change nothing, alone or joined.
_LOOKING = re.compile(
    r"\s*(?:sudo\s+)?(?:ls|cat|head|tail|pwd|echo|grep|rg|wc|stat|file|which|whoami|date|df|du|ps|env|printenv|uname|"
    r"lpstat|lsblk|lsof|netstat|journalctl|nslookup|dig|ping|nginx\s+-t|aws\s+\S+\s+ls|gh\s+\w+\s+(?:list|view)|"
    r"tree|find|sort|uniq|diff|test|id|hostname|uptime|free|less|more|"
    r"git\s+(?:status|log|diff|show|branch|remote)|docker\s+(?:\w+\s+)?(?:ps|ls|images|logs|inspect)|crontab\s+-l|"
    r"systemctl\s+(?:status|list-\S+|is-\S+)|kubectl\s+(?:get|describe|logs)|(?:npm|pip3?|brew|apt)\s+(?:ls|list|show))\b(?!.*(?:-delete|-exec)\b)[^>]*"
)
# Commands that do it to what they name.
_NAMING = re.compile(r"\s*(?:sudo\s+)?(?:rm|mv|cp|mkdir|touch|rmdir|unlink)\s[^*?$`{\[]*")
_SENDS_OUT = re.compile(
    r"\b(?:curl|wget|mail|mailx|mutt|sendmail|msmtp|swaks|git\s+push|scp|rsync|sftp|ftp|ssh|gh|glab|npm\s+publish|twine|"
    r"docker\s+push|http|https|python3?|node|deno|ruby|perl|bash|sh|notify-send|make|vercel|netlify|firebase|aws|az|gcloud|"
    r"kubectl|telegram-send|osascript)\b|\./"
)
_FILE = re.compile(r"[\w~/][\w ./~-]*\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)|[\w.+-]+@[\w-]+\.[\w.-]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_READS = frozenset({Effect.READS_PRIVATE, Effect.UNTRUSTED_OUTPUT})


class Deed(Struct, frozen=True):
    """A tool call and what came of it.

    `arguments` holds its texts, `result` the beginning of what it said. `is_foreign` marks a tool of another program,
    of which nothing is known; `is_unsure` a call of which nobody knows whether it had its effect. `most` is the length
    of the longest list among its arguments.
    """

    tool: str
    effects: frozenset[Effect]
    is_done: bool
    arguments: str
    result: str = ""
    is_foreign: bool = False
    is_unsure: bool = False
    most: int = 0


def fits(action: Action, deed: Deed) -> bool:  # noqa: C901 - one arm per action
    """Whether a call of this kind could have done it."""
    if deed.tool in _ANYTHING:
        return True
    if deed.is_foreign:
        return not _LOOKS.search(deed.tool)
    if deed.tool == _COMMAND:
        return _command_fits(action, deed.arguments)
    match action:
        case Action.SENT:
            return (
                Effect.OUTBOUND in deed.effects and bool(_SENDING.search(deed.tool))
            ) or deed.tool == "send_notification"
        case Action.WRITTEN:
            return bool(deed.effects & {Effect.WRITES, Effect.DESTRUCTIVE}) or bool(_RECORDING.search(deed.tool))
        case Action.DELETED:
            return deed.tool in _DELETERS or (bool(_DELETING.search(deed.tool)) and _changes(deed))
        case Action.RAN | Action.OPERATED:
            return bool(_RUNNING.search(deed.tool)) and not _LOOKS.search(deed.tool)
        case Action.SCHEDULED:
            return bool(_SCHEDULING.search(deed.tool)) and (_changes(deed) or not is_reading(deed) or _is_list(deed))
        case Action.MOVED:
            return bool(_MOVING.search(deed.tool) or (_SCHEDULING.search(deed.tool) and _changes(deed)))
        case Action.ORDERED:
            return bool(_ORDERING.search(deed.tool))
        case Action.COMMITTED:
            return "commit" in deed.tool
        case Action.SWITCHED | Action.DONE | Action.PLACED:
            return _changes(deed) or bool(_MOVING.search(deed.tool) or _RUNNING.search(deed.tool))


_DELETERS = frozenset({"delete_file", "knowledge_graph_delete", "ftp_publish"})


def _changes(deed: Deed) -> bool:
    return bool(deed.effects & {Effect.WRITES, Effect.DESTRUCTIVE, Effect.OUTBOUND})


def _is_list(deed: Deed) -> bool:
    """What stands in a calendar or a list of tasks is scheduled."""
    return bool(re.search(r"list|read|get", deed.tool))


def _command_fits(action: Action, command: str) -> bool:
    parts = re.split(r"&&|\|\||[|;\n]", command)
    if action is Action.RAN:
        return True
    if all(_LOOKING.fullmatch(part) for part in parts if part.strip()):
        return False
    if action is Action.COMMITTED:
        return "commit" in command or bool(re.search(r"\./|\bmake\b|python", command))
    return action is not Action.SENT or bool(_SENDS_OUT.search(command))


def is_reading(deed: Deed) -> bool:
    """Whether it told the model something of the world."""
    return bool(deed.effects & _READS) or deed.is_foreign or deed.tool in {_COMMAND, "list_tasks", "planner_list_tasks"}


def meets(name: str, deed: Deed) -> bool:
    """Whether a call names a file, an address or a person; those that may do anything need not."""
    if deed.tool in _ANYTHING or (deed.tool == _COMMAND and not _NAMING.fullmatch(deed.arguments)):
        return True
    wanted = fold(name.rstrip("/").rpartition("/")[2] if "://" not in name else name)
    return any(_has_word(text, wanted) for text in (fold(deed.arguments), fold(deed.result), deed.tool))


def count_items(deed: Deed) -> int:
    """How many things a call names; 0 when that cannot be told."""
    if deed.is_foreign or deed.tool in _ANYTHING or deed.tool == _COMMAND:
        return 0
    if deed.most > 1:
        return deed.most
    if re.search(r"create_task|planner_create|reminder|create_event", deed.tool):
        return 1
    return len({fold(name.strip()) for name in _FILE.findall(deed.arguments[:_LONGEST_ARGUMENTS])})


def tells_number(number: int, deed: Deed) -> bool:
    """Whether the result speaks of so many."""
    return bool(re.search(rf"(?<!\d){number}(?!\d)", deed.result))


def tells_of(action: Action, deed: Deed) -> bool:
    """Whether the result speaks of such a deed, in either language."""
    found = map(find_verb, re.findall(r"[^\W\d_]+", deed.result.lower()))
    return any(verb is not None and verb.action is action for verb in found)


_LONGEST_ARGUMENTS = 2_000


@lru_cache(maxsize=256)
def fold(text: str) -> str:
    """One spelling for all: composed, small letters, umlauts in two letters, no quotation marks."""
    plain = unicodedata.normalize("NFC", text).casefold().translate(_UMLAUTS)
    return re.sub(r"[\"'`*“”„‘’‚«»]", "", plain)


def _has_word(text: str, wanted: str) -> bool:
    """The name with nothing grown on to it: `a.txt` is not in `data.txt`."""
    if not wanted:
        return True
    return bool(re.search(rf"(?<![\w.-]){re.escape(wanted)}(?!\w)", text))
