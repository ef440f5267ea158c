"""The tools about Skales itself: its state, what it can do, who it is told to be, and a word to the person.

None makes a request, and none shows a secret.
"""

from collections import Counter
from collections.abc import Sequence

from anyio import to_thread

from skales.core.errors import InputError
from skales.core.tool import Effect, Safety, ToolResult, ToolSpec
from skales.data.capabilities import CapabilityNote
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import visible
from skales.tools.file.wording import count_of

_TITLE_CHARS = 100
_TEXT_CHARS = 500
_LISTED = 400


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look how Skales is set up",
    example=("Which model answers me?", {}),
    found_by=(
        "geht alles Status provider health läuft working which model welches Modell Verbindung ok broken "
        "configured correctly eingerichtet richtig Ordnung setup"
    ),
)
async def check_system_status(ctx: ToolContext) -> ToolResult:
    """Tell how Skales is set up and fares: provider, model, safety, integrations, disk. Asks no server."""
    facts = await to_thread.run_sync(ctx.program.status)
    lines = [f"{name}: {visible(fact)}" for name, fact in facts.items()]
    lines.append("Whether a provider answers was not tried, since that needs a request.")
    return ToolResult(text="\n".join(lines), summary="Looked at the state of Skales", data=dict(facts))


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List what Skales can do",
    example=("What can you do?", {}),
    found_by=(
        "alles able which tools switched on was kannst du what can you do Fähigkeiten abilities features MCP "
        "eingeschaltet welche Werkzeuge"
    ),
)
async def check_capabilities(ctx: ToolContext, category: str = "") -> ToolResult:
    """List which tools are on and which are off, tools of MCP servers included.

    Args:
        category: Only this one, such as file or web; empty for all.
    """
    tools, notes = await to_thread.run_sync(lambda: (ctx.program.tools(), ctx.program.notes()))
    known = Counter(spec.category for spec, _is_on in tools)
    wanted = category.strip().lower()
    if wanted and wanted not in known:
        raise InputError(f"There is no category {category[:80]!r}", hint=f"There are {', '.join(sorted(known))}")
    chosen = [(spec, is_on) for spec, is_on in tools if not wanted or spec.category == wanted]
    on = sum(is_on for _spec, is_on in chosen)
    lines = [f"{on} of {count_of(len(chosen), 'tool')} are on.", *_tool_lines(chosen, with_words=bool(wanted))]
    if notes and not wanted:
        lines += ["Notes:", *(_note_line(note) for note in notes)]
    return ToolResult(
        text="\n".join(lines),
        summary=f"{on} of {count_of(len(chosen), 'tool')} on",
        data={
            "on": [spec.name for spec, is_on in chosen if is_on],
            "off": [spec.name for spec, is_on in chosen if not is_on],
        },
    )


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Read the identity files",
    example=("Who are you supposed to be for me?", {}),
    found_by=(
        "du you your wer bist who are identity Name Persönlichkeit role standing instructions Anweisungen supposed"
    ),
)
async def check_identity(ctx: ToolContext) -> ToolResult:
    """Read who Skales is told to be and whom it works for: standing instructions and identity files."""
    texts = await to_thread.run_sync(ctx.program.identity)
    if not texts:
        return ToolResult(text="There are no identity files and no standing instructions.", summary="No identity files")
    parts = [f"## {visible(name)}\n\n{text}" for name, text in texts]
    return ToolResult(text="\n\n".join(parts), summary=f"Read {count_of(len(texts), 'identity text')}")


@tool(
    "system",
    Safety.AUTO,
    Effect.WRITES,
    action="Note {section}.{key} = {value}",
    example=(
        "Note that our mail server takes 30 mails a day",
        {"section": "mail", "key": "limit", "value": "30 a day"},
    ),
    found_by=(
        "note down that you are able to Fähigkeit notieren capability record new ability eintragen merken "
        "installed available cannot"
    ),
)
async def update_capabilities(ctx: ToolContext, section: str, key: str, value: str, note: str = "") -> ToolResult:
    """Note something lasting about what Skales can or cannot do here; a former value is replaced.

    Args:
        section: What it belongs to, such as mail.
        key: Its name.
        value: What is so; no passwords or keys.
        note: Why, or since when.
    """
    noted = CapabilityNote(section.strip(), key.strip(), value.strip(), note.strip())
    is_replaced = await to_thread.run_sync(ctx.program.note, noted)
    summary = f"{'Replaced' if is_replaced else 'Noted'} {visible(noted.name)}"
    return ToolResult(text=f"{summary}: {visible(noted.value)}", summary=summary)


@tool(
    "system",
    Safety.AUTO,
    Effect.WRITES,
    action="Tell you: {title}",
    example=(
        "Tell me when the backup is through",
        {"title": "Backup finished", "message": "12 folders, nothing failed"},
    ),
    found_by=(
        "benachrichtigen notify alert Hinweis Bescheid popup tell me when reminder message Meldung "
        "notification Benachrichtigung know sag fertig finished done Glocke bell ping"
    ),
)
async def send_notification(ctx: ToolContext, title: str, message: str = "") -> ToolResult:
    """Put a notice under the person's bell, when they wanted to hear of something while looking elsewhere.

    Args:
        title: What happened, in a few words.
        message: One or two sentences more.
    """
    words, more = " ".join(title.split()), " ".join(message.split())
    if not words or len(words) > _TITLE_CHARS or len(more) > _TEXT_CHARS:
        raise InputError(
            f"A notice has a title of 1 to {_TITLE_CHARS} characters and a message of at most {_TEXT_CHARS}"
        )
    ctx.notices.add_word(visible(words), visible(more), ctx.scope.session_id)
    return ToolResult(
        text=f"The notice {words!r} is under the bell of the page until Skales ends.", summary=f"Told: {words}"
    )


def _tool_lines(tools: Sequence[tuple[ToolSpec, bool]], *, with_words: bool) -> Sequence[str]:
    """By category, those that are off at its end; with what each is for when only one category is asked for."""
    if with_words:
        lines = [f"- {spec.name}{'' if is_on else ' (off)'}: {_first_sentence(spec)}" for spec, is_on in tools]
        return lines[:_LISTED]
    lines = []
    for category in sorted({spec.category for spec, _is_on in tools}):
        on = [spec.name for spec, is_on in tools if spec.category == category and is_on]
        off = [spec.name for spec, is_on in tools if spec.category == category and not is_on]
        more = f" Off: {', '.join(off[:_LISTED])}." if off else ""
        lines.append(f"- {category}: {', '.join(on[:_LISTED]) or 'none on'}.{more}")
    return lines


def _first_sentence(spec: ToolSpec) -> str:
    return visible(spec.description.split(". ")[0].rstrip("."))


def _note_line(note: CapabilityNote) -> str:
    more = f" ({visible(note.note)})" if note.note else ""
    return f"- {visible(note.name)}: {visible(note.value)}{more}"
