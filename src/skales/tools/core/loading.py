"""The tool `load_tools`: finds tools that are not offered, and makes them part of the conversation's offer.

The offer itself is the agent's business: it reads the names in the first line of the result.
"""

from collections.abc import Sequence
from typing import Annotated

from skales.core.errors import InputError
from skales.core.tool import Safety, ToolResult, ToolSpec
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool

_FOUND = 5
_MOST_NAMES = 16


@tool(
    "core",
    Safety.AUTO,
    action="Look for tools[ for {query}]",
    example=("Commit my changes", {"query": "git commit"}),
    basic=True,
    found_by="find tools capability Werkzeuge laden finden more weitere",
)
async def load_tools(
    ctx: ToolContext, query: str = "", names: Annotated[Sequence[str], Range(0, _MOST_NAMES)] = ()
) -> ToolResult:
    """Get tools that are not offered yet when none of the offered ones fits; they can be called right after.

    Args:
        query: What is to be done, in a few words.
        names: Tools by their exact names, or beginnings such as `git_`.
    """
    if not query.strip() and not names:
        raise InputError("Nothing was asked for", hint="Give a query or names")
    found = {spec.name: spec for spec in _named(ctx, names)}
    if query.strip():
        found.update((spec.name, spec) for spec in ctx.tools.search(query, _FOUND))
    usable = [spec for spec in found.values() if spec.safety is not Safety.MANUAL][:_MOST_NAMES]
    if not usable:
        raise InputError(
            "No tool fits that", hint="Say it in other words, or tell the user that no tool for it is switched on"
        )
    lines = [f"- {spec.name}: {_first_sentence(spec.description)}" for spec in usable]
    return ToolResult(
        text="\n".join((f"Ready to call: {', '.join(spec.name for spec in usable)}", *lines)),
        summary=f"Found {', '.join(spec.name for spec in usable)}",
        data=[spec.name for spec in usable],
    )


def _named(ctx: ToolContext, names: Sequence[str]) -> Sequence[ToolSpec]:
    """The tools of these names; a name with `_` at its end stands for all that begin with it."""
    known = ctx.tools.enabled()
    wanted = [name.strip().rstrip("…*") for name in names if name.strip()]
    exact = [spec for name in wanted for spec in known if spec.name == name]
    beginning = [spec for name in wanted if name.endswith("_") for spec in known if spec.name.startswith(name)]
    return [*exact, *beginning]


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")
