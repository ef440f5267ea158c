"""The process that runs a model: `python -m skales.localmodels.child`, with the unpacked runtime on PYTHONPATH.

Reads one JSON line on standard input, serves, and writes one JSON line on standard output: where, or why not. It ends
when standard input closes, so that it never outlives the program that started it. Not for use by hand.

It leaves by `os._exit`: tearing the runtime down inside Python hung in one of five runs.
"""

import contextlib
import importlib
import json
import os
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.request import ProxyHandler, Request, build_opener

# The page may not be read by other sites: an origin that no browser page can have.
_NO_ORIGIN = "https://nobody.invalid"
_PROPS_TIMEOUT_S = 10.0
_CACHE_MIB = 256  # of prompts seen; llama.cpp's own default is 8 GiB
_MAX_ANSWER_TOKENS = 4096  # when the request sets no limit: a weak model that repeats itself never stops


def main() -> None:
    """Serve until standard input closes."""
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        runtime = importlib.import_module("xllamacpp")
    except ImportError as error:
        _fail("no_runtime", str(error))
    server, address = _serve(runtime, order)
    _say({"address": address, "context_tokens": _read_context(address, order["api_key"])})
    threading.Event().wait()
    del server  # kept alive until here


def _follow_parent() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


def _serve(runtime: Any, order: Mapping[str, Any]) -> tuple[Any, str]:
    """The running server and its address, on the first port that is free; at last on one the system chooses."""
    for port in filter(_is_free, order["ports"]):
        try:
            server = runtime.Server(_build_params(runtime, order, port))
        except RuntimeError as error:
            # One error for everything: when the port is still free, it was the model.
            if _is_free(port):
                _fail("bad_model", str(error))
        else:
            return server, str(server.listening_address)
    try:
        server = runtime.Server(_build_params(runtime, order, 0))
    except RuntimeError as error:
        _fail("bad_model", str(error))
    return server, str(server.listening_address)


def _build_params(runtime: Any, order: Mapping[str, Any], port: int) -> Any:
    params = runtime.CommonParams()
    params.model.path = order["model_path"]
    params.model_alias = {order["model_id"]}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.api_keys = [order["api_key"]]
    # Its defaults are open; nothing but chat is wanted.
    params.ui = False
    params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    params.cors_origins = _NO_ORIGIN
    params.cors_credentials = False
    params.offline = True
    params.cache_ram_mib = _CACHE_MIB
    params.n_ctx = order["context_tokens"]
    params.n_predict = _MAX_ANSWER_TOKENS
    params.n_gpu_layers = order["gpu_layers"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    params.sleep_idle_seconds = order["idle_s"]
    params.sampling.temp = order["temperature"]
    params.sampling.top_p = order["top_p"]
    params.sampling.penalty_repeat = order["repeat_penalty"]
    if order["chat_template"]:
        params.chat_template = order["chat_template"]
    return params


def _is_free(port: int) -> bool:
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        if sys.platform != "win32":  # a port that was just given up is free; on Windows the option means another thing
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _read_context(address: str, api_key: str) -> int:
    """The window the model really got; models may have less than was asked for."""
    request = Request(f"{address}/props", headers={"Authorization": f"Bearer {api_key}"})  # noqa: S310 - our own server
    with build_opener(ProxyHandler({})).open(request, timeout=_PROPS_TIMEOUT_S) as response:
        settings = json.load(response)["default_generation_settings"]
    return int(settings["n_ctx"])


def _say(answer: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _fail(reason: str, words: str) -> NoReturn:
    _say({"error": reason, "words": words})
    os._exit(1)


if __name__ == "__main__":
    main()
