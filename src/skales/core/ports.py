"""What one room needs of another, as protocols that `app.py` fills in.

Floor-2 rooms do not import each other and the agent does not import them; they meet here.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from skales.core.events import Progress
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.message import Message, Usage
from skales.core.tool import ToolCall, ToolResult, ToolSpec

# --- providers ---------------------------------------------------------------------------------------------------


class FinishReason(StrEnum):
    """Why the model stopped writing."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to a model. `messages` may start with a system message and is already repaired.

    `answer_schema` asks for JSON of that schema instead of prose. `max_output_tokens` 0 leaves it to the endpoint.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    answer_schema: JsonObject | None = None
    max_output_tokens: int = 0
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """More answer text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """More thinking text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallReady:
    """One whole tool call; sent once its arguments are complete, in the order of the answer."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class NativeBlocks:
    """The whole answer in the blocks of its wire format, for formats that want them back unchanged."""

    format: str
    blocks: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class UsageCounted:
    """Tokens of this request so far; the last one counts."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class RetryPlanned:
    """The request failed before any output and is sent again after `wait_s` seconds."""

    reason: str
    wait_s: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. A stream that ends without this event was cut, and the provider raises instead."""

    reason: FinishReason


ProviderEvent = (
    TextPiece | ReasoningPiece | CallReady | NativeBlocks | UsageCounted | RetryPlanned | Progress | Finished
)


class Provider(Protocol):
    """One configured endpoint that answers."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Ask, and yield what comes. Ends with `Finished` or raises ProviderError; closing it cancels the request."""
        ...

    async def list_models(self) -> list[str]:
        """Model ids the endpoint offers. Raises ProviderError."""
        ...

    def max_tokens(self, model: str) -> int:
        """The model's context window in tokens, 0 when unknown."""
        ...


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """Who answers this turn. `weak` asks for the compact prompt and a small tool offer."""

    provider_id: str
    model: str
    provider: Provider
    weak: bool = False


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Which files a model takes as they are, by media type, and how much of them in one request; 0 is no limit.

    `max_bytes` counts them as they are sent, in base64, together with pictures.
    """

    kinds: frozenset[str]
    max_bytes: int = 0
    max_pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTraits:
    """What is known of a model. Sizes are 0 and prices None when nobody knows them.

    `tools` is true also where nobody knows, since refusing them would cost a good model its use; `parallel_calls`
    likewise. Prices are estimates in US dollars per million tokens. `warning` is a sentence for people, such as that
    a server loaded the model with a smaller window than it has. `is_measured` says that a probe found it out.
    `documents` is None where files go as their text. `output_cap_tokens` is the person's own limit for an answer.
    """

    context_tokens: int = 0
    output_tokens: int = 0
    tools: bool = True
    parallel_calls: bool = True
    vision: bool = False
    reasoning: bool = False
    json: bool = False
    input_usd_per_million: float | None = None
    cached_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    warning: str = ""
    is_measured: bool = False
    documents: DocumentLimits | None = None
    output_cap_tokens: int = 0


class ModelChooser(Protocol):
    """Finds the provider and model for a turn, and another one when it fails."""

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        """The named one, or what the settings say. Raises ProviderError(NOT_CONFIGURED) with what to do."""
        ...

    def facts(self, provider_id: str, model: str) -> ModelTraits:
        """What is known of a model; makes no request."""
        ...

    def fallbacks(
        self, provider_id: str, model: str, *, needs_vision: bool = False, needs_tools: bool = False
    ) -> Sequence[ChosenModel]:
        """Who else may answer when this one fails, in the order to try; those that failed lately are left out."""
        ...

    def is_resting(self, provider_id: str) -> bool:
        """Whether it failed less than a minute ago, so that the fallbacks come first."""
        ...

    def report_failure(self, provider_id: str) -> None:
        """It did not answer; it rests for a minute."""
        ...

    def report_success(self, provider_id: str) -> None:
        """It answered; it rests no longer."""
        ...


# --- money -------------------------------------------------------------------------------------------------------


class Purpose(StrEnum):
    """What a call to a model is for."""

    CHAT = "chat"
    TITLE = "title"
    SUMMARY = "summary"
    PROBE = "probe"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call to a model, as the accounts see it. `session_id` is empty when no conversation is behind it.

    `estimated_tokens` is what the request takes, where somebody counted already.
    """

    session_id: SessionId
    purpose: Purpose
    provider_id: str
    request: ChatRequest
    estimated_tokens: int = 0


class Ceiling(StrEnum):
    """What may only cost so much before the person is asked."""

    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingMet:
    """A ceiling that a call would reach, or half of it. Amounts are US dollars by list price.

    `spent_usd` counts in what the request alone will cost. `next_usd` is the ceiling after a yes.
    """

    ceiling: Ceiling
    is_full: bool
    limit_usd: float
    spent_usd: float
    next_usd: float


class Accounts(Protocol):
    """What calls to models cost. Both sides of a call go through here.

    `check` looks at the state of small files and may be called on the event loop; the others read and write the disk.
    """

    def check(self, call: ModelCall) -> CeilingMet | None:
        """The ceiling that needs the person's word before this call, None to go ahead. Raises StorageError."""
        ...

    def settle(self, call: ModelCall, met: CeilingMet, *, go_on: bool) -> None:
        """Keep the person's answer, so that the same is not asked again. Raises StorageError."""
        ...

    def record(self, call: ModelCall, usage: Usage, output_characters: int) -> None:
        """Write down a call that was answered, well or not. Raises StorageError.

        Without any tokens in `usage` they are estimated from the request and from what came.
        """
        ...


# --- tools -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """What `ask_user` wants to know."""

    text: str
    options: tuple[str, ...] = ()


class Delivery(Protocol):
    """How far a tool is with sending what must not be sent twice; each step is on disk when it returns."""

    @property
    def key(self) -> str:
        """What the other side may know the sending by, the same when it is sent again; empty when nobody counts."""
        ...

    async def begin(self) -> None:
        """What counts leaves now; nobody knows until it is accepted or refused. Raises StorageError: send nothing."""
        ...

    async def accept(self) -> None:
        """The other side said that it has it."""
        ...

    async def refuse(self) -> None:
        """It did not arrive, or doing it again does no harm; also while the call is cancelled."""
        ...


class UncountedDelivery:
    """For calls whose sendings nobody counts."""

    @property
    def key(self) -> str:
        """None is needed."""
        return ""

    async def begin(self) -> None:
        """Nothing is noted."""

    async def accept(self) -> None:
        """Nothing is noted."""

    async def refuse(self) -> None:
        """Nothing is noted."""


UNCOUNTED: Delivery = UncountedDelivery()


@dataclass(frozen=True, slots=True)
class CallScope:
    """The surroundings of one tool call. `session_id` is empty when no conversation is behind it.

    `ask` holds the turn until the person answers and returns the answer; `report` shows progress. A tool that sends
    what must not be sent twice says to `delivery` how far it is. `environment` is what a command of this
    call finds besides the usual; it may hold secrets.
    """

    session_id: SessionId
    call_id: str
    ask: Callable[[Question], Awaitable[str]]
    report: Callable[[Progress], None]
    delivery: Delivery = UNCOUNTED
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


class Toolbox(Protocol):
    """All tools there are. Judging a call is not its business; the gate asks it only to look up and to run."""

    def specs(self) -> Sequence[ToolSpec]:
        """Every known tool in a stable order, switched off ones included."""
        ...

    def is_enabled(self, name: str) -> bool:
        """Whether the tool's add-on is on and what it needs is there."""
        ...

    def why_off(self, name: str) -> str:
        """Why the tool is not enabled, as a sentence without a period; empty when it is."""
        ...

    def find(self, name: str) -> ToolSpec | None:
        """The tool of this name or alias."""
        ...

    def enabled(self) -> Sequence[ToolSpec]:
        """The known tools that are on, in the same order."""
        ...

    def search(self, request: str, limit: int) -> Sequence[ToolSpec]:
        """The tools that are on and that a request may be about, the likeliest first."""
        ...

    def check_arguments(self, spec: ToolSpec, arguments: JsonObject) -> JsonObject:
        """The arguments with harmless spellings made right (`"3"` for 3). Raises InputError that names the fault."""
        ...

    def describe(self, spec: ToolSpec, arguments: JsonObject) -> str:
        """What the call would do, in plain words and at most 200 characters: `Write 3 KB to notes.txt`."""
        ...

    def preview(self, spec: ToolSpec, arguments: JsonObject) -> str:
        """What the call would change, as a unified diff or in plain lines; empty when that cannot be told.

        Changes nothing, but may read the disk.
        """
        ...

    async def run(self, spec: ToolSpec, arguments: JsonObject, scope: CallScope) -> ToolResult:
        """Run it. Raises ToolError for an expected failure; anything else is a fault of the tool."""
        ...
