"""Finds out by trying what a model can do: call tools, several at once, write JSON, see, and how long its window is.

Small requests with one right answer each; what an endpoint refuses counts as no, what goes wrong for another reason as
not known. Spec: providers.md; issue "All 26 providers", "Measured model contract".
"""

import base64
import re
import struct
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from msgspec import Struct, field, structs

from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress
from skales.core.json import JsonObject, as_int, as_object, as_text, parse_json
from skales.core.message import ImagePart, Message, Role, TextPart, text_message
from skales.core.ports import CallReady, ChatRequest, Provider, TextPiece, UsageCounted
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.data.model_probes import ProbeResult

# Models that think first need room for it.
_ANSWER_TOKENS = 4_096
# Trouble that has nothing to do with what the model can.
_PASSING = frozenset(
    {
        ProviderFault.RATE_LIMITED,
        ProviderFault.OVERLOADED,
        ProviderFault.TIMEOUT,
        ProviderFault.STREAM_CUT,
        ProviderFault.CONTEXT_OVERFLOW,
    }
)
_REFUSALS = frozenset({ProviderFault.BAD_REQUEST, ProviderFault.BAD_ANSWER})

_WEATHER = ToolSpec(
    name="get_weather",
    description="Tells the weather in one city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of one city"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    category="probe",
    safety=Safety.AUTO,
)
_CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "founded": {"type": "integer"}},
    "required": ["city", "founded"],
    "additionalProperties": False,
}
_SIDE_PIXELS = 96
_BLUE, _YELLOW = (20, 60, 220), (250, 220, 30)

# The window is tried at doubling sizes.
_FIRST_TOKENS = 2_048
_USUAL_CHARS_PER_TOKEN = 4.0
# A prompt that counts for less than this share of what it should was cut.
_CUT_SHARE = 0.8
_WORD = "heliotrope"
_TOLD_WINDOW = re.compile(
    r"(?:context (?:size|length|window)|maximum context length|maximum prompt length)\D{0,20}?(\d[\d,]{2,9})"
    r"|> (\d[\d,]{2,9}) maximum",
    re.IGNORECASE,
)


class ProbeFinding(Struct, frozen=True):
    """What one step showed; `outcome` None when it did not tell, with the reason in `detail`."""

    subject: str
    outcome: bool | None
    detail: str = ""


ProbeEvent = Progress | ProbeFinding | ProbeResult


class _Answer(Struct):
    """What came back for one request."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    input_tokens: int = 0


Check = Callable[[Provider, str], Awaitable[bool]]


async def probe_model(
    provider: Provider, model: str, *, context_ceiling_tokens: int = 0
) -> AsyncGenerator[ProbeEvent, None]:
    """Try everything; progress and findings as they come, at the end the result, whose `address` is left empty.

    The window is tried up to the ceiling, which costs about twice as many tokens; 0 leaves it out. Raises
    ProviderError when the endpoint cannot be asked at all.
    """
    checks: list[tuple[str, Check]] = [
        ("tools", _calls_a_tool),
        ("parallel_calls", _calls_two_tools),
        ("json", _writes_json),
        ("vision", _sees),
    ]
    total = len(checks) + bool(context_ceiling_tokens)
    found: dict[str, bool | None] = {}
    for number, (subject, check) in enumerate(checks):
        yield Progress(subject, number, total, "steps")
        if subject == "parallel_calls" and found["tools"] is not True:
            finding = ProbeFinding(subject, found["tools"], "No tool was called")
        else:
            finding = await _try(subject, check, provider, model)
        found[subject] = finding.outcome
        yield finding
    context_tokens = 0
    if context_ceiling_tokens:
        yield Progress("context", len(checks), total, "steps")
        context_tokens, finding = await _measure_window(provider, model, context_ceiling_tokens)
        yield finding
    yield Progress("done", total, total, "steps")
    yield structs.replace(
        ProbeResult(address="", context_tokens=context_tokens),
        tools=found["tools"],
        parallel_calls=found["parallel_calls"],
        json=found["json"],
        vision=found["vision"],
    )


async def _try(subject: str, check: Check, provider: Provider, model: str) -> ProbeFinding:
    try:
        return ProbeFinding(subject, await check(provider, model))
    except ProviderError as error:
        if error.fault in _REFUSALS:
            return ProbeFinding(subject, outcome=False, detail=error.message)
        if error.fault in _PASSING:
            return ProbeFinding(subject, outcome=None, detail=error.message)
        raise


async def _ask(provider: Provider, request: ChatRequest) -> _Answer:
    answer = _Answer()
    async with aclosing(provider.stream(replace(request, max_output_tokens=_ANSWER_TOKENS))) as events:
        async for event in events:
            match event:
                case TextPiece(text):
                    answer.text += text
                case CallReady(call):
                    answer.calls.append(call)
                case UsageCounted(usage):
                    answer.input_tokens = usage.input_tokens
                case _:
                    pass
    return answer


# --- abilities ---


async def _calls_a_tool(provider: Provider, model: str) -> bool:
    wish = text_message(Role.USER, "What is the weather in Lisbon? Use the tool to find out.")
    answer = await _ask(provider, ChatRequest(model=model, messages=(wish,), tools=(_WEATHER,)))
    return _cities(answer)[:1] == ["lisbon"]


async def _calls_two_tools(provider: Provider, model: str) -> bool:
    wish = text_message(
        Role.USER, "What is the weather in Lisbon and in Oslo? Call the tool for both cities at once, then stop."
    )
    answer = await _ask(provider, ChatRequest(model=model, messages=(wish,), tools=(_WEATHER,)))
    return set(_cities(answer)) == {"lisbon", "oslo"}


def _cities(answer: _Answer) -> list[str]:
    """The cities of well-formed calls."""
    calls = (call for call in answer.calls if call.name == _WEATHER.name and not call.problem)
    return [as_text(call.arguments.get("city")).partition(",")[0].strip().lower() for call in calls]


async def _writes_json(provider: Provider, model: str) -> bool:
    wish = text_message(Role.USER, "Make up a city: its name, and the year in which it was founded. Answer in JSON.")
    answer = await _ask(provider, ChatRequest(model=model, messages=(wish,), answer_schema=_CITY))
    try:
        value = as_object(parse_json(answer.text.strip()))
    except ValueError:
        return False
    return set(value) == {"city", "founded"} and bool(as_text(value["city"])) and as_int(value["founded"]) != 0


async def _sees(provider: Provider, model: str) -> bool:
    words = TextPart(
        "Name the colour of the left half of this picture, then that of the right half. Only the two words."
    )
    picture = ImagePart("image/png", base64.b64encode(draw_halves(_BLUE, _YELLOW)).decode(), "halves.png")
    message = Message(role=Role.USER, content=(words, picture))
    answer = await _ask(provider, ChatRequest(model=model, messages=(message,)))
    return re.search(r"\bblue\b.*\byellow\b", answer.text.lower(), re.DOTALL) is not None


def draw_halves(left: tuple[int, int, int], right: tuple[int, int, int]) -> bytes:
    """A small PNG of two halves."""
    half = _SIDE_PIXELS // 2
    row = b"\0" + bytes(left) * half + bytes(right) * half
    header = struct.pack(">IIBBBBB", _SIDE_PIXELS, _SIDE_PIXELS, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(row * _SIDE_PIXELS)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


# --- window ---


async def _measure_window(provider: Provider, model: str, ceiling_tokens: int) -> tuple[int, ProbeFinding]:
    """The largest prompt that came through whole, when a larger one did not; 0 when the ceiling came through."""
    chars_per_token = _USUAL_CHARS_PER_TOKEN
    passed_tokens = 0
    size_tokens = min(_FIRST_TOKENS, ceiling_tokens)
    while True:
        prompt = _build_long_prompt(int(size_tokens * chars_per_token))
        try:
            answer = await _ask(provider, ChatRequest(model=model, messages=(text_message(Role.USER, prompt),)))
        except ProviderError as error:
            if error.fault is not ProviderFault.CONTEXT_OVERFLOW and error.fault not in _PASSING | _REFUSALS:
                raise
            return _read_refusal(error, passed_tokens)
        counted = answer.input_tokens
        if counted and passed_tokens and counted < size_tokens * _CUT_SHARE:
            return counted, ProbeFinding(
                "context", outcome=False, detail=f"Longer prompts are cut to {counted:,} tokens"
            )
        if not counted and _WORD not in answer.text.lower():
            return passed_tokens, ProbeFinding(
                "context", outcome=False, detail="The beginning of longer prompts is lost"
            )
        if counted and not passed_tokens:
            # The first prompt, which every window holds, tells how this model counts.
            chars_per_token = len(prompt) / counted
        passed_tokens = counted or size_tokens
        if size_tokens >= ceiling_tokens:
            return 0, ProbeFinding("context", outcome=True, detail=f"{passed_tokens:,} tokens came through")
        size_tokens = min(size_tokens * 2, ceiling_tokens)


def _read_refusal(error: ProviderError, passed_tokens: int) -> tuple[int, ProbeFinding]:
    """A refusal that names the window is exact; other trouble tells nothing beyond what came through before."""
    if error.fault is not ProviderFault.CONTEXT_OVERFLOW:
        return 0, ProbeFinding("context", outcome=None, detail=error.message)
    told = _TOLD_WINDOW.search(error.message)
    number = next((group for group in told.groups() if group), "") if told else ""
    tokens = int(number.replace(",", "")) if number else passed_tokens
    return tokens, ProbeFinding("context", outcome=False, detail=error.message)


def _build_long_prompt(chars: int) -> str:
    """A word to remember, much to forget, and the question for the word."""
    head = f"Remember this word: {_WORD}.\n"
    tail = "\nWhich word were you to remember? Answer with it alone."
    lines: list[str] = []
    length = len(head) + len(tail)
    number = 0
    while length < chars:
        number += 1
        lines.append(f"Line {number}: nothing here needs to be remembered.\n")
        length += len(lines[-1])
    return f"{head}{''.join(lines)}{tail}"
