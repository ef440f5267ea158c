"""A whole turn against endpoints that fail, in all three formats: what stays, what a person reads, how it goes on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from skales.app.app import App
from skales.core.events import TurnEnd
from skales.core.message import Role
from tests.journeys.conftest import OpenApp, collect, end_of, run_turn
from tests.providers.test_error_injection import ENDS, ERRORS, FORMATS, PIECES
from tests.servers.raw_sse import Ending, RawServer, Reply, json_reply

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("provider", FORMATS)]


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


def choose(app: App, provider: str, server: RawServer) -> None:
    app.settings.set_provider(provider, base_url=server.url, model="demo", api_key="sk-case-key", activate=True)


def last_words(provider: str, body: dict[str, Any]) -> str:
    return json.dumps(body["contents" if provider == "google" else "messages"][-1])


@pytest.mark.parametrize("fault", ["cut", "error"])
async def test_text_before_a_fault_is_kept_and_the_answer_can_be_continued(
    provider: str, fault: str, open_scripted: OpenApp, server: RawServer
) -> None:
    ending = Ending.CUT if fault == "cut" else Ending.WHOLE
    error = b"" if fault == "cut" else b"event: error\ndata: %s\n\n" % ERRORS[provider]
    server.replies += [Reply(PIECES[provider] + error, ending=ending), Reply(PIECES[provider] + ENDS[provider])]
    async with open_scripted(real_models=True) as app:
        choose(app, provider, server)
        session_id, events = await run_turn(app, "Count")
        end = end_of(events)
        assert (end.end, end.code) == (TurnEnd.FAILED, "stream_cut" if fault == "cut" else "overloaded")
        assert end.error
        assert end.hint
        (kept,) = [message for message in app.sessions.load(session_id).messages if message.role is Role.ASSISTANT]
        assert (kept.text, bool(kept.incomplete)) == ("One two", True)
        ticket = await app.turns.resume(session_id)
        assert end_of(await collect(app, session_id, ticket.after)).end is TurnEnd.COMPLETED
    sent = server.requests[1].json
    assert "One two" in json.dumps(sent)
    assert '"role": "user"' in last_words(provider, sent)
    assert "(Continue.)" in last_words(provider, sent)


async def test_a_bad_key_ends_the_turn_with_the_place_to_mend_it(
    provider: str, open_scripted: OpenApp, server: RawServer
) -> None:
    server.replies.append(json_reply({"error": {"message": "invalid x-api-key", "type": "authentication_error"}}, 401))
    async with open_scripted(real_models=True) as app:
        choose(app, provider, server)
        session_id, events = await run_turn(app, "Hello")
        end = end_of(events)
        assert (end.end, end.code) == (TurnEnd.FAILED, "bad_key")
        assert "does not accept the key" in end.error
        assert end.hint
        assert [message.text for message in app.sessions.load(session_id).messages] == ["Hello"]


async def test_calls_of_an_answer_that_breaks_are_not_run(
    provider: str, open_scripted: OpenApp, server: RawServer
) -> None:
    calls = {
        "openai": b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":'
        b'{"name":"list_directory","arguments":"{\\"path\\":\\".\\"}"}}]}}]}\n\n',
        "anthropic": b'data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a",'
        b'"name":"list_directory","input":{"path":"."}}}\n\n',
        "google": b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_directory",'
        b'"args":{"path":"."}}}]},"index":0}]}\n\n',
    }
    server.replies.append(Reply(PIECES[provider] + calls[provider] + b"data: %s\n\n" % ERRORS[provider]))
    async with open_scripted(real_models=True) as app:
        choose(app, provider, server)
        session_id, events = await run_turn(app, "Look")
        assert end_of(events).end is TurnEnd.FAILED
        messages = app.sessions.load(session_id).messages
        assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT]
        assert (messages[1].text, messages[1].tool_calls) == ("One two", ())
