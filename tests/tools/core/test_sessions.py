"""search_sessions finds words in past conversations."""

import pytest

from skales.core.clock import to_datetime
from skales.core.json import as_list, as_object
from skales.core.message import Role, text_message
from skales.core.ports import CallScope
from skales.core.tool import Effect, Safety
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore
from skales.tools.registry import BuiltinToolbox
from tests.conftest import FixedClock
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> SessionStore:
    return SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)


def test_searching_conversations_is_automatic_and_reads_private_text(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("search_sessions")
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", Safety.AUTO, frozenset({Effect.READS_PRIVATE}))


async def test_conversation_is_found_by_its_words(call: Call, store: SessionStore, clock: FixedClock) -> None:
    session = store.create("Trip to Graz")
    store.append(session.id, text_message(Role.USER, "Which hotel has a garden?", timestamp_ms=1_930_000_000_000))
    store.close()
    found = await call("search_sessions", query="garden")
    today = to_datetime(clock.now_ms()).strftime("%Y-%m-%d")
    assert found.text.startswith(f"- Trip to Graz ({today}, id {session.id}): ")
    assert "garden" in found.text
    assert found.summary == "1 conversation found"
    (row,) = [as_object(row) for row in as_list(as_object(found.data)["conversations"])]
    assert (row["id"], row["title"]) == (session.id, "Trip to Graz")
    assert (await call("search_sessions", query="submarine")).data == {"conversations": []}


async def test_running_conversation_is_marked_as_such(
    toolbox: BuiltinToolbox, store: SessionStore, scope: CallScope
) -> None:
    sessions = [store.create("Garden plans") for _ in range(2)]
    store.close()
    here = CallScope(sessions[0].id, scope.call_id, scope.ask, scope.report)
    spec = toolbox.find("search_sessions")
    assert spec is not None
    found = await toolbox.run(spec, {"query": "garden", "limit": 5}, here)
    assert found.text.count("this conversation") == 1
    assert found.summary == "2 conversations found"


async def test_conversation_with_a_foreign_id_has_no_date(call: Call, home: DataDirectory) -> None:
    home.sessions.mkdir(exist_ok=True)
    (home.sessions / "imported-7.json").write_text(
        '{"id": "imported-7", "title": "Old garden", "messages": []}', encoding="utf-8"
    )
    assert (await call("search_sessions", query="garden")).text.startswith("- Old garden (id imported-7)")


async def test_nothing_found_is_no_error(call: Call) -> None:
    found = await call("search_sessions", query="submarine")
    assert (found.text, found.is_error) == ("No conversation mentions 'submarine'.", False)
