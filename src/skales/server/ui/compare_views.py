"""What the templates of the compare page are given; see `server.views`."""

from typing import ClassVar

from markupsafe import Markup
from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Trouble


class ComparePick(Struct, frozen=True):
    """A field for one model. `value` is `provider/model`, empty for none; the first two are needed."""

    number: int
    label: str
    value: str
    is_needed: bool


class CompareOption(Struct, frozen=True):
    """A model that can be chosen."""

    value: str
    label: str


class CompareOptions(Struct, frozen=True):
    """What one provider serves."""

    label: str
    options: tuple[CompareOption, ...]


class ComparePage(Struct, frozen=True):
    """The page. `session_id` is the conversation it begins from, empty for none; `title` is its name."""

    template: ClassVar[str] = "compare/page.html"
    shell: Shell
    session_id: str
    title: str
    text: str
    picks: tuple[ComparePick, ...]
    groups: tuple[CompareOptions, ...]


class CompareHead(Struct, frozen=True):
    """A column before its answer."""

    number: int
    model: str
    provider: str


class CompareColumns(Struct, frozen=True):
    """The empty columns of a comparison. `id` names it when one of its answers is picked."""

    template: ClassVar[str] = "compare/columns.html"
    id: str
    text: str
    heads: tuple[CompareHead, ...]


class CompareAnswer(Struct, frozen=True):
    """One answer when it is over. `facts` are its time and tokens; `can_keep` that there is something to go on with."""

    template: ClassVar[str] = "compare/answer.html"
    comparison_id: str
    number: int
    model: str
    html: Markup
    reasoning: str
    facts: tuple[str, ...]
    incomplete: str
    can_keep: bool
    trouble: Trouble | None = None
