"""`skales stop`: says what to stop, and does nothing where nothing runs."""

import asyncio
import json

import pytest

from skales.cli.commands.stop import kill
from skales.cli.inprocess import open_inprocess
from skales.cli.main import main
from skales.data.paths import DataDirectory


@pytest.fixture(autouse=True)
def here(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("arguments", [[], ["session_1", "--all"]])
def test_what_is_to_be_stopped_must_be_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stop", *arguments]) == 1
    assert "skales stop --all" in capsys.readouterr().err


def test_without_a_server_nothing_is_stopped_or_paused(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stop", "--all"]) == 0
    assert "No Skales runs here" in capsys.readouterr().out
    assert main(["stop", "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"running": False}
    assert not home.settings.exists()


def test_the_switch_says_what_ran_and_how_to_go_on(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    async def use() -> None:
        async with open_inprocess() as backend:
            await kill(backend)

    asyncio.run(use())
    said = capsys.readouterr()
    assert "Conversations: 0, tools: 0, programs in the background: 0" in said.out
    (note,) = home.incidents.glob("*.md")
    assert note.name in said.err
    assert "automationPaused false" in said.err
