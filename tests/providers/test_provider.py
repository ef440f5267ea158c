import json
from pathlib import Path

import pytest

from tests.conftest import CASES
from tests.providers.conftest import MakeProvider, ask, collect
from tests.servers.raw_sse import RawServer, Reply

PROVIDER_CASES = CASES / "providers"


@pytest.mark.anyio
@pytest.mark.parametrize("piece_bytes", [0, 1, 7])
@pytest.mark.parametrize("case", ["PRV-01-no-index", "PRV-02-same-index", "PRV-03-framing"])
async def test_a_recorded_stream_comes_out_whole(
    case: str, piece_bytes: int, server: RawServer, make_provider: MakeProvider
) -> None:
    expected = json.loads((PROVIDER_CASES / f"{case}.expected.json").read_text(encoding="utf-8"))
    server.replies.append(Reply((PROVIDER_CASES / f"{case}.sse").read_bytes(), piece_bytes=piece_bytes))

    outcome = await collect(make_provider().stream(ask()))

    assert outcome.error is None
    assert outcome.text == expected["text"]
    assert outcome.finish == expected["finish"]
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in outcome.calls]
    assert calls == expected["calls"]
