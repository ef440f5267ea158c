"""The real child with a stand-in for the runtime: what it asks of it, which port it takes, how it says no."""

import http.client
import json
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from skales.core.errors import ConfigurationError
from skales.localmodels.child_process import ServeOrder, build_command
from skales.localmodels.runtime import Launcher, LocalAddress, ModelRunner
from tests.conftest import FixedClock
from tests.localmodels.conftest import HERE, ignore
from tests.localmodels.test_runtime import ORDER


class Runs:
    """Starts the real child over a folder that holds a runtime."""

    def __init__(self, runner: ModelRunner, folder: Path) -> None:
        self.runner = runner
        self.log = folder / "log.txt"
        self.model = folder / "model.gguf"
        self.model.write_bytes(b"GGUF fine")
        self.order = replace(ORDER, model_path=str(self.model), ports=())

    async def start(self, order: ServeOrder, runtime: Path = HERE / "fake_runtime") -> LocalAddress:
        command, environment = build_command(runtime)
        return await self.runner.ensure(Launcher(command=command, environment=environment, log=self.log), order, ignore)


@pytest.fixture
def runs(clock: FixedClock, tmp_path: Path) -> Runs:
    return Runs(ModelRunner(clock), tmp_path)


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_of(address: LocalAddress) -> int:
    port = urlsplit(address.base_url).port
    assert port is not None
    return port


def read_params(address: LocalAddress) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(address), timeout=5)
    try:
        connection.request("GET", "/params", headers={"Authorization": f"Bearer {address.api_key}"})
        params: dict[str, Any] = json.loads(connection.getresponse().read())
        return params
    finally:
        connection.close()


@pytest.mark.anyio
async def test_the_runtime_is_closed_to_everybody_else(runs: Runs) -> None:
    try:
        params = await anyio.to_thread.run_sync(read_params, await runs.start(runs.order))
        assert params["hostnames"] == ["127.0.0.1"]
        assert params["api_keys"] == ["secret-key"]
        assert not any(params[name] for name in ("ui", "endpoint_slots", "endpoint_props", "endpoint_metrics"))
        assert (params["cors_origins"], params["cors_credentials"]) == ("https://nobody.invalid", False)
        assert params["model_alias"] == ["a"]
    finally:
        await runs.runner.stop()


@pytest.mark.anyio
async def test_settings_reach_the_runtime_and_the_real_window_comes_back(runs: Runs) -> None:
    order = replace(runs.order, threads=3, gpu_layers=7, chat_template="{{ x }}", idle_s=60)
    try:
        address = await runs.start(order)
        params = await anyio.to_thread.run_sync(read_params, address)
        assert params["cpuparams"] == params["cpuparams_batch"] == {"n_threads": 3}
        assert params["sampling"] == {"temp": 0.2, "top_p": 0.95, "penalty_repeat": 1.05}
        assert (params["n_gpu_layers"], params["chat_template"], params["sleep_idle_seconds"]) == (7, "{{ x }}", 60)
        assert params["n_ctx"] == 8192
        assert address.context_tokens == 4096
    finally:
        await runs.runner.stop()


@pytest.mark.anyio
async def test_the_first_free_port_is_taken(runs: Runs, taken: int) -> None:
    free = free_port()
    try:
        address = await runs.start(replace(runs.order, ports=(taken, free)))
        assert port_of(address) == free
    finally:
        await runs.runner.stop()


@pytest.mark.anyio
async def test_the_system_chooses_when_every_port_is_taken(runs: Runs, taken: int) -> None:
    try:
        address = await runs.start(replace(runs.order, ports=(taken,)))
        assert port_of(address) not in (taken, 0)
    finally:
        await runs.runner.stop()


@pytest.mark.anyio
@pytest.mark.parametrize("ports", [(), (0,)])
async def test_a_model_the_runtime_cannot_load_is_told_apart_from_a_port(runs: Runs, ports: Sequence[int]) -> None:
    runs.model.write_bytes(b"GGUF broken")
    with pytest.raises(ConfigurationError) as caught:
        await runs.start(replace(runs.order, ports=ports or (free_port(),)))
    assert caught.value.code == "bad_model"


@pytest.mark.anyio
async def test_a_runtime_that_cannot_be_imported_is_named(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be loaded") as caught:
        await runs.start(runs.order, runtime=tmp_path)
    assert caught.value.code == "no_runtime"
