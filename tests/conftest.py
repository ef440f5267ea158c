"""Fixtures every test may use: a clock and ids that tests decide, a data directory of its own."""

import os
from pathlib import Path

import pytest

from skales.data.paths import DataDirectory

# Tests leave the key store of whoever runs them alone, also those that start a program of their own.
os.environ["SKALES_KEY_STORE"] = "file"


class FixedClock:
    """A clock that stands still until told otherwise."""

    def __init__(self, now_ms: int = 1_930_000_000_000) -> None:
        self.moment_ms = now_ms

    def now_ms(self) -> int:
        return self.moment_ms

    def monotonic_s(self) -> float:
        return self.moment_ms / 1000

    def advance(self, seconds: float) -> None:
        self.moment_ms += int(seconds * 1000)


class CountingIds:
    """Ids 0…01, 0…02, … in order."""

    def __init__(self) -> None:
        self.count = 0

    def token(self, length: int) -> str:
        self.count += 1
        return f"{self.count:0{length}x}"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def ids() -> CountingIds:
    return CountingIds()


@pytest.fixture
def home(tmp_path: Path) -> DataDirectory:
    directory = DataDirectory(tmp_path / "skales-data")
    directory.create()
    return directory


CASES = Path(__file__).parent / "cases"
