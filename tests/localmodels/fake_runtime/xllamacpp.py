"""Stands in for the runtime: takes its parameters, refuses what it refuses, and serves over HTTP.

`/params` tells what the child asked for.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace


class CommonParams:
    def __init__(self) -> None:
        self.model = SimpleNamespace(path="")
        self.cpuparams = SimpleNamespace(n_threads=0)
        self.cpuparams_batch = SimpleNamespace(n_threads=0)
        self.sampling = SimpleNamespace(temp=0.8, top_p=0.95, penalty_repeat=1.0)
        self.ui = self.endpoint_slots = self.cors_credentials = True
        self.endpoint_props = self.endpoint_metrics = False
        self.cors_origins = "*"
        self.hostnames = ["0.0.0.0"]
        self.api_keys: list[str] = []
        self.port = 0
        self.n_ctx = 0


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class Server:
    def __init__(self, params: CommonParams) -> None:
        if b"broken" in Path(params.model.path).read_bytes():
            raise RuntimeError("Failed to init server, please check the input params.")
        try:
            self._server = _QuietServer((params.hostnames[0], params.port), _handler(params))
        except OSError as error:
            raise RuntimeError("Failed to init server, please check the input params.") from error
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{self._server.server_address[1]}"


def _plain(value: object) -> object:
    if isinstance(value, SimpleNamespace):
        return vars(value)
    return sorted(value) if isinstance(value, set) else value


def _handler(params: CommonParams) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers["Authorization"] != f"Bearer {params.api_keys[0]}":
                self.send_error(401)
                return
            body = {
                "/v1/models": {"data": []},
                "/props": {"default_generation_settings": {"n_ctx": min(params.n_ctx, 4096)}},
                "/params": {name: _plain(value) for name, value in vars(params).items()},
            }[self.path]
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
