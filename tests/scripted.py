"""A provider that plays a script: each request gets the next step. Stands at the port, nothing below it is faked."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from skales.core.errors import ProviderError
from skales.core.json import JsonValue
from skales.core.message import Usage
from skales.core.ports import (
    CallReady,
    ChatRequest,
    ChosenModel,
    Finished,
    FinishReason,
    ModelTraits,
    ProviderEvent,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import ToolCall


class Hang:
    """A step's piece at which the endpoint goes silent for good."""


Piece = ProviderEvent | ProviderError | Hang
Step = Sequence[Piece] | Callable[[ChatRequest], Sequence[Piece]]


@dataclass
class ScriptedProvider:
    """Answers request n with step n; the last step repeats. `requests` keeps what was asked."""

    steps: Sequence[Step]
    window_tokens: int = 0
    requests: list[ChatRequest] = field(default_factory=list)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        step = self.steps[min(len(self.requests), len(self.steps) - 1)]
        self.requests.append(request)
        for piece in step(request) if callable(step) else step:
            await anyio.lowlevel.checkpoint()
            if isinstance(piece, ProviderError):
                raise piece
            if isinstance(piece, Hang):
                await anyio.sleep_forever()
            else:
                yield piece

    async def list_models(self) -> list[str]:
        return ["scripted"]

    def max_tokens(self, model: str) -> int:
        return self.window_tokens


@dataclass
class ScriptedChooser:
    """The scripted provider for every choice. `others` stand by, `traits` hold for each; failures are written down."""

    provider: ScriptedProvider
    others: Sequence[ChosenModel] = ()
    traits: ModelTraits = field(default_factory=ModelTraits)
    failed: list[str] = field(default_factory=list)

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        return ChosenModel(provider_id or "scripted", model or "demo", self.provider)

    def facts(self, provider_id: str, model: str) -> ModelTraits:
        return self.traits

    def fallbacks(
        self, provider_id: str, model: str, *, needs_vision: bool = False, needs_tools: bool = False
    ) -> Sequence[ChosenModel]:
        return [chosen for chosen in self.others if chosen.provider_id not in self.failed]

    def is_resting(self, provider_id: str) -> bool:
        return provider_id in self.failed

    def report_failure(self, provider_id: str) -> None:
        self.failed.append(provider_id)

    def report_success(self, provider_id: str) -> None:
        self.failed = [name for name in self.failed if name != provider_id]


def says(text: str, reason: FinishReason = FinishReason.STOP) -> list[Piece]:
    """An answer in two pieces."""
    half = len(text) // 2
    return [TextPiece(text[:half]), TextPiece(text[half:]), UsageCounted(Usage(10, 5)), Finished(reason)]


def calls(*wanted: tuple[str, Mapping[str, JsonValue]], text: str = "") -> list[Piece]:
    """An answer that asks for tools; ids are call_1, call_2 … by name and position."""
    pieces: list[Piece] = [TextPiece(text)] if text else []
    for number, (name, arguments) in enumerate(wanted, 1):
        pieces.append(CallReady(ToolCall(f"call_{name}_{number}", name, arguments)))
    return [*pieces, Finished(FinishReason.TOOL_CALLS)]
