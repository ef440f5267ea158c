"""Faults that an endpoint may have, in all three formats, and what a person then reads.

The first half comes from the server that other people wrote (see `test_against_emulator`); what that one cannot play
comes from our own, byte by byte.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from skales.core.errors import ProviderFault
from skales.core.ports import FinishReason
from tests.providers.conftest import MakeProvider, Pauses, ask
from tests.providers.outcome import collect
from tests.providers.test_against_emulator import KEY, NODE, PROGRAM, emulator
from tests.servers.raw_sse import Ending, RawServer, Reply

__all__ = ["emulator"]

FORMATS = ("openai", "anthropic", "google")
every_format = pytest.mark.parametrize("provider", FORMATS)
pytestmark = pytest.mark.anyio
with_emulator = pytest.mark.skipif(
    NODE is None or not PROGRAM.exists(), reason="needs node and `npm ci` in tests/peers"
)


def address(emulator: str, provider: str) -> str:
    return f"{emulator}beta" if provider == "google" else emulator


# --- by the independent server ---


@with_emulator
@every_format
async def test_a_limit_is_waited_out_as_long_as_the_endpoint_says(
    provider: str, emulator: str, make_provider: MakeProvider, pauses: Pauses
) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask(f"slow down {provider}")))
    assert (outcome.text, outcome.error, pauses.taken_s) == ("Here I am", None, [7.0])
    (plan,) = outcome.retries
    assert "takes no more requests for now: Too many requests" in plan.reason


@with_emulator
@every_format
@pytest.mark.parametrize("status", [500, 503, 529])
async def test_trouble_that_passes_is_tried_three_times_and_then_told(
    provider: str, status: int, emulator: str, make_provider: MakeProvider, pauses: Pauses
) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask(f"always {status}")))
    assert outcome.error is not None
    assert (outcome.error.fault, len(pauses.taken_s)) == (ProviderFault.OVERLOADED, 2)
    assert "has trouble answering: The machines are busy" in outcome.error.message
    assert outcome.error.hint == "Try again later, or choose another provider"


@dataclass(frozen=True)
class Cause:
    """What a person reads of a fault that no second try mends."""

    fault: ProviderFault
    message: str
    hint: str


LASTING = {
    "too long": Cause(ProviderFault.CONTEXT_OVERFLOW, "The conversation is too long for demo", "Start a new"),
    "no such model": Cause(ProviderFault.UNKNOWN_MODEL, "does not offer the model 'demo'", "Choose a model"),
    "no credit": Cause(ProviderFault.NO_CREDIT, "The credit at", "Add credit there"),
    "not for you": Cause(ProviderFault.FORBIDDEN, "refuses access", "choose another model or provider"),
}


@with_emulator
@every_format
@pytest.mark.parametrize("question", LASTING)
async def test_what_does_not_pass_is_told_at_once(
    provider: str, question: str, emulator: str, make_provider: MakeProvider, pauses: Pauses
) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask(question)))
    cause, error = LASTING[question], outcome.error
    assert error is not None
    assert (error.fault, pauses.taken_s) == (cause.fault, [])
    assert cause.message in error.message
    assert cause.hint in error.hint


@with_emulator
@every_format
async def test_a_bad_key_is_told_with_the_place_to_mend_it(
    provider: str, emulator: str, make_provider: MakeProvider
) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key="sk-wrong")
    outcome = await collect(asked.stream(ask("hello")))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_KEY
    assert "does not accept the key" in outcome.error.message
    assert "sk-wrong" not in outcome.error.message
    assert outcome.error.hint


@with_emulator
@every_format
async def test_a_line_that_breaks_keeps_what_came(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask("disconnect")))
    assert outcome.error is not None
    assert (outcome.error.fault, outcome.finish) == (ProviderFault.STREAM_CUT, None)
    assert outcome.text
    assert "The first of many words that never all arrive, for the line breaks".startswith(outcome.text)
    assert "continue" in outcome.error.hint


@with_emulator
@every_format
async def test_a_body_that_is_no_answer_is_named(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask("garbled")))
    assert outcome.error is not None
    assert (outcome.error.fault, outcome.text) == (ProviderFault.BAD_ANSWER, "")
    assert "something that is no chat answer" in outcome.error.message
    assert outcome.error.hint


# --- by our own server ---

PIECES: Mapping[str, bytes] = {
    "openai": b'data: {"choices":[{"index":0,"delta":{"content":"One two"},"finish_reason":null}]}\n\n',
    "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"One two"}}\n\n',
    "google": b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"One two"}]},"index":0}]}\n\n',
}
ENDS: Mapping[str, bytes] = {
    "openai": b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    "anthropic": b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
    b'"usage":{"output_tokens":2}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
    "google": b'data: {"candidates":[{"content":{"parts":[]},"index":0,"finishReason":"STOP"}]}\n\n',
}
ERRORS: Mapping[str, bytes] = {
    "openai": json.dumps({"error": {"message": "The engine is overloaded", "type": "server_error"}}).encode(),
    "anthropic": json.dumps(
        {"type": "error", "error": {"type": "overloaded_error", "message": "The engine is overloaded"}}
    ).encode(),
    "google": json.dumps(
        {"error": {"code": 503, "message": "The engine is overloaded", "status": "UNAVAILABLE"}}
    ).encode(),
}


def whole(provider: str) -> Reply:
    return Reply(PIECES[provider] + ENDS[provider])


FRAMES: Mapping[str, bytes] = {
    "named": b"event: error\ndata: %s\n\n",
    "unnamed": b"data: %s\n\n",
    "unframed": b"%s\n",
    "named otherwise": b"event: message\r\ndata: %s\r\n\r\n",
}


@every_format
@pytest.mark.parametrize("frame", FRAMES)
async def test_an_error_after_text_keeps_the_text_and_asks_no_more(
    provider: str, frame: str, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies += [Reply(PIECES[provider] + FRAMES[frame] % ERRORS[provider]), whole(provider)]
    outcome = await collect(make_provider(provider, key="sk-case").stream(ask()))
    assert (outcome.text, outcome.finish, outcome.retries) == ("One two", None, [])
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.OVERLOADED
    assert "has trouble answering: The engine is overloaded" in outcome.error.message
    assert len(server.requests) == 1


@every_format
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", "text/plain"])
async def test_an_error_in_a_success_before_any_text_is_tried_again(
    provider: str, frame: str, content_type: str, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies += [Reply(FRAMES[frame] % ERRORS[provider], content_type=content_type), whole(provider)]
    outcome = await collect(make_provider(provider, key="sk-case").stream(ask()))
    assert (outcome.text, outcome.error, len(outcome.retries)) == ("One two", None, 1)


@every_format
@pytest.mark.parametrize("ending", [Ending.CUT, Ending.WHOLE])
async def test_an_answer_that_just_ends_is_cut(
    provider: str, ending: Ending, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(PIECES[provider], ending=ending))
    outcome = await collect(make_provider(provider, key="sk-case").stream(ask()))
    assert (outcome.text, outcome.finish) == ("One two", None)
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.STREAM_CUT
    assert "continue" in outcome.error.hint


@every_format
async def test_a_damaged_piece_ends_the_answer(provider: str, server: RawServer, make_provider: MakeProvider) -> None:
    damaged = PIECES[provider].replace(b"]}", b"", 1).replace(b'"}}', b'"}', 1)
    assert damaged != PIECES[provider]
    server.replies.append(Reply(PIECES[provider] + damaged + ENDS[provider]))
    outcome = await collect(make_provider(provider, key="sk-case").stream(ask()))
    assert outcome.text == "One two"
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_ANSWER
    assert "sent a damaged piece" in outcome.error.message


@every_format
@pytest.mark.parametrize("is_inside", [False, True], ids=["before the answer", "inside the answer"])
async def test_silence_is_given_up_after_the_time_that_is_set(
    provider: str, is_inside: bool, server: RawServer, make_provider: MakeProvider
) -> None:
    body = PIECES[provider] if is_inside else b""
    server.replies += [Reply(body, ending=Ending.STALL)] * 2
    outcome = await collect(make_provider(provider, key="sk-case", timeout_s=0.05).stream(ask()))
    assert outcome.text == ("One two" if is_inside else "")
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.TIMEOUT
    assert "sent nothing for 0.05 s" in outcome.error.message
    assert "allow it more time in Settings" in outcome.error.hint
    assert len(server.requests) == 1


@every_format
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/octet-stream", ""])
async def test_a_stream_under_another_content_type_is_read(
    provider: str, content_type: str, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(replace(whole(provider), content_type=content_type))
    outcome = await collect(make_provider(provider, key="sk-case").stream(ask()))
    assert (outcome.text, outcome.finish, outcome.error) == ("One two", FinishReason.STOP, None)


@every_format
@pytest.mark.parametrize("content_type", ["text/html", "text/event-stream"])
async def test_a_page_in_place_of_an_answer_is_named(
    provider: str, content_type: str, server: RawServer, make_provider: MakeProvider
) -> None:
    page = b"<!doctype html>\n<html><head><title>Sign in</title></head><body>Welcome</body></html>"
    server.replies.append(Reply(page, content_type=content_type))
    outcome = await collect(make_provider(provider, key="sk-case").stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_ANSWER
    assert "answered with a web page: Sign in" in outcome.error.message
    assert "base URL" in outcome.error.hint
