from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from skales.core.tool import Effect, Safety, ToolExample, property_formats, safety_of_call
from skales.tools.context import ToolContext
from skales.tools.define import LinkPath, Range, ShellCommand, Url, tool
from skales.tools.schema import SchemaError, ToolFunction, derive_spec


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@tool(
    "core",
    Safety.CONFIRM,
    Effect.WRITES,
    addon="email",
    action="Do {text}",
    example=("Do it", {"text": "x"}),
)
async def do_everything(  # noqa: PLR0913 - one parameter of each kind
    ctx: ToolContext,
    text: str,
    place: Path,
    link: LinkPath,
    address: Url,
    command: ShellCommand,
    places: Annotated[list[Path], Range(1, 5)],
    number: Annotated[int, Range(1, 100)] = 10,
    ratio: float = 0.5,
    flag: bool = False,
    mode: Literal["fast", "slow"] = "fast",
    size: Size = Size.SMALL,
    note: str | None = None,
    headers: dict[str, str] | None = None,
    folder: Path = Path("notes"),
) -> str:
    """Do all of it. Use it
    when asked.

    Args:
        text: What to
            say.
        place: A place.
        link: A link (or a file).
        address: Where from.
        command: What to run.
        places: Several.
        number: How many.
        ratio: How much.
        flag: Whether.
        mode: How.
        size: How big.
        note: More.
        headers: Extra.
        folder: Where.

    Returns:
        Nothing of interest.
    """
    return text


def test_a_schema_says_what_signature_and_docstring_say() -> None:
    spec = derive_spec(do_everything)
    assert (spec.name, spec.description) == ("do_everything", "Do all of it. Use it when asked.")
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to say."},
            "place": {"type": "string", "format": "path", "description": "A place."},
            "link": {"type": "string", "format": "path", "description": "A link (or a file)."},
            "address": {"type": "string", "format": "uri", "description": "Where from."},
            "command": {"type": "string", "format": "shell-command", "description": "What to run."},
            "places": {
                "type": "array",
                "items": {"type": "string", "format": "path"},
                "minItems": 1,
                "maxItems": 5,
                "description": "Several.",
            },
            "number": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many.", "default": 10},
            "ratio": {"type": "number", "description": "How much.", "default": 0.5},
            "flag": {"type": "boolean", "description": "Whether."},
            "mode": {"type": "string", "enum": ["fast", "slow"], "description": "How.", "default": "fast"},
            "size": {"type": "string", "enum": ["small", "large"], "description": "How big.", "default": "small"},
            "note": {"type": "string", "description": "More."},
            "headers": {"type": "object", "description": "Extra."},
            "folder": {"type": "string", "format": "path", "description": "Where.", "default": "notes"},
        },
        "required": ["text", "place", "link", "address", "command", "places"],
        "additionalProperties": False,
    }
    assert (spec.category, spec.safety, spec.effects, spec.addon) == (
        "core", Safety.CONFIRM, frozenset({Effect.WRITES}), "email",
    )  # fmt: skip
    assert spec.example == ToolExample("Do it", {"text": "x"})


def test_the_gate_finds_every_judged_argument() -> None:
    assert property_formats(derive_spec(do_everything)) == {
        "place": "path",
        "link": "path",
        "address": "uri",
        "command": "shell-command",
        "places": "path",
        "folder": "path",
    }


async def unmarked(ctx: ToolContext) -> str:
    """Nothing."""
    return ""


@tool("core", Safety.AUTO)
async def no_docstring(ctx: ToolContext) -> str:
    return ""


@tool("core", Safety.AUTO)
async def no_words(ctx: ToolContext, text: str) -> str:
    """Say it."""
    return text


@tool("core", Safety.AUTO)
async def stale_words(ctx: ToolContext) -> str:
    """Say it.

    Args:
        text: Gone.
    """
    return ""


@tool("core", Safety.AUTO)
async def no_context(text: str) -> str:
    """Say it.

    Args:
        text: It.
    """
    return text


@tool("core", Safety.AUTO)
async def any_keywords(ctx: ToolContext, **more: str) -> str:
    """Say it.

    Args:
        more: It.
    """
    return ""


@tool("core", Safety.AUTO)
async def no_type(ctx: ToolContext, text) -> str:  # type: ignore[no-untyped-def]
    """Say it.

    Args:
        text: It.
    """
    return str(text)


@tool("core", Safety.AUTO)
async def two_types(ctx: ToolContext, text: str | int) -> str:
    """Say it.

    Args:
        text: It.
    """
    return str(text)


@tool("core", Safety.AUTO)
async def odd_type(ctx: ToolContext, text: bytes) -> str:
    """Say it.

    Args:
        text: It.
    """
    return str(text)


@tool("core", Safety.AUTO)
async def number_choice(ctx: ToolContext, size: Literal[1, 2]) -> str:
    """Say it.

    Args:
        size: Gemini takes texts only.
    """
    return str(size)


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (unmarked, "not marked"),
        (no_docstring, "no docstring"),
        (no_words, "no words for 'text'"),
        (stale_words, "'text', which is not a parameter"),
        (no_context, "does not take `ctx` first"),
        (any_keywords, "no schema can say"),
        (no_type, "no type for 'text'"),
        (two_types, "one type or None"),
        (odd_type, "No provider-safe schema"),
        (number_choice, "No provider-safe schema"),
    ],
)
def test_a_tool_that_is_not_written_as_tools_must_be_is_refused(function: ToolFunction, fault: str) -> None:
    with pytest.raises(SchemaError, match=fault):
        derive_spec(function)


def test_a_bare_mapping_is_an_object() -> None:
    @tool("core", Safety.AUTO)
    async def send(ctx: ToolContext, fields: Mapping[str, Any]) -> str:
        """Send it.

        Args:
            fields: What.
        """
        return str(fields)

    assert derive_spec(send).parameters["properties"] == {"fields": {"type": "object", "description": "What."}}


@tool("core", Safety.CONFIRM, asks_unless={"way": ("read",)}, needs="display")
async def asks_by_argument(ctx: ToolContext, way: str = "read") -> str:
    """Do it.

    Args:
        way: How.
    """
    return way


@tool("core", Safety.CONFIRM, asks_unless={"other": ("read",)})
async def asks_by_nothing(ctx: ToolContext) -> str:
    """Do it."""
    return ""


def test_a_need_and_harmless_arguments_go_into_the_spec() -> None:
    spec = derive_spec(asks_by_argument)
    assert (spec.needs, spec.asks_unless) == ("display", {"way": ("read",)})
    assert safety_of_call(spec, {}) is Safety.AUTO
    assert safety_of_call(spec, {"way": "write"}) is Safety.CONFIRM


def test_harmless_values_of_no_parameter_are_a_fault_of_the_code() -> None:
    with pytest.raises(SchemaError, match="'other'"):
        derive_spec(asks_by_nothing)
