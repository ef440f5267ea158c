"""Plays each `openai_responses/*.toml`, whole and byte by byte; see `player`."""

import pytest

from skales.providers.clients import SharedClients
from tests.servers.raw_sse import RawServer
from tests.wire.player import expected, load_cases, play

CASES = load_cases("openai_responses")


@pytest.mark.anyio
@pytest.mark.parametrize("piece_bytes", [0, 1], ids=["whole", "bytes"])
@pytest.mark.parametrize("name", CASES)
async def test_the_answer_comes_out_as_meant(
    name: str, piece_bytes: int, server: RawServer, clients: SharedClients
) -> None:
    assert await play(CASES[name], "openai_oauth", piece_bytes, server, clients) == expected(CASES[name]["expect"])
