"""An OpenAI-compatible server that does what the last message says, for tests that start Skales as a program.

`call NAME {json}` asks for that tool; any other text is echoed word by word, with a pause between words so that a
test can interrupt. After a tool result it answers "done". It knows nothing of our code.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_PAUSE_S = 0.002


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Tests read answers, not logs."""

    def do_GET(self) -> None:
        self._start("application/json")
        self.wfile.write(json.dumps({"data": [{"id": "echo"}]}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = body["messages"][-1]
        self._start("text/event-stream")
        if last["role"] == "tool":
            self._say("done")
        elif str(last["content"]).startswith("call "):
            _, name, arguments = last["content"].split(" ", 2)
            number = len(body["messages"])
            function = {"name": name, "arguments": arguments}
            self._delta(
                {"tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}
            )
            self._end("tool_calls")
        else:
            self._say(f"You said: {last['content']}")

    def _start(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.end_headers()

    def _say(self, text: str) -> None:
        for word in text.split(" "):
            self._delta({"content": f"{word} "})
            time.sleep(_PAUSE_S)
        self._end("stop")

    def _delta(self, delta: dict[str, Any], reason: str | None = None) -> None:
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        try:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        except OSError:  # the client was killed, as some tests want
            self.close_connection = True

    def _end(self, reason: str) -> None:
        self._delta({}, reason)


class EchoModel:
    """`with EchoModel() as model:` serves at `model.url` until the block ends."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
