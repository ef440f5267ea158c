"""A server that answers each path with a fixed JSON value, for APIs whose requests come at the same time.

A value may be a function of the request's JSON body. What it was asked stands in `requests` as `METHOD path`.
"""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Answers = Mapping[str, Any]


class JsonSite:
    """`answers` by path; a tuple is a status and a value, a path that is not there answers 404."""

    def __init__(self, answers: Answers) -> None:
        self.answers = dict(answers)
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.hold = threading.Event()
        self.hold.set()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._build_responder())
        self._http.daemon_threads = False
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hold.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        self.hold.wait(timeout=10)
        found = self.answers.get(path, (404, {"error": "not found"}))
        if isinstance(found, Callable):  # type: ignore[arg-type]
            found = found(json.loads(body or b"null"))
        status, value = found if isinstance(found, tuple) else (200, found)
        return status, value if isinstance(value, bytes) else json.dumps(value).encode()

    def _build_responder(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Responder(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append(f"{self.command} {self.path}")
                site.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, body = site.answer(self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Responder
