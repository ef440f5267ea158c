"""What the templates of the providers page are given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.conversation_views import StarterFacts
from skales.server.frame_views import Shell
from skales.server.ui.setting_views import Choice, Control, Undo
from skales.server.views import Trouble


class KeyField(Struct, frozen=True):
    """The write-only field of a key; `mask` is all the page ever learns of the stored one.

    `asks` wants a yes before the key is forgotten. `beside` is the state of the card, to be renewed with it.
    """

    template: ClassVar[str] = "settings/key_field.html"
    provider_id: str
    mask: str
    needed: bool
    saved: str = ""
    error: str = ""
    asks: bool = False
    beside: "tuple[CardState, ...]" = ()


class CardState(Struct, frozen=True):
    """What a closed card says. `kind` colours the badge; `is_update` replaces the one on the page."""

    template: ClassVar[str] = "settings/card_state.html"
    provider_id: str
    badge: str
    kind: str
    model: str
    can_activate: bool
    is_update: bool = False


class ModelLine(Struct, frozen=True):
    """A model of a provider's list and what is known of it."""

    id: str
    facts: tuple[str, ...]
    is_chosen: bool


class ModelTable(Struct, frozen=True):
    """The models of a provider; `when` says how old a list from the endpoint is. `is_update` replaces it."""

    template: ClassVar[str] = "settings/models.html"
    provider_id: str
    rows: tuple[ModelLine, ...]
    when: str
    is_update: bool = False
    trouble: Trouble | None = None


class ConnectionReport(Struct, frozen=True):
    """What a connection test found; `models` renews the list."""

    template: ClassVar[str] = "settings/report.html"
    provider_id: str
    words: str
    facts: tuple[str, ...] = ()
    models: ModelTable | None = None
    trouble: Trouble | None = None


class ProbeBadge(Struct, frozen=True):
    """What one step of a probe showed. `kind` colours it, `symbol` says it without colour."""

    label: str
    kind: str
    symbol: str
    detail: str = ""


class ProbePart(Struct, frozen=True):
    """Finding out by trying what a model can, and what was found the last time.

    `model` is empty when none is chosen.
    """

    template: ClassVar[str] = "settings/probe.html"
    provider_id: str
    model: str
    badges: tuple[ProbeBadge, ...] = ()
    when: str = ""
    trouble: Trouble | None = None


class SignInPart(Struct, frozen=True):
    """Signing in instead of a key. `link` is the page to sign in at, empty until it was begun.

    `waits` means that the browser of this computer is listened for, `is_fresh` that the link was made just now.
    """

    template: ClassVar[str] = "settings/signin.html"
    provider_id: str
    label: str
    is_signed_in: bool
    link: str = ""
    waits: bool = False
    is_fresh: bool = False
    trouble: Trouble | None = None


class LimitLine(Struct, frozen=True):
    """What the person says of the sizes of a model, as shown; empty for what is left open."""

    model: str
    context: str
    output: str
    is_every: bool


class ModelLimits(Struct, frozen=True):
    """The sizes of single models of a provider. `was` is what the file says, as JSON."""

    template: ClassVar[str] = "settings/model_limits.html"
    provider_id: str
    label: str
    was: str
    rows: tuple[LimitLine, ...]
    saved: str = ""
    error: str = ""
    undo: Undo | None = None


class CardBody(Struct, frozen=True, kw_only=True):
    """What an open card shows. `key` is None for a provider that takes none; `explanation` for one that starts off.

    `probe` is None where there is nothing to find out, `sign_in` for providers that take keys or nothing, `limits`
    for the embedded model, whose sizes are its own.
    """

    template: ClassVar[str] = "settings/card_body.html"
    id: str
    label: str
    state: CardState
    rows: tuple[Control, ...]
    more: tuple[Control, ...]
    key: KeyField | None
    models: ModelTable
    explanation: str = ""
    where: str = ""
    starter: StarterFacts | None = None
    is_custom: bool = False
    probe: ProbePart | None = None
    sign_in: SignInPart | None = None
    limits: ModelLimits | None = None


class ProviderCard(Struct, frozen=True):
    """A model provider. Its body comes when it is opened, unless it is open from the start."""

    template: ClassVar[str] = "settings/provider.html"
    id: str
    label: str
    tags: tuple[str, ...]
    state: CardState
    body: CardBody | None = None


class ProviderGroup(Struct, frozen=True):
    """Cards under one heading. `is_apart` means that nobody set them up yet."""

    title: str
    cards: tuple[ProviderCard, ...]
    is_apart: bool = False


class ProviderList(Struct, frozen=True):
    """Every card that fits a search and a filter."""

    template: ClassVar[str] = "settings/providers.html"
    groups: tuple[ProviderGroup, ...]


class FallbackLine(Struct, frozen=True):
    """A place in the order of those who answer when the one before does not."""

    number: int
    provider_id: str
    label: str
    model: str
    is_usable: bool
    is_first: bool
    is_last: bool


class Fallbacks(Struct, frozen=True):
    """Who answers when the chosen provider fails, in order. `was` is what the file says, as JSON."""

    template: ClassVar[str] = "settings/fallbacks.html"
    was: str
    rows: tuple[FallbackLine, ...]
    choices: tuple[Choice, ...]
    fault: str = ""
    saved: str = ""
    error: str = ""
    undo: Undo | None = None


class NewSlot(Struct, frozen=True):
    """The form for an endpoint of the person's own, with what was typed when it was refused."""

    template: ClassVar[str] = "settings/new_slot.html"
    name: str = ""
    address: str = ""
    error: str = ""
    is_open: bool = False


class Chip(Struct, frozen=True):
    """A filter."""

    value: str
    label: str
    chosen: bool


class ProviderBoard(Struct, frozen=True):
    """All of the providers page."""

    template: ClassVar[str] = "settings/provider_board.html"
    active: Control
    active_model: str
    active_id: str
    fallbacks: Fallbacks
    cards: ProviderList
    new_slot: NewSlot
    query: str
    show: str
    chips: tuple[Chip, ...]


class ProvidersPage(Struct, frozen=True):
    """The providers page."""

    template: ClassVar[str] = "settings/providers_page.html"
    shell: Shell
    board: ProviderBoard


class FoundServerLine(Struct, frozen=True):
    """A model server that answers nearby."""

    provider_id: str
    label: str
    address: str
    words: str
    model: str
    is_in_use: bool
    needs_key: bool


class FoundServers(Struct, frozen=True):
    """What was found on this computer."""

    template: ClassVar[str] = "settings/found_servers.html"
    rows: tuple[FoundServerLine, ...]
