"""What the app does of itself once it is open."""

import os

import anyio
import pytest

from skales.app import app as app_module
from skales.app.life import open_app
from skales.data.paths import DataDirectory

pytestmark = pytest.mark.anyio


async def test_halves_of_files_go_after_the_start(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "_QUIET_START_S", 0)
    half = home.root / ".settings.json.0123456789ab.tmp"
    half.write_text("{", encoding="utf-8")
    os.utime(half, (1_000_000_000, 1_000_000_000))
    async with open_app(home):
        with anyio.fail_after(10):
            while half.exists():  # noqa: ASYNC110 - nobody is told of a file that goes
                await anyio.sleep(0.01)
