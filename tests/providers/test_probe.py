import base64
import re
import struct
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress
from skales.core.message import ImagePart, Usage
from skales.core.ports import CallReady, ChatRequest, Finished, FinishReason, ProviderEvent, TextPiece, UsageCounted
from skales.core.tool import ToolCall
from skales.data.model_probes import ProbeResult
from skales.providers.probe import ProbeFinding, draw_halves, probe_model

pytestmark = pytest.mark.anyio


def fault(kind: ProviderFault, message: str = "no") -> ProviderError:
    return ProviderError(message, fault=kind)


def call(**arguments: str) -> CallReady:
    return CallReady(ToolCall("c", "get_weather", arguments))


Reaction = Callable[[ChatRequest], Sequence[ProviderEvent] | ProviderError]


def able_with_tools(request: ChatRequest) -> Sequence[ProviderEvent]:
    cities = [city for city in ("Lisbon", "Oslo") if city in request.messages[-1].text]
    return [call(city=city) for city in cities]


def able_with_pictures(request: ChatRequest) -> Sequence[ProviderEvent]:
    picture = next(part for part in request.messages[-1].content if isinstance(part, ImagePart))
    left, right = read_halves(base64.b64decode(picture.data_base64))
    names: dict[tuple[int, ...], str] = {(20, 60, 220): "Blue", (250, 220, 30): "yellow"}
    return [TextPiece(f"{names[left]}, {names[right]}.")]


def read_halves(data: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The colours of the first and the last pixel of a PNG's first row, its checksums checked on the way."""
    place, pixels, width = 8, b"", 0
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        assert struct.unpack(">I", data[place + 8 + size : place + 12 + size]) == (zlib.crc32(kind + body),)
        if kind == b"IHDR":
            (width,) = struct.unpack(">I", body[:4])
        if kind == b"IDAT":
            pixels += zlib.decompress(body)
        place += 12 + size
    return tuple(pixels[1:4]), tuple(pixels[1 + 3 * (width - 1) : 1 + 3 * width])


@dataclass
class Tried:
    """A model as the tests describe it: how it reacts to tools, schemas, pictures and long prompts."""

    tools: Reaction = able_with_tools
    schema: Reaction = lambda _: [TextPiece(' {"city": "Foo", "founded": 1200}\n')]
    pictures: Reaction = able_with_pictures
    text: Reaction = lambda _: [TextPiece("heliotrope")]
    requests: list[ChatRequest] = field(default_factory=list)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        self.requests.append(request)
        if request.tools:
            reaction = self.tools(request)
        elif request.answer_schema is not None:
            reaction = self.schema(request)
        elif any(isinstance(part, ImagePart) for part in request.messages[-1].content):
            reaction = self.pictures(request)
        else:
            reaction = self.text(request)
        if isinstance(reaction, ProviderError):
            raise reaction
        for event in reaction:
            yield event
        yield Finished(FinishReason.STOP)

    async def list_models(self) -> list[str]:
        return []

    def max_tokens(self, model: str) -> int:
        return 0


async def probe(model: Tried, ceiling_tokens: int = 0) -> tuple[ProbeResult, dict[str, ProbeFinding]]:
    events = [event async for event in probe_model(model, "demo", context_ceiling_tokens=ceiling_tokens)]
    result = events[-1]
    assert isinstance(result, ProbeResult)
    steps = [event for event in events if isinstance(event, Progress)]
    assert [step.done for step in steps] == list(range(len(steps)))
    assert {step.total for step in steps} == {len(steps) - 1}
    return result, {event.subject: event for event in events if isinstance(event, ProbeFinding)}


async def test_an_able_model_is_found_able() -> None:
    result, found = await probe(Tried())
    assert result == ProbeResult(address="", tools=True, parallel_calls=True, json=True, vision=True)
    assert {name: finding.outcome for name, finding in found.items()} == dict.fromkeys(
        ("tools", "parallel_calls", "json", "vision"), True
    )


@pytest.mark.parametrize(
    "reaction",
    [
        lambda _: [TextPiece('{"name": "get_weather", "arguments": {"city": "Lisbon"}}')],
        lambda _: [call(city="Porto")],
        lambda _: [CallReady(ToolCall("c", "weather", {"city": "Lisbon"}))],
        lambda _: [CallReady(ToolCall("c", "get_weather", {"city": "Lisbon"}, problem="cut"))],
        lambda _: [],
        lambda _: fault(ProviderFault.BAD_REQUEST, "demo does not support tools"),
    ],
    ids=["as text", "another city", "another tool", "broken", "nothing", "refused"],
)
async def test_a_model_without_native_calls_is_found_without(reaction: Reaction) -> None:
    model = Tried(tools=reaction)
    result, found = await probe(model)
    assert (result.tools, result.parallel_calls) == (False, False)
    assert sum(bool(request.tools) for request in model.requests) == 1
    assert found["parallel_calls"].detail == "No tool was called"


async def test_one_call_at_a_time_is_no_parallel_call() -> None:
    result, _ = await probe(Tried(tools=lambda request: able_with_tools(request)[:1]))
    assert (result.tools, result.parallel_calls) == (True, False)


@pytest.mark.parametrize("city", ["Lisbon, Portugal", " lisbon "])
async def test_a_city_may_be_written_more_precisely(city: str) -> None:
    result, _ = await probe(Tried(tools=lambda _: [call(city=city)]))
    assert result.tools is True


@pytest.mark.parametrize(
    "text",
    ["", "Sure: {}", '{"city": "A"}', '{"city": "A", "founded": "x"}', '{"city": "A", "founded": 1, "more": 2}', "[1]",
     '```json\n{"city": "A", "founded": 1}\n```'],
)  # fmt: skip
async def test_what_does_not_keep_to_the_schema_is_not_json(text: str) -> None:
    result, _ = await probe(Tried(schema=lambda _: [TextPiece(text)]))
    assert result.json is False


@pytest.mark.parametrize("text", ["", "I cannot see pictures", "Yellow, blue", "red and green", "blueish yellowish"])
async def test_guessing_is_not_seeing(text: str) -> None:
    result, _ = await probe(Tried(pictures=lambda _: [TextPiece(text)]))
    assert result.vision is False


@pytest.mark.parametrize(
    "kind", [ProviderFault.RATE_LIMITED, ProviderFault.OVERLOADED, ProviderFault.TIMEOUT, ProviderFault.STREAM_CUT]
)
async def test_passing_trouble_tells_nothing(kind: ProviderFault) -> None:
    result, found = await probe(Tried(pictures=lambda _: fault(kind, "busy"), tools=lambda _: fault(kind, "busy")))
    assert (result.vision, result.tools, result.parallel_calls, result.json) == (None, None, None, True)
    assert found["vision"].detail == "busy"


@pytest.mark.parametrize(
    "kind",
    [ProviderFault.BAD_KEY, ProviderFault.UNKNOWN_MODEL, ProviderFault.UNREACHABLE, ProviderFault.NOT_CONFIGURED,
     ProviderFault.NO_CREDIT, ProviderFault.TLS, ProviderFault.FORBIDDEN],
)  # fmt: skip
async def test_an_endpoint_that_cannot_be_asked_ends_the_probe(kind: ProviderFault) -> None:
    model = Tried(tools=lambda _: fault(kind))
    with pytest.raises(ProviderError) as caught:
        await probe(model)
    assert caught.value.fault is kind
    assert len(model.requests) == 1


# --- window ---


def count_tokens(request: ChatRequest) -> int:
    return len(request.messages[-1].text) // 3


def window_of(tokens: int, *, says: str = "heliotrope", counts: bool = True) -> Reaction:
    """A server that cuts longer prompts silently, at the front, and counts what it kept."""

    def react(request: ChatRequest) -> Sequence[ProviderEvent]:
        wanted = count_tokens(request)
        answer = TextPiece(says if wanted <= tokens else "I do not know")
        counted = [UsageCounted(Usage(min(wanted, tokens), 1))] if counts else []
        return [answer, *counted]

    return react


async def test_a_window_that_is_cut_silently_is_found_by_what_is_counted() -> None:
    result, found = await probe(Tried(text=window_of(4_096)), 32_768)
    assert result.context_tokens == 4_096
    assert "cut to 4,096 tokens" in found["context"].detail


async def test_a_model_that_forgets_is_not_taken_for_a_small_window() -> None:
    result, found = await probe(Tried(text=window_of(1_000_000, says="no idea")), 8_192)
    assert result.context_tokens == 0
    assert found["context"].outcome is True


async def test_without_counts_the_lost_beginning_tells() -> None:
    result, found = await probe(Tried(text=window_of(7_000, counts=False)), 32_768)
    assert result.context_tokens == 4_096
    assert found["context"].outcome is False


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ("request (9120 tokens) exceeds the available context size (8192 tokens), try increasing it", 8_192),
        ("This model's maximum context length is 16,385 tokens. However, you requested 20000", 16_385),
        ("prompt is too long: 213462 tokens > 200000 maximum", 200_000),
        ("Too long", 4_096),
    ],
)
async def test_a_refusal_that_names_the_window_is_exact(message: str, tokens: int) -> None:
    def react(request: ChatRequest) -> Sequence[ProviderEvent] | ProviderError:
        if len(request.messages[-1].text) > 20_000:
            return fault(ProviderFault.CONTEXT_OVERFLOW, message)
        return [TextPiece("heliotrope")]

    result, _ = await probe(Tried(text=react), 32_768)
    assert result.context_tokens == tokens


async def test_a_window_that_holds_the_ceiling_leaves_the_claim_alone() -> None:
    model = Tried(text=window_of(1_000_000))
    result, found = await probe(model, 10_000)
    assert result.context_tokens == 0
    assert found["context"].outcome is True
    sizes = [count_tokens(request) for request in model.requests[4:]]
    assert len(sizes) == 4
    assert sizes[-1] == pytest.approx(10_000, rel=0.05)


async def test_trouble_on_the_way_tells_nothing_about_the_window() -> None:
    result, found = await probe(Tried(text=lambda _: fault(ProviderFault.TIMEOUT)), 8_192)
    assert result.context_tokens == 0
    assert found["context"].outcome is None


async def test_no_window_is_tried_without_a_ceiling() -> None:
    model = Tried()
    await probe(model)
    assert len(model.requests) == 4


def test_the_picture_is_one() -> None:
    assert read_halves(draw_halves((1, 2, 3), (4, 5, 6))) == ((1, 2, 3), (4, 5, 6))


async def test_requests_are_small_and_leave_room_for_thinking() -> None:
    model = Tried()
    await probe(model)
    assert {request.max_output_tokens for request in model.requests} == {4_096}
    texts = [re.sub(r"\s+", " ", request.messages[-1].text) for request in model.requests]
    assert max(map(len, texts)) < 300
