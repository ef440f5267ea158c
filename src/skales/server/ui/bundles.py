"""Our own modules and sheets, joined at first use: a page asks for one script and one sheet, and nothing is built.

A joined script holds what its entry imports, each module in a function of its own and once in the whole page: entries
are what a page names and what is imported when first wanted; what `main.js` has, the others import from there.
This is no parser. It takes the few forms of `import` and `export` that our modules are written in and refuses the rest,
which `tests/server/ui/test_bundles.py` sees before anybody else does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

# Runs on every page of the frame before any other module.
MAIN = "main.js"

_IMPORT = re.compile(
    r'import \{ (?P<names>[\w$]+(?: as [\w$]+)?(?:, [\w$]+(?: as [\w$]+)?)*) \} from "\./(?P<file>[\w-]+\.js)";'
)
_EXPORT = re.compile(r"export (?P<rest>(?:(?:async )?function\*? ?|class |const )(?P<name>[\w$]+)\b.*)")
_LAZY_IMPORT = re.compile(r'\bimport\("\./([\w-]+\.js)"\)')
# How a line begins that is one of those, or waits outside of a function; and what must be nowhere.
_TOP_LEVEL = ("import ", "import{", 'import"', "export ", "export{", "await ", "await(", "for await")
_NOWHERE = re.compile(r"\bimport\.meta\b|\bimport\((?!\"\./[\w-]+\.js\"\))")
_CSS_TOKEN = re.compile(r"""(?P<kept>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|/\*.*?\*/""", re.DOTALL)


class UnknownFormError(ValueError):
    """A module says something in a form that cannot be joined."""


class Module(Struct, frozen=True):
    """A module taken apart. `imports` are the files it needs first, with the names it takes from each."""

    name: str
    imports: tuple[tuple[str, str], ...]
    exports: tuple[str, ...]
    lazy_imports: frozenset[str]
    lines: tuple[str, ...]

    @property
    def variable(self) -> str:
        """What holds its exports in a joined script."""
        return "$" + re.sub(r"\W", "_", self.name.removesuffix(".js"))


def read_module(name: str, text: str) -> Module:
    """Take a module apart; comments on lines of their own and indentation are left out. Raises UnknownFormError."""
    imports: list[tuple[str, str]] = []
    exports: list[str] = []
    lines: list[str] = []
    for full in text.splitlines():
        line = full.strip()
        if not line or line.startswith("//"):
            continue
        if line.count("`") % 2 or ("import" in line and _NOWHERE.search(line)):
            raise UnknownFormError(f"{name}: {full}")
        if not full.startswith(_TOP_LEVEL):
            lines.append(line)
        elif found := _IMPORT.fullmatch(full):
            imports.append((found["file"], found["names"].replace(" as ", ": ")))
        elif found := _EXPORT.fullmatch(full):
            exports.append(found["name"])
            lines.append(found["rest"])
        else:
            raise UnknownFormError(f"{name}: {full}")
    lazy = frozenset(_LAZY_IMPORT.findall("\n".join(lines)))
    return Module(name, tuple(imports), tuple(exports), lazy, tuple(lines))


def join_modules(texts: Mapping[str, str]) -> Mapping[str, str]:
    """The scripts that pages ask for, by name, from all modules by name. Raises UnknownFormError."""
    modules = {name: read_module(name, text) for name, text in texts.items()}
    for module in modules.values():
        if missing := {*(file for file, _names in module.imports), *module.lazy_imports} - modules.keys():
            raise UnknownFormError(f"{module.name} imports what is not there: {', '.join(sorted(missing))}")
    owners = _find_owners(modules)
    wanted = {
        file for module in modules.values() for file, _names in module.imports if owners[file] != owners[module.name]
    }
    return {
        entry: _write([module for module in _in_order(modules, entry) if owners[module.name] == entry], owners, wanted)
        for entry in sorted(set(owners.values()))
    }


def strip_sheet(text: str) -> str:
    """A sheet without comments, indentation and empty lines."""
    bare = _CSS_TOKEN.sub(lambda found: found["kept"] or "", text)
    return "".join(f"{line.strip()}\n" for line in bare.splitlines() if line.strip())


def _find_owners(modules: Mapping[str, Module]) -> Mapping[str, str]:
    """The file each module is in: the entry that needs it, `main.js` when that is one of them, else one of its own."""
    imported = {file for module in modules.values() for file, _names in module.imports}
    lazy = {file for module in modules.values() for file in module.lazy_imports}
    entries = sorted((modules.keys() - imported) | lazy)
    users: dict[str, list[str]] = {name: [] for name in modules}
    for entry in entries:
        for module in _in_order(modules, entry):
            users[module.name].append(entry)
    if twice := [name for name in sorted(lazy) if MAIN in users[name]]:
        raise UnknownFormError(f"{MAIN} has them, so they cannot come later: {', '.join(twice)}")
    return {name: name if name in entries else _pick_owner(name, users[name]) for name in modules}


def _pick_owner(name: str, users: Sequence[str]) -> str:
    if MAIN in users:
        return MAIN
    return users[0] if len(users) == 1 else name


def _in_order(modules: Mapping[str, Module], entry: str) -> Iterator[Module]:
    """A module after all that it needs, in the order in which a browser would run them. Raises UnknownFormError."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> Iterator[Module]:
        if name in path:
            raise UnknownFormError(f"imports in a circle: {' → '.join((*path, name))}")
        if name in done:
            return
        for file, _names in modules[name].imports:
            yield from visit(file, (*path, name))
        done.add(name)
        yield modules[name]

    return visit(entry, ())


def _write(modules: Sequence[Module], owners: Mapping[str, str], wanted: set[str]) -> str:
    """One script. Another script takes a module by its variable; an `import()` takes the entry's own exports."""
    entry = modules[-1]
    if len(modules) == 1 and not entry.imports and not entry.exports:
        return "".join(f"{line}\n" for line in entry.lines)
    named = {module.variable: module.name for module in modules}
    outside = {
        f'import {{ ${_stem(file)} }} from "./{owners[file]}";'
        for module in modules
        for file, _names in module.imports
        if owners[file] != entry.name
    }
    shared = [variable for variable, name in named.items() if name in wanted]
    return "\n".join(
        [
            *sorted(outside),
            *(line for module in modules for line in _wrap(module)),
            *([f"export {{ {', '.join(shared)} }};"] if shared else ()),
            *([f"export const {{ {', '.join(entry.exports)} }} = {entry.variable};"] if entry.exports else ()),
            "",
        ]
    )


def _wrap(module: Module) -> Iterator[str]:
    yield f"const {module.variable} = (() => {{"
    yield from (f"const {{ {names} }} = ${_stem(file)};" for file, names in module.imports)
    yield from module.lines
    yield f"return {{ {', '.join(module.exports)} }};"
    yield "})();"


def _stem(file: str) -> str:
    return re.sub(r"\W", "_", file.removesuffix(".js"))
