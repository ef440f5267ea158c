"""Samples of every view, made from its field types: texts are hostile, each variant turns flags and choices over."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

from markupsafe import Markup
from msgspec import Struct, structs

import skales.server
from skales.server.conversation_views import ChatPage, NoticeLine
from skales.server.views import View

# These show one of two things and cannot be without both.
NEVER_BARE = frozenset({ChatPage})
HOSTILE = "<script>alert(1)</script>\" onclick='alert(1)'"


@dataclass
class Maker:
    """Makes values of a type. `turn` picks among choices and flips flags; `bare` leaves out what may be missing."""

    turn: int
    bare: bool = False

    def __post_init__(self) -> None:
        self._numbers = count(1)

    def make(self, kind: object) -> object:
        """A value of the type. Raises TypeError for a type that no view should have."""
        match kind:
            case type() if kind is View:
                return self.make(NoticeLine)
            case type() if issubclass(kind, Enum):
                return self._choose(list(kind))
            case type() if issubclass(kind, Struct):
                hints = get_type_hints(kind)
                return kind(**{field.name: self.make(hints[field.name]) for field in structs.fields(kind)})
            case type() if get_origin(kind) is None:
                return self._plain(kind)
            case _:
                return self._composed(kind, get_origin(kind), get_args(kind))

    def _plain(self, kind: type) -> object:
        if kind is str:
            # Each is another, since ids among them must not meet.
            return "" if self.bare else f"{HOSTILE}{next(self._numbers)}"
        if kind is bool:
            return bool((self.turn + next(self._numbers)) % 2) and not self.bare
        if kind in (int, float):
            return kind(0 if self.bare else next(self._numbers))
        if issubclass(kind, Markup):
            return Markup("" if self.bare else "<p>rendered</p>")
        raise TypeError(f"no sample for {kind!r}")

    def _composed(self, kind: object, origin: object, arguments: tuple[object, ...]) -> object:
        if origin is Literal:
            return self._choose(arguments)
        if origin in (Union, UnionType):
            if NoneType in arguments and self.bare:
                return None
            return self.make(self._choose([part for part in arguments if part is not NoneType]))
        if inspect.isclass(origin) and issubclass(origin, Mapping):
            return {} if self.bare else {str(self.make(arguments[0])): self.make(arguments[1])}
        if origin is tuple and arguments[-1] is not Ellipsis:
            return tuple(self.make(part) for part in arguments)
        if inspect.isclass(origin) and issubclass(origin, (Sequence, tuple)):
            item = arguments[0]
            kinds = get_args(item) if get_origin(item) in (Union, UnionType) else (item,)
            return () if self.bare else tuple(self.make(each) for each in kinds)
        raise TypeError(f"no sample for {kind!r}")

    def _choose(self, choices: Sequence[object]) -> object:
        return choices[self.turn % len(choices)]


def view_classes() -> Sequence[type]:
    """Every class that names a template, from all modules of the server."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(skales.server.__path__, f"{skales.server.__name__}.")
    ]
    classes = {
        cls
        for module in modules
        for _name, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Struct) and isinstance(getattr(cls, "template", None), str)
    }
    return sorted(classes, key=lambda cls: (cls.__module__, cls.__name__))


def make_samples() -> Iterator[View]:
    """Every view, in several variants and once with as little in it as its types allow."""
    for cls in view_classes():
        bare = () if cls in NEVER_BARE else (Maker(0, bare=True),)
        for maker in (Maker(0), Maker(1), Maker(2), Maker(3), *bare):
            made = maker.make(cls)
            assert isinstance(made, cls)
            yield made  # type: ignore[misc]
