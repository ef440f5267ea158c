"""kill -9 at random moments: nothing that was said is lost, no file is torn, nothing runs twice."""

import contextlib
import os
import random
import threading
import time

import httpx2
import pytest

from skales.data.paths import DataDirectory
from tests.process.conftest import Served, sessions_on_disk, start_server

# The full fifty take a few minutes; SKALES_TEST_KILLS=50 runs them.
KILLS = int(os.environ.get("SKALES_TEST_KILLS", "6"))

# A start takes some seconds on a busy machine.
_LIMIT_S = 60 + 10 * KILLS


@pytest.mark.timeout(_LIMIT_S)
def test_killed_turns_lose_nothing_that_was_said(ready_home: DataDirectory) -> None:
    moments = random.Random(7)
    (ready_home.workspace / "log.txt").write_text("", encoding="utf-8")
    settings = ready_home.settings.read_text(encoding="utf-8")
    ready_home.settings.write_text(settings.replace("{", '{"safetyMode": "advanced",', 1), encoding="utf-8")
    session_id = ""
    said: list[str] = []
    for number in range(KILLS):
        served = start_server(ready_home)
        session_id = session_id or _new_session(served)
        call = f'call append_file {{"path": "log.txt", "text": "line {number}.\\n"}}'
        text = call if number % 2 else f"word {number} " * 40
        sender = threading.Thread(target=_send, args=(served, session_id, text))
        sender.start()
        time.sleep(0.02 + moments.random() * 0.4)
        served.kill()
        sender.join()
        said.append(text)
    _check(ready_home, said)
    served = start_server(ready_home)
    assert "You said: still there?" in _send(served, session_id, "still there?")
    assert served.stop() == 0


def _check(home: DataDirectory, said: list[str]) -> None:
    assert not home.quarantine.exists()
    (session,) = sessions_on_disk(home.sessions)
    messages = session["messages"]
    assert isinstance(messages, list)
    heard = [message["content"] for message in messages if message["role"] == "user"]
    # Killed before the server took the message, the client knows that it was not taken; no other may be missing.
    assert [text for text in said if text in heard] == heard
    written = (home.workspace / "log.txt").read_text(encoding="utf-8").splitlines()
    assert len(written) == len(set(written))
    succeeded = [message for message in messages if message["role"] == "tool" and not message.get("is_error")]
    assert len(succeeded) <= len(written)


def _new_session(served: Served) -> str:
    answer = httpx2.post(f"{served.url}/api/sessions", headers=dict(served.headers), trust_env=False)
    return str(answer.json()["id"])


def _send(served: Served, session_id: str, text: str) -> str:
    """What came of it, as far as the connection lived."""
    collected = ""
    with (
        contextlib.suppress(httpx2.HTTPError),
        httpx2.stream(
            "POST",
            f"{served.url}/api/cli/chat",
            json={"message": text, "sessionId": session_id},
            headers=dict(served.headers),
            trust_env=False,
            timeout=20,
        ) as answer,
    ):
        for piece in answer.iter_text():
            collected += piece
    return collected
