"""Surfaces attach to a session's stream at any number and miss nothing."""

from contextlib import aclosing

import anyio
import pytest

from skales.agent.feed import Feed
from skales.core.events import AnswerSaved, NumberedEvent, TextDelta, TurnEnd, TurnEnded, TurnEvent, TurnStarted
from skales.core.ids import SessionId, TurnId
from skales.core.message import Usage

pytestmark = pytest.mark.anyio

STARTED = TurnStarted(TurnId("t"), SessionId("s"), "hi", "p", "m")
ENDED = TurnEnded(TurnEnd.COMPLETED, Usage(), 1)


async def take(feed: Feed, after: int, count: int) -> list[NumberedEvent]:
    found: list[NumberedEvent] = []
    with anyio.fail_after(5):
        async with aclosing(feed.events(after)) as events:
            while len(found) < count:
                found.append(await anext(events))
    return found


async def test_a_late_surface_gets_everything_after_its_number() -> None:
    feed = Feed()
    for event in (STARTED, TextDelta("a"), TextDelta("b")):
        feed.publish(event)
    assert [numbered.number for numbered in await take(feed, 1, 2)] == [2, 3]


async def test_a_waiting_surface_is_woken_by_each_event() -> None:
    feed = Feed()
    found: list[TurnEvent] = []

    async def listen() -> None:
        found.extend(numbered.event for numbered in await take(feed, 0, 3))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            for event in (STARTED, TextDelta("a"), ENDED):
                await anyio.wait_all_tasks_blocked()
                feed.publish(event)
    assert found == [STARTED, TextDelta("a"), ENDED]


async def test_the_saved_number_follows_what_is_on_disk() -> None:
    feed = Feed()
    feed.publish(STARTED)
    feed.publish(TextDelta("a"))
    assert feed.saved_number == 1
    feed.publish(AnswerSaved("a"))
    assert feed.saved_number == 3


async def test_a_new_turn_forgets_what_pages_read_from_disk_but_not_how_the_last_one_ended() -> None:
    feed = Feed()
    for event in (STARTED, TextDelta("a"), AnswerSaved("a"), ENDED, STARTED):
        feed.publish(event)
    assert [numbered.number for numbered in await take(feed, 0, 2)] == [4, 5]


async def test_a_surface_with_a_number_from_before_waits_without_spinning() -> None:
    feed = Feed(floor=40)
    with anyio.move_on_after(0.05) as waited:
        await take(feed, 0, 1)
    assert waited.cancelled_caught


async def test_closing_ends_every_stream_after_what_was_published() -> None:
    feed = Feed()
    feed.publish(STARTED)
    feed.close()
    with anyio.fail_after(5):
        assert [numbered.number async for numbered in feed.events(0)] == [1]


async def test_numbers_go_on_above_the_floor() -> None:
    feed = Feed(floor=40)
    feed.publish(STARTED)
    assert (feed.last_number, feed.saved_number) == (41, 41)
    assert not feed.listened
