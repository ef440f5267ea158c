"""Every recorded answer once more, damaged: cut anywhere, or with a value of another kind anywhere.

Whatever an endpoint sends, the answer ends as it should or with a ProviderError, and no call of a broken answer is
handed out. Where the damage is depends on nothing but the name of the case.
"""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from skales.core.errors import ProviderError
from skales.core.ports import CallReady, Finished, ProviderEvent
from skales.providers.faults import Peer
from skales.providers.formats.anthropic import AnthropicFormat
from skales.providers.formats.google import GoogleFormat
from skales.providers.formats.openai import OpenAIFormat
from skales.providers.formats.openai_responses import ResponsesFormat
from skales.providers.formats.wire import AnswerContext, WireFormat
from skales.providers.sse import EventStreamParser
from tests.conftest import CountingIds, FixedClock
from tests.wire.player import Case, build_request, load_cases

WIRES: Mapping[str, WireFormat] = {
    "openai": OpenAIFormat(),
    "openai_responses": ResponsesFormat(),
    "anthropic": AnthropicFormat(),
    "google": GoogleFormat(),
}
CASES = {(wire, name): case for wire in WIRES for name, case in load_cases(wire).items()}
TRIES = 12
# Values of every kind; each place of an answer may hold any of them.
OTHERS: tuple[Any, ...] = (None, 0, -1, 1.5, True, "x", "", [], {}, [1], [None], {"a": 1}, "\ud800", 10**30, [[]])


def read(wire: str, case: Case, body: bytes) -> list[ProviderEvent]:
    """What comes of a body before it ends or fails; raises nothing for what an endpoint may send."""
    context = AnswerContext(
        request=build_request(case),
        peer=Peer(label="Home", address="http://home"),
        ids=CountingIds(),
        now_ms=FixedClock().now_ms,
    )
    reader = WIRES[wire].open_reader(context)
    parser = EventStreamParser()
    found: list[ProviderEvent] = []
    try:
        for event in parser.feed(body):
            if reader.is_done:
                break
            found += reader.feed(event)
        found += reader.finish(parser.finish(), parser.stray)
    except ProviderError:
        found += reader.flush()
    return found


def cut(answer: str, dice: random.Random) -> Iterator[bytes]:
    body = answer.encode("utf-8")
    for _ in range(TRIES):
        yield body[: dice.randrange(len(body) + 1)]


def exchange(answer: str, dice: random.Random) -> Iterator[bytes]:
    """The answer with another value at one place of one event."""
    lines = answer.split("\n")
    places = [index for index, line in enumerate(lines) if line.startswith("data: {") and _is_json(line[6:])]
    for _ in range(TRIES if places else 0):
        place = dice.choice(places)
        changed = json.loads(lines[place][6:])
        holder, key = dice.choice(list(_slots(changed)) or [({}, "")])
        holder[key] = dice.choice(OTHERS)
        yield "\n".join([*lines[:place], f"data: {json.dumps(changed)}", *lines[place + 1 :]]).encode()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from _slots(value[key])


@pytest.mark.parametrize("damage", [cut, exchange])
@pytest.mark.parametrize(("wire", "name"), CASES)
def test_a_damaged_answer_ends_or_fails_and_never_does_both(wire: str, name: str, damage: Any) -> None:
    case = CASES[wire, name]
    dice = random.Random(f"{wire} {name}")
    for body in damage(case["answer"], dice):
        events = read(wire, case, body)
        ends = [index for index, event in enumerate(events) if isinstance(event, Finished)]
        assert ends in ([], [len(events) - 1])
        assert ends or not any(isinstance(event, CallReady) for event in events)
