"""The beginning of a request stays the same, byte for byte, from step to step and turn to turn: caches live on it."""

import json
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from skales.core.json import JsonObject, as_list, as_object
from skales.core.message import FilePart
from skales.core.ports import ChatRequest, Finished, FinishReason, NativeBlocks, TextPiece
from skales.data.session_compactions import Compaction
from skales.providers.catalog import find_entry
from skales.providers.formats import anthropic_request, google_request, openai_request
from tests.journeys.conftest import OpenApp, collect, run_turn
from tests.scripted import Piece, ScriptedProvider, calls, says

pytestmark = pytest.mark.anyio

Build = Callable[[ChatRequest], JsonObject]
NATIVE = NativeBlocks(
    "anthropic", ({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": "Ja."})
)
FORMATS: dict[str, tuple[Build, str]] = {
    "openai": (lambda request: openai_request.build_body(find_entry("openai"), request, frozenset()), "messages"),
    "anthropic": (
        lambda request: anthropic_request.build_body(find_entry("anthropic"), request, frozenset()),
        "messages",
    ),
    "google": (lambda request: google_request.build_body(request, frozenset()), "contents"),
}


def unmarked(value: object) -> object:
    """Without Anthropic's marks, which wander: they say where to look, and are no part of what is compared there."""
    match value:
        case dict():
            return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
        case list():
            return [unmarked(item) for item in value]
        case _:
            return value


async def record(open_scripted: OpenApp, *, mark: bool) -> Sequence[ChatRequest]:
    """The requests of a conversation with files, tools in several steps, thinking, a failed call."""
    steps: Sequence[Sequence[Piece]] = [
        says("Grüße."),
        calls(("list_directory", {"path": "."}), ("read_file", {"path": "gone.txt"}), text="I look."),
        calls(("list_directory", {"path": "sub"})),
        [NATIVE, TextPiece("Ja."), Finished(FinishReason.STOP)],
        says("Done."),
    ]
    provider = ScriptedProvider(steps, window_tokens=200_000)
    async with open_scripted(provider=provider) as app:
        session_id, _ = await run_turn(app, "Hello")
        ticket = await app.turns.start(session_id, "Look", [FilePart("a.txt", "text/plain", 3, "abc")])
        await collect(app, session_id, ticket.after)
        if mark:
            provider.requests.clear()
            app.sessions.add_compaction(session_id, Compaction(up_to=2, summary="They said hello."))
        await run_turn(app, "And now?", session_id)
        await run_turn(app, "And then?", session_id)
    return provider.requests


@pytest.mark.parametrize("summarised", [False, True])
@pytest.mark.parametrize("name", FORMATS)
async def test_each_request_begins_with_the_one_before(open_scripted: OpenApp, name: str, summarised: bool) -> None:
    build, history = FORMATS[name]
    requests = await record(open_scripted, mark=summarised)
    bodies = [as_object(json.loads(json.dumps(unmarked(build(request))))) for request in requests]
    assert len(bodies) >= 2
    for earlier, later in pairwise(bodies):
        told, now = as_list(earlier[history]), as_list(later[history])
        assert json.dumps(now[: len(told)]) == json.dumps(told)
        assert len(now) > len(told)
        assert list(earlier) == list(later)
        rest = [{key: value for key, value in body.items() if key != history} for body in (earlier, later)]
        assert json.dumps(rest[0]) == json.dumps(rest[1])


async def test_anthropic_is_given_at_most_four_marks_and_one_of_the_turn_before(open_scripted: OpenApp) -> None:
    requests = await record(open_scripted, mark=False)
    build, _history = FORMATS["anthropic"]
    for request in requests:
        assert 2 <= json.dumps(build(request)).count('"cache_control"') <= 4
