"""A web server that gives out fixed bytes by path and writes down whatever it is asked, bodies included."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

_KINDS = {"html": "text/html; charset=utf-8", "json": "application/json", "csv": "text/csv", "txt": "text/plain"}


class Site:
    """`requests` holds `METHOD path body` of each request; a path that is not there answers 404."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.requests: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._build_responder())
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def _build_responder(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Responder(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                site.requests.append(f"{self.command} {self.path} {body.decode(errors='replace')} {self.headers}")
                path = self.path.partition("?")[0]
                found = site.pages.get(path)
                answer = b"not here" if found is None else found
                self.send_response(404 if found is None else 200)
                self.send_header("Content-Type", _KINDS.get(path.rpartition(".")[2], "application/octet-stream"))
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_POST = do_PUT = do_GET  # noqa: N815 - the names the server looks for

            def log_message(self, format: str, *args: object) -> None:
                """Tests read `requests`, not logs."""

        return Responder
