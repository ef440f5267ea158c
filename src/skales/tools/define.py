"""The `@tool` decorator: name, words, parameters and rules of a tool stand with its function, nowhere else.

The decorator only marks; `schema` derives the ToolSpec, which is generated into `index.json`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import NewType, TypeVar

from msgspec import Struct, field

from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolExample, ToolResult

# Parameter types whose values the gate judges. A `Path` arrives resolved, absolute and allowed; a `LinkPath` likewise,
# but with its last component not followed, for tools that act on the link itself (delete, move).
LinkPath = NewType("LinkPath", Path)
Url = NewType("Url", str)
ShellCommand = NewType("ShellCommand", str)


class Range(Struct, frozen=True):
    """Limits of a number or of a list's length, both included: `Annotated[int, Range(1, 100)]`."""

    least: int
    most: int


Returned = str | ToolResult
Function = TypeVar("Function", bound=Callable[..., Awaitable[Returned]])
# What a call would change, for the person who is asked: `(ctx, same arguments) -> unified diff or plain lines`.
Preview = Callable[..., str]

_MARK = "__skales_tool__"


class ToolMark(Struct, frozen=True):
    """What the decorator was told."""

    category: str
    safety: Safety
    effects: frozenset[Effect]
    addon: str
    action: str
    example: ToolExample | None
    found_by: str
    basic: bool
    preview: Preview | None = None
    needs: str = ""
    asks_unless: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict[str, tuple[str | bool, ...]])
    once: bool = False
    repeatable: Mapping[str, tuple[JsonValue, ...]] = field(default_factory=dict[str, tuple[JsonValue, ...]])


def tool(  # noqa: PLR0913 - all that is said of a tool stands above its function
    category: str,
    safety: Safety,
    *effects: Effect,
    addon: str = "",
    action: str = "",
    example: tuple[str, Mapping[str, JsonValue]] | None = None,
    found_by: str = "",
    basic: bool = False,
    preview: Preview | None = None,
    needs: str = "",
    asks_unless: Mapping[str, Sequence[str | bool]] | None = None,
    once: bool = False,
    repeatable: Mapping[str, Sequence[JsonValue]] | None = None,
) -> Callable[[Function], Function]:
    """Mark an async function `(ctx: ToolContext, …) -> str | ToolResult` as a tool.

    The function's name is the tool's name; its docstring is read by the model: line one says when to use it, every
    parameter has a line under `Args:`.

    Args:
        category: One of the ten of tools.md.
        safety: How a call starts.
        effects: What it can do to the world.
        addon: The switch that gates it; empty when always on.
        action: Plain words with the arguments in braces, shown on approval cards: `Delete {path}`. `{content:size}`
            shows how long a text is instead of the text; a part in brackets vanishes when an argument in it is not
            given: `Search for {query}[ in {path}]`.
        example: A request in a person's words, and the arguments it leads to.
        found_by: What people say when they mean it and what stands nowhere else here, in English and German.
        basic: Whether it is always offered; all others are found when they are needed.
        preview: A function of the same module that shows on approval cards what a call would change. It gets what
            the tool gets, changes nothing, and may raise ToolError for a call that would fail.
        needs: A condition of `conditions` without which the tool is not offered; `{name}` of it in the docstring
            becomes its words.
        asks_unless: Arguments with the values that let a tool which asks run unasked; all of them must fit.
        once: Whether it sends what must not be sent twice. It says to `ctx.scope.delivery` how far it is: `begin`
            right before what counts leaves, then `accept` or `refuse`. An error before `begin` may be repeated.
        repeatable: Arguments with the values with which a `once` tool sends nothing that counts; all must fit.
    """
    shown = ToolExample(example[0], dict(example[1])) if example else None
    harmless = {name: tuple(values) for name, values in (asks_unless or {}).items()}
    mark = ToolMark(
        category,
        safety,
        frozenset(effects),
        addon,
        action,
        shown,
        found_by,
        basic,
        preview,
        needs,
        harmless,
        once,
        {name: tuple(values) for name, values in (repeatable or {}).items()},
    )

    def mark_function(function: Function) -> Function:
        setattr(function, _MARK, mark)
        return function

    return mark_function


def mark_of(function: Callable[..., object]) -> ToolMark | None:
    """What the decorator said about a function, None for a plain one."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, ToolMark) else None
