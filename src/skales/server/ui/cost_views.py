"""What the costs page is given: amounts in words, shares for the bars, and what is not in the sums."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell


class CostPeriod(Struct, frozen=True):
    """A time up to now, as a tile that leads to its tables."""

    label: str
    amount: str
    facts: str
    address: str
    is_current: bool


class CostRow(Struct, frozen=True):
    """A line of a table. `share` of the dearest one is from 0 to 100; without an `address` nothing can be opened."""

    name: str
    amount: str
    facts: str
    share: int
    address: str = ""


class CostTable(Struct, frozen=True):
    """Sums by one thing, the dearest first; `more` are how many are left out."""

    heading: str
    rows: tuple[CostRow, ...]
    more: int = 0


class CostCeiling(Struct, frozen=True):
    """A ceiling of the settings. `share` of it that is spent is from 0 to 100."""

    label: str
    words: str
    share: int = 0
    has_bar: bool = False


class CostsPage(Struct, frozen=True):
    """Everything. `unpriced` says for which models no price is known; no `tables` when nothing was asked of a model.

    `estimated` says of how many calls the tokens are a guess.
    """

    template: ClassVar[str] = "costs/page.html"
    shell: Shell
    periods: tuple[CostPeriod, ...]
    tables: tuple[CostTable, ...]
    ceilings: tuple[CostCeiling, ...]
    ceilings_address: str
    export_address: str
    unpriced: str = ""
    estimated: str = ""
