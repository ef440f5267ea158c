"""A child that behaves as FAKE_CHILD says: serves, hangs, dies or refuses. Ends when its standard input closes.

Each start adds a line to the file FAKE_CHILD_STARTS.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    order = json.loads(sys.stdin.readline())
    starts = Path(os.environ["FAKE_CHILD_STARTS"])
    with starts.open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    count = len(starts.read_text(encoding="utf-8").splitlines())
    mode = os.environ["FAKE_CHILD"]
    sys.stderr.write(f"start {count} of {order['model_id']}\n")
    sys.stderr.flush()
    threading.Thread(target=follow, daemon=True).start()
    if mode == "die" or (mode == "die_once" and count == 1):
        sys.stderr.write("out of memory\n")
        sys.exit(1)
    if mode == "refuse":
        say({"error": "bad_model", "words": "no"})
        sys.exit(1)
    if mode == "hang":
        time.sleep(600)
    if mode == "deaf":
        say({"address": "http://127.0.0.1:9", "context_tokens": 1})
        time.sleep(600)
    serve(order["api_key"])


def follow() -> None:
    sys.stdin.read()
    os._exit(0)


def serve(api_key: str) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.headers["Authorization"] == f"Bearer {api_key}" else 401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write("some words of the runtime\n")
    say({"address": f"http://127.0.0.1:{server.server_address[1]}", "context_tokens": 2048})
    server.serve_forever()


def say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
