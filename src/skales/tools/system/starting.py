"""Starts a program that goes on in the background, confined as every other one."""

from collections.abc import Sequence
from pathlib import Path

from skales.tools.context import ToolContext
from skales.tools.programs import Background
from skales.tools.system.confined import Needs, prepare_launch


async def start_confined(
    ctx: ToolContext, words: Sequence[str], folder: Path, *, label: str, network: bool = False
) -> Background:
    """Start it and return at once; its output goes to a file in the workspace. Raises as `run_confined`."""
    launch = await prepare_launch(ctx, words, folder, Needs(network=network), {})
    name = f"bg_{ctx.ids.token(8)}"
    return ctx.background.start(launch, Background(id=name, command=label, output=ctx.data.results / f"{name}.log"))
