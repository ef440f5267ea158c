"""Which tools a request offers: few always, the pinned, and those the conversation found or used; the others by name.

Definitions of hundreds of tools would cost more than most conversations. The order only grows at its end, so that
providers' caches fit. Spec: ARCHITECTURE.md, "How data flows through one turn".
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from msgspec import Struct, field

from skales.core.message import Message, Role
from skales.core.ports import Toolbox
from skales.core.tool import Safety, ToolSpec

# The tool that finds the others and makes them part of the offer.
FINDER = "load_tools"
# So many of the newest messages are looked through, and so many tools stay with a conversation.
_LOOKED_THROUGH = 400
_MOST_FOUND = 32
# Names that begin alike are told as a family from this number on.
_FAMILY = 6
# Offers that are kept, the newest.
_KEPT_OFFERS = 32
# What a weak model chooses from.
_WEAK_OFFER = 8

_NAME = re.compile(r"[a-z0-9_]+")


class _Offered(Struct, frozen=True):
    """What was offered while these tools were on."""

    enabled: Sequence[ToolSpec]
    tools: tuple[ToolSpec, ...]


class ToolOffer(Struct):
    """The offer for each conversation; `pinned` are the names that a person wants always there."""

    toolbox: Toolbox
    pinned: Callable[[], Sequence[str]] = tuple
    _finders: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    _kept: OrderedDict[tuple[str, ...], _Offered] = field(default_factory=OrderedDict[tuple[str, ...], _Offered])

    def choose(self, messages: Sequence[Message]) -> tuple[ToolSpec, ...]:
        """The tools for the next request of a conversation, in a stable order; the same object while it is the same."""
        enabled = self.toolbox.enabled()
        known = frozenset(spec.name for spec in enabled)
        wanted = tuple(dict.fromkeys([*self.pinned(), *_find_names(messages, known)]))
        kept = self._kept.get(wanted)
        if kept is None or kept.enabled is not enabled:
            kept = self._kept[wanted] = _Offered(enabled, self._choose(enabled, wanted))
            if len(self._kept) > _KEPT_OFFERS:
                self._kept.popitem(last=False)
        return kept.tools

    def _choose(self, enabled: Sequence[ToolSpec], wanted: Sequence[str]) -> tuple[ToolSpec, ...]:
        known = {spec.name: spec for spec in enabled if spec.safety is not Safety.MANUAL}
        names = dict.fromkeys([*(spec.name for spec in known.values() if spec.is_basic), *wanted])
        offered = [known[name] for name in names if name in known]
        others = [spec for spec in known.values() if spec.name not in names]
        return tuple(self._tell_of(others, spec) if spec.name == FINDER else spec for spec in offered)

    def choose_for_weak(self, messages: Sequence[Message]) -> tuple[ToolSpec, ...]:
        """What the newest message of the person may be about: a weak model can neither search nor choose among many."""
        request = next((message.text for message in reversed(messages) if message.role is Role.USER), "")
        known = [spec for spec in self.toolbox.enabled() if spec.safety is not Safety.MANUAL and spec.name != FINDER]
        found = {spec.name for spec in self.toolbox.search(request, _WEAK_OFFER)}
        return tuple(spec for spec in known if spec.is_basic or spec.name in found or spec.name in self.pinned())

    def _tell_of(self, others: Sequence[ToolSpec], finder: ToolSpec) -> ToolSpec:
        """The finder with the names of what it can find; the same object as long as these are the same."""
        told = _tell_names(others)
        if told not in self._finders:
            self._finders.clear()
            description = f"{finder.description} There are also: {told}" if told else finder.description
            self._finders[told] = replace(finder, description=description)
        return self._finders[told]


def _find_names(messages: Sequence[Message], known: Container[str]) -> Sequence[str]:
    """Tools that the conversation found or used, in the order in which they first came up."""
    names: dict[str, None] = {}
    for message in messages[-_LOOKED_THROUGH:]:
        if message.role is not Role.TOOL or message.is_error:
            continue
        first_line = message.text.partition("\n")[0] if message.name == FINDER else message.name
        names.update(dict.fromkeys(_NAME.findall(first_line)))
    return [name for name in names if name in known][-_MOST_FOUND:]


def _tell_names(specs: Sequence[ToolSpec]) -> str:
    """Names by category, families short: `core: git_diff git_log wordpress_… (47); media: image_crop`."""
    ordered = sorted(specs, key=lambda spec: (spec.category, spec.name))
    groups = groupby(ordered, key=lambda spec: spec.category)
    return "; ".join(f"{category}: {' '.join(_tell_families([it.name for it in group]))}" for category, group in groups)


def _tell_families(names: Sequence[str]) -> Iterable[str]:
    for prefix, family in groupby(names, key=lambda name: name.partition("_")[0]):
        members = list(family)
        yield from [f"{prefix}_… ({len(members)})"] if len(members) >= _FAMILY else members
