"""The tool `ask_user`: holds the turn until the person has answered."""

from collections.abc import Sequence
from typing import Annotated

from skales.core.errors import InputError
from skales.core.ports import Question
from skales.core.tool import Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool

_MOST_OPTIONS = 8


@tool(
    "core",
    Safety.AUTO,
    action="Ask: {question}",
    example=(
        "Book a table for us",
        {"question": "For which evening should I book?", "options": ["Friday", "Saturday"]},
    ),
    basic=True,
    found_by="fragen Rückfrage nachfragen question ask frag mich before clarify",
)
async def ask_user(
    ctx: ToolContext, question: str, options: Annotated[Sequence[str], Range(0, _MOST_OPTIONS)] = ()
) -> ToolResult:
    """Ask the person one question and wait for the answer, when only they can decide or know it.

    Do not ask for permission with it: tools that need one ask by themselves.

    Args:
        question: One clear question.
        options: Suggested answers; the person may still answer in their own words.
    """
    text = question.strip()
    if not text:
        raise InputError("The question is empty", hint="Say what you want to know")
    offered = tuple(dict.fromkeys(option.strip() for option in options if option.strip()))
    answer = await ctx.scope.ask(Question(text, offered))
    return ToolResult(text=f"The person answered: {answer}", summary=f"Answered: {answer}")
