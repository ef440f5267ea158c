"""Finds what the rooms below the server say to people: in errors, notices, verdicts, progress lines and hints.

The rooms speak English and mark nothing, so this follows values: from the argument of an error back through variables,
tables, the returns of a function and the arguments of its callers, to the texts. A value inside a text becomes a
numbered placeholder. Texts of the tool index and of the provider catalogue are read from those files.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from room_sources import Function, Module, assigned, called_name, read_modules
from room_texts import (
    Pieces,
    addon_messages,
    catalog_messages,
    combine,
    is_spoken,
    open_fields,
    tool_messages,
    write_message,
)

# What a person is shown of these: position (-1 for none) and name of the argument.
_SINKS = {
    "Notice": ((1, "text"),),
    "Progress": ((0, "label"),),
    "Question": ((0, "text"), (1, "options")),
    "PydanticCustomError": ((1, "message_template"),),
    "TurnEnded": ((3, "error"), (4, "hint")),
    "RunOutcome": ((-1, "error"),),
    "note": ((1, "message"),),
    "replace": ((-1, "error"),),
    "Waits": ((1, "words"),),
    "ProbeFinding": ((2, "detail"),),
    # Calls that were not run, as the model and the person read it.
    "_Shut": ((1, "text"),),
    "_refusal": ((0, "text"),),
    "_not_run": ((0, "reason"),),
}
_ERROR = ((0, "message"), (-1, "hint"))
# Arguments and fields that say something to a person wherever they stand.
_SPOKEN = frozenset({"hint", "reason", "covers", "explanation", "notice", "warning", "words", "problem", "sandbox"})
# Functions that put an argument of a call into words, for a tool's action.
_WORDING = {"tools/describe.py": ("render_size", "_shown", "_shown_list")}
# What looks like one of these and says nothing: patterns about what endpoints say, and faults of our own.
_UNSPOKEN = frozenset({"_Rule", "AssertionError"})
# Methods that only trim a text, and those whose argument holds the texts.
_TRIMMING = frozenset({"strip", "lstrip", "rstrip", "removesuffix", "removeprefix"})


@dataclass(frozen=True, slots=True)
class Spot:
    """An expression, where it stands, and which item of a tuple is meant (-1 for all of it)."""

    expr: ast.expr
    module: Module
    item: int = -1


def find_messages(root: Path) -> Iterator[tuple[str, str]]:
    """Each message with the file that says it."""
    found: dict[str, str] = {}
    for message, place in _all_messages(root):
        found.setdefault(message, place)
    yield from found.items()


def _all_messages(root: Path) -> Iterator[tuple[str, str]]:
    for pieces, place in _Search(read_modules(root)).run():
        message = write_message(pieces)
        if is_spoken(pieces):
            yield message, place
    yield from tool_messages(root / "tools" / "index.json")
    yield from addon_messages(root / "tools" / "addons.toml")
    yield from catalog_messages(root / "providers" / "catalog.toml")


class _Search:
    """Follows spoken values back to their texts, until nothing new turns up."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self._modules = modules
        self._open: list[Spot] = []
        self._seen: set[tuple[int, int]] = set()
        self._sinks: set[tuple[str, str, int, str]] = set()
        self._calls: dict[str, list[tuple[Module, ast.Call]]] = defaultdict(list)
        self._classes: dict[str, list[ast.ClassDef]] = defaultdict(list)
        for module in modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call) and (called := called_name(node)):
                    self._calls[called].append((module, node))
                if isinstance(node, ast.ClassDef):
                    self._classes[node.name].append(node)

    def run(self) -> Iterator[tuple[Pieces, str]]:
        """Every text with the file that says it."""
        self._seed()
        while self._open:
            spot = self._open.pop()
            if (key := (id(spot.expr), spot.item)) in self._seen:
                continue
            self._seen.add(key)
            for pieces in self._texts(spot):
                yield pieces, spot.module.name

    def _seed(self) -> None:
        for called in self._calls:
            if called.endswith("Error") and called not in _UNSPOKEN:
                self._sink("", called, _ERROR)
            self._sink("", called, _SINKS.get(called, ()))
        for name, classes in self._classes.items():
            for defined in classes if name not in _UNSPOKEN else ():
                self._sink("", name, _spoken_fields(defined))
        for module in self._modules:
            for name in _WORDING.get(module.name, ()):
                self._follow_returns(module, module.functions[name], -1)
            for node in ast.walk(module.tree):
                self._open.extend(Spot(value, module) for value in _spoken_values(node))

    def _sink(self, module_name: str, called: str, places: Sequence[tuple[int, str]]) -> None:
        """What calls of this name pass there is spoken; in one module only when it is named."""
        for position, name in places:
            if (key := (module_name, called, position, name)) in self._sinks:
                continue
            self._sinks.add(key)
            for module, call in self._calls.get(called, ()):
                if module_name in ("", module.name):
                    self._open.extend(Spot(value, module, item) for value, item in _passed(call, position, name))

    def _texts(self, spot: Spot) -> Sequence[Pieces]:
        """The texts of an expression that is one; what it only leads to is put on the list."""
        match spot.expr:
            case ast.Constant(value=str(text)):
                return [open_fields((text,))] if spot.item < 0 else []
            case ast.JoinedStr(values=values):
                return combine([self._part(value, spot.module) for value in values])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return combine([self._whole(left, spot.module), self._whole(right, spot.module)])
            case ast.Call(func=ast.Name(id="count_of"), args=[_, ast.Constant(value=str(one)), *more]):
                many = str(more[0].value) if more and isinstance(more[0], ast.Constant) else f"{one}s"
                return [(f"1 {one}",), (None, f" {many}")]
            case ast.Call(func=ast.Attribute(value=template, attr="format")):
                return [open_fields(pieces) for pieces in self._whole(template, spot.module)]
            case _:
                self._follow(spot)
                return []

    def _part(self, value: ast.expr, module: Module) -> Sequence[Pieces]:
        match value:
            case ast.Constant(value=str(text)):
                return [(text,)]
            case ast.FormattedValue(
                value=ast.IfExp(body=ast.Constant(value=str(one)), orelse=ast.Constant(value=str(other)))
            ):
                return [(one,), (other,)]
            case ast.FormattedValue(value=ast.Name(id=name)) if isinstance(
                constant := module.constants.get(name), ast.Constant
            ) and isinstance(constant.value, str):
                return [(constant.value,)]
            case ast.FormattedValue(value=ast.Name() as name) if variants := _choices(name, module):
                return variants
            case ast.FormattedValue(value=inner):
                self._open.append(Spot(inner, module))
                return [(None,)]
            case _:
                return [(None,)]

    def _whole(self, value: ast.expr, module: Module) -> Sequence[Pieces]:
        """The texts of a part of a sum, a gap when it is no text itself."""
        match value:
            case ast.Constant() | ast.JoinedStr() | ast.BinOp():
                return self._texts(Spot(value, module)) or [(None,)]
            case ast.IfExp(body=one, orelse=other):
                return [*self._whole(one, module), *self._whole(other, module)]
            case _:
                self._open.append(Spot(value, module))
                return [(None,)]

    def _follow(self, spot: Spot) -> None:
        module, item = spot.module, spot.item
        match spot.expr:
            case ast.IfExp(body=one, orelse=other):
                self._add(module, item, one, other)
            case ast.BoolOp(values=values):
                self._add(module, item, *values)
            case ast.NamedExpr() | ast.Await() | ast.Starred() | ast.Subscript() as outer:
                self._add(module, item, outer.value)
            case ast.Tuple(elts=values) | ast.List(elts=values):
                self._add(module, -1, *(values if item < 0 else values[item : item + 1]))
            case ast.Dict(values=values):
                self._add(module, item, *values)
            case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value):
                self._add(module, item, value)
            case ast.Call() as call:
                self._follow_call(call, spot)
            case ast.Name(id=name):
                self._follow_name(name, spot)
            case _:
                pass

    def _add(self, module: Module, item: int, *values: ast.expr) -> None:
        self._open.extend(Spot(value, module, item) for value in values)

    def _follow_call(self, call: ast.Call, spot: Spot) -> None:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "get" and isinstance(call.func.value, ast.Name):
            self._add(spot.module, spot.item, call.func.value, *call.args[1:])
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in _TRIMMING:
            self._add(spot.module, spot.item, call.func.value)
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("join", "sub"):
            self._add(spot.module, -1, *call.args)
            return
        for module, function in self._functions(called_name(call), spot.module, call):
            self._follow_returns(module, function, spot.item)

    def _follow_returns(self, module: Module, function: Function, item: int) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None and module.owners.get(node) is function:
                self._add(module, item, node.value)

    def _functions(self, name: str, module: Module, call: ast.Call) -> Iterator[tuple[Module, Function]]:
        if name in module.functions:
            yield module, module.functions[name]
            return
        found = [(other, other.functions[name]) for other in self._modules if name in other.functions]
        # A method is taken for the one of that name, as long as there is only one.
        if isinstance(call.func, ast.Name) or len(found) == 1:
            yield from found

    def _follow_name(self, name: str, spot: Spot) -> None:
        module, owner = spot.module, spot.module.owners.get(spot.expr)
        while owner is not None:
            if name in (names := [each.arg for each in (*owner.args.posonlyargs, *owner.args.args)]):
                bound = names[:1] in (["self"], ["cls"])
                self._reach_callers(module, owner, names.index(name) - bound, name)
                return
            if name in [each.arg for each in owner.args.kwonlyargs]:
                self._reach_callers(module, owner, -1, name)
                return
            if values := list(assigned(owner, name)):
                self._open.extend(Spot(value, module, item if item >= 0 else spot.item) for value, item in values)
                return
            owner = module.owners.get(owner)
        if name in module.constants:
            self._add(module, spot.item, module.constants[name])
        else:
            for other in self._modules:
                if name.isupper() and name in other.constants:
                    self._add(other, spot.item, other.constants[name])

    def _reach_callers(self, module: Module, function: Function, position: int, name: str) -> None:
        called = function.name
        if called == "__init__":
            return
        self._sink(module.name if called.startswith("_") else "", called, ((position, name),))


def _spoken_fields(node: ast.ClassDef) -> Sequence[tuple[int, str]]:
    """Position and name of a class's fields that say something to a person."""
    fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
    names = [target.id for target in fields if isinstance(target, ast.Name)]
    return [(number, name) for number, name in enumerate(names) if name in _SPOKEN]


def _spoken_values(node: ast.AST) -> Iterator[ast.expr]:
    """What a call or an assignment gives to an argument or a field that says something to a person."""
    match node:
        case ast.Call(keywords=keywords) if called_name(node) not in _UNSPOKEN:
            yield from (each.value for each in keywords if each.arg in _SPOKEN)
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=value) if name in _SPOKEN:
            yield value
        case _:
            pass


def _passed(call: ast.Call, position: int, name: str) -> Iterator[tuple[ast.expr, int]]:
    """What a call passes there, and which item of it when it comes from a tuple that is opened out."""
    for number, value in enumerate(call.args[: position + 1]):
        if isinstance(value, ast.Starred):
            yield value.value, position - number
            break
        if number == position:
            yield value, -1
    yield from ((keyword.value, -1) for keyword in call.keywords if keyword.arg == name)


def _choices(name: ast.Name, module: Module) -> Sequence[Pieces]:
    """The few texts a variable stands for, when these are all it can be."""
    owner = module.owners.get(name)
    values = [value for value, _item in assigned(owner, name.id)] if owner else []
    if len(values) != 1 or not isinstance(chosen := values[0], ast.IfExp):
        return ()
    texts = [part.value for part in (chosen.body, chosen.orelse) if isinstance(part, ast.Constant)]
    return [(text,) for text in texts if isinstance(text, str)] if len(texts) == 2 else ()
