"""The child process that runs the model; nobody else imports the runtime. Ends when its standard input closes.

Reads one line of JSON (`{"model", "alias", "port", "key", "threads", "context"}`), answers one line with the port.
The runtime's defaults are open to other pages and programs; all of them are closed here.
"""

import json
import os
import sys


def main() -> None:
    """Load the model, say where it answers, and wait for the parent to go away."""
    import xllamacpp  # type: ignore[import-not-found,unused-ignore]  # only on this process's path

    order = json.loads(sys.stdin.readline())
    parameters = xllamacpp.CommonParams()
    parameters.model.path = order["model"]
    parameters.model_alias = {order["alias"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = order["port"]
    parameters.api_keys = [order["key"]]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.cors_origins = "http://127.0.0.1:1"
    parameters.cors_credentials = False
    parameters.cpuparams.n_threads = order["threads"]
    parameters.n_ctx = order["context"]
    server = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"address": str(server.listening_address)}) + "\n")
    sys.stdout.flush()
    while sys.stdin.readline():
        pass
    # The runtime's own teardown hangs now and then; nothing here is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    main()
