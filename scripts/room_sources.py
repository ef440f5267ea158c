"""The sources of the rooms as trees: what is defined, what is called, and what a variable is given."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Rooms whose texts are marked themselves, or that no page shows.
_OUTSIDE = frozenset({"server", "cli", "locale"})
# Read by whoever writes tools, or by the model alone.
_UNSEEN = frozenset({"tools/generate.py", "tools/index.py", "tools/schema.py", "agent/prompt.py", "agent/summary.py"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Module:
    """What is known of one source file."""

    name: str
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    owners: dict[ast.AST, Function] = field(default_factory=dict)


def read_modules(root: Path) -> list[Module]:
    """Every source file that may speak to a person."""
    paths = sorted(path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in _OUTSIDE)
    named = ((path.relative_to(root).as_posix(), path) for path in paths)
    return [_read_module(name, path) for name, path in named if name not in _UNSEEN]


def _read_module(name: str, path: Path) -> Module:
    module = Module(name, ast.parse(path.read_text(encoding="utf-8")))
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                module.constants[target] = value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=False)
                module.constants.update((one.id, value) for one, value in pairs if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                module.constants[target] = value
            case _:
                pass
    for function in ast.walk(module.tree):
        if isinstance(function, Function):
            module.functions.setdefault(function.name, function)
            # Inner functions come later in the walk and take their own nodes over.
            module.owners.update((inner, function) for inner in ast.walk(function) if inner is not function)
    return module


def called_name(call: ast.Call) -> str:
    """The last name of what is called; empty for what has none."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def assigned(owner: Function, name: str) -> Iterator[tuple[ast.expr, int]]:
    """What a variable is given in a function, and which item of it."""
    for node in ast.walk(owner):
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.For(target=target, iter=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                yield from _bound(target, value, name)
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                yield value, -1
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                yield value, -1
            case ast.Call(func=ast.Attribute(value=ast.Name(id=target), attr="append"), args=[value]) if target == name:
                yield value, -1
            case _:
                pass


def _bound(target: ast.expr, value: ast.expr, name: str) -> Iterator[tuple[ast.expr, int]]:
    match target, value:
        case ast.Name(id=same), _ if same == name:
            yield value, -1
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            for one, other in zip(targets, values, strict=False):
                yield from _bound(one, other, name)
        case ast.Tuple(elts=targets), _:
            for number, one in enumerate(targets):
                if isinstance(one, ast.Name) and one.id == name:
                    yield value, number
        case _:
            pass
