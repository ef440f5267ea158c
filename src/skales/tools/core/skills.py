"""The tools `read_skill` and `create_skill`: instructions for kinds of tasks, kept as SKILL.md files.

A skill is text; it grants no tool and runs nothing. Spec: skills.md.
"""

from functools import partial

from anyio import to_thread

from skales.core.errors import ConflictError, NotFoundError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.agent_skills import SkillShelf
from skales.data.skill_text import Skill
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import visible

_LISTED = 60


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Read the skill {name}[, file {file}]",
    example=("Triage my inbox with the inbox skill", {"name": "inbox-triage"}),
    found_by=(
        "load skill Skills Anleitung instructions how do I guide laden Vorgehen workflow nachlesen anwenden follow"
    ),
)
async def read_skill(ctx: ToolContext, name: str, file: str = "") -> ToolResult:
    """Read a skill's instructions before a task it fits, or a file beside them.

    Args:
        name: Name of the skill.
        file: Only this file of it, such as references/form.md.
    """
    return await to_thread.run_sync(partial(_read, ctx, name, file))


@tool(
    "core",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Write the skill {name} ({body:size}): {description}",
    example=(
        "Make a skill of how we just wrote the release notes",
        {
            "name": "release-notes",
            "description": "Turn merged work into notes a user understands",
            "body": "# Release notes\n\n1. List what was merged since the last tag.\n2. Group it by what users notice.",
        },
    ),
    found_by=(
        "Skill anlegen Anleitung instructions teach beibringen procedure new schreiben save way Arbeitsweise "
        "again wieder Vorgehen merken lernen learn"
    ),
)
async def create_skill(ctx: ToolContext, name: str, description: str, body: str) -> ToolResult:
    """Write a new skill, when the person wants a way of working kept for later.

    Args:
        name: One word with hyphens; must be free.
        description: One sentence that says when it helps.
        body: The instructions as Markdown, without front matter.
    """
    skill = await to_thread.run_sync(partial(ctx.skills.create, name.strip(), description, body))
    place = ctx.data.agent_skills / skill.folder / "SKILL.md"
    return ToolResult(
        text=f"Wrote the skill {skill.name} to {str(place)!r}. It counts from the next message on.",
        summary=f"Wrote the skill {skill.name}",
        files=(str(place),),
    )


def _read(ctx: ToolContext, name: str, file: str) -> ToolResult:
    try:
        skill = ctx.skills.find(name)
    except (NotFoundError, ConflictError) as error:
        raise ToolError(error.message, hint=_offer(ctx.skills.list()), code=error.code) from error
    if file.strip():
        return _read_beside(ctx, skill, file.strip())
    beside = ctx.skills.files(skill)
    lines = [f"# Skill {skill.name}", visible(skill.description), "", skill.body or "[The skill has no text.]"]
    if beside:
        shown = ", ".join(map(visible, beside))
        lines += ["", f"Files beside it, to read with read_skill: {shown}"]
    return ToolResult(
        text="\n".join(lines),
        summary=f"Read the skill {skill.name}",
        data={"name": skill.name, "folder": skill.folder, "files": list(beside)},
    )


def _read_beside(ctx: ToolContext, skill: Skill, file: str) -> ToolResult:
    try:
        text = ctx.skills.read_file(skill, file)
    except NotFoundError as error:
        beside = ", ".join(map(visible, ctx.skills.files(skill)))
        hint = f"It has {beside}" if beside else "It has no files beside its text"
        raise ToolError(f"The skill {skill.name!r} has no file {file!r}", hint=hint, code="not_found") from error
    return ToolResult(text=text or f"[{file} is empty]", summary=f"Read {file} of the skill {skill.name}")


def _offer(shelf: SkillShelf) -> str:
    names = [skill.name for skill in shelf.skills if skill.is_enabled and not skill.is_user_invoked]
    if not names:
        return "There are no skills yet; create_skill makes one"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"There are {', '.join(names[:_LISTED])}{more}"
