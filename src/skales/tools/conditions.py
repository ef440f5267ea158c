"""What some tools need besides their add-on: a search engine that answers, a display, a program on this computer.

A tool names its need (`@tool(needs="search_engine")`), the wiring fills in who knows about it. A condition is asked at
every turn, so it must be cheap: no network, no program started.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct


class Standing(Struct, frozen=True):
    """How it is about a need.

    `missing` says why it is not met, as a sentence without a period, and is empty when it is. `words` stand in the
    tool's description where it names the need in braces; they change seldom, since each change costs a prompt cache.
    """

    missing: str = ""
    words: str = ""


Condition = Callable[[], Standing]
NO_CONDITIONS: Mapping[str, Condition] = MappingProxyType({})
