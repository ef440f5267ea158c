"""Writes `index.json` from the decorated functions: `python -m skales.tools.generate`, `--check` to fail when stale."""

import pkgutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType

import skales.tools
from skales.core.errors import SkalesError
from skales.tools.define import mark_of
from skales.tools.index import INDEX_FILE, IndexEntry, render_index
from skales.tools.schema import SchemaError, ToolFunction, as_tool_function, derive_spec


def collect_tools() -> Sequence[ToolFunction]:
    """Every decorated function below `skales.tools`, imported for the purpose."""
    found: dict[str, ToolFunction] = {}
    for module in _modules():
        for value in vars(module).values():
            function = as_tool_function(value)
            if function is None or function.__module__ != module.__name__:
                continue
            if function.__name__ in found:
                raise SchemaError(f"Two tools are named {function.__name__!r}")
            found[function.__name__] = function
    return list(found.values())


def build_index() -> str:
    """The text `index.json` should have."""
    return render_index([_entry(function) for function in collect_tools()])


def main(arguments: Sequence[str]) -> int:
    """Write the index, or with `--check` only say whether it is fresh; the exit code."""
    try:
        fresh = build_index()
    except SkalesError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if "--check" in arguments:
        if INDEX_FILE.exists() and INDEX_FILE.read_text(encoding="utf-8") == fresh:
            return 0
        sys.stderr.write(f"{INDEX_FILE.name} is stale. Run python -m skales.tools.generate\n")
        return 1
    INDEX_FILE.write_text(fresh, encoding="utf-8", newline="\n")
    return 0


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(skales.tools.__path__, f"{skales.tools.__name__}."):
        # Running this module imports it under another name; importing it again would be harmless but useless.
        if found.name != f"{skales.tools.__name__}.generate":
            yield import_module(found.name)


def _entry(function: ToolFunction) -> IndexEntry:
    mark = mark_of(function)
    assert mark is not None
    if mark.preview is not None and mark.preview.__module__ != function.__module__:
        raise SchemaError(f"The preview of {function.__name__!r} is not in its module")
    return IndexEntry(
        spec=derive_spec(function),
        action=mark.action,
        module=function.__module__,
        function=function.__name__,
        preview=mark.preview.__name__ if mark.preview else "",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
