"""The bare limit of a one-shot chat: one streamed answer with httpx2 and nothing around it.

python -m bench.raw_turn MODEL_URL TEXT
"""

import json
import sys

import httpx2

_REQUEST = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": sys.argv[2]}]}

if __name__ == "__main__":
    with (
        httpx2.Client(trust_env=False) as client,
        client.stream("POST", f"{sys.argv[1]}/chat/completions", json=_REQUEST) as response,
    ):
        for line in response.iter_lines():
            if line.startswith("data: {"):
                print(json.loads(line[6:])["choices"][0]["delta"].get("content") or "", end="")
