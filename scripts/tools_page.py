"""Writes docs/guide/tools.md from the tool index: `python scripts/tools_page.py`, `--check` to fail when stale."""

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from skales.core.tool import Effect, Safety, ToolSpec
from skales.tools.addons import AddonState, load_addons
from skales.tools.index import load_index

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "tools.md"
_HEAD = """# Tools

Every tool, as models and people see it; written by `scripts/tools_page.py` from the tools themselves.
`skales tools show NAME` and the *Tools* page tell of the parameters.

Those with a star are offered to a model in every request. It finds the others by `load_tools` when it needs them; a pin
on the *Tools* page, or `skales tools pin NAME`, keeps one always at hand. **asks** means that you are asked before it
runs (see [safety.md](safety.md)), **you only** that no model can start it. What belongs to an add-on is there while
that is on ([addons.md](addons.md)).
"""
_SAFETY = {Safety.AUTO: "", Safety.CONFIRM: "asks", Safety.MANUAL: "you only"}
_EFFECTS = {
    Effect.READS_PRIVATE: "reads private data",
    Effect.UNTRUSTED_OUTPUT: "brings in foreign text",
    Effect.OUTBOUND: "sends data out",
    Effect.WRITES: "changes files",
    Effect.DESTRUCTIVE: "cannot be undone by itself",
    Effect.SPENDS: "costs money",
}


def render() -> str:
    """The text of the page."""
    specs = sorted((entry.spec for entry in load_index()), key=lambda spec: (spec.category, spec.name))
    sections = groupby(specs, key=lambda spec: spec.category)
    return "\n".join((_HEAD, *(line for category, group in sections for line in _section(category, list(group)))))


def _section(category: str, specs: Sequence[ToolSpec]) -> Iterator[str]:
    yield f"## {category.capitalize()} ({len(specs)})\n"
    yield "| tool | what for | | effects | add-on |"
    yield "| --- | --- | --- | --- | --- |"
    for spec in specs:
        # What stands in braces depends on what is set up.
        what = re.sub(r":? *\{\w+\}", "", spec.description.partition(". ")[0]).rstrip(".").replace("|", "\\|")
        effects = ", ".join(_EFFECTS[effect] for effect in Effect if effect in spec.effects)
        name = f"`{spec.name}`{' ★' if spec.is_basic else ''}"
        yield f"| {name} | {what} | {_SAFETY[spec.safety]} | {effects} | {_addon(spec.addon)} |"
    yield ""


def _addon(addon: str) -> str:
    known = load_addons().get(addon)
    return f"`{addon}`" if known and known.state is not AddonState.CORE else ""


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with `--check` only say whether it is fresh; the exit code."""
    fresh = render()
    if "--check" in arguments:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == fresh:
            return 0
        sys.stderr.write(f"{PAGE.name} is stale. Run python scripts/tools_page.py\n")
        return 1
    PAGE.write_text(fresh, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
