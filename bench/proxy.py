"""The bare limit of an agent's server: FastAPI and uvicorn before the model, the history in SQLite, one static page.

    python -m bench.proxy PORT MODEL_URL DATABASE

It parses each event and writes its own, as whoever shows an answer must, and commits the two messages of a turn.
"""

import json
import sqlite3
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import uvicorn
from fastapi import Body, FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse

_PAGE = "<!doctype html><title>Bare page</title><p>Nothing but this line."


def create_proxy(model_url: str, database: str) -> FastAPI:
    """`GET /` the page, `POST /chat` a turn as server-sent events."""
    client = httpx2.AsyncClient(trust_env=False, timeout=60, limits=httpx2.Limits(max_connections=64))
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("CREATE TABLE IF NOT EXISTS messages (role TEXT, text TEXT)")
    app = FastAPI()

    @app.get("/")
    async def show() -> HTMLResponse:
        return HTMLResponse(_PAGE)

    @app.post("/chat")
    async def chat(body: dict[str, Any] = Body()) -> StreamingResponse:  # noqa: B008 - FastAPI's way
        return StreamingResponse(answer(body["message"]), media_type="text/event-stream")

    async def answer(message: str) -> AsyncIterator[str]:
        db.execute("INSERT INTO messages VALUES ('user', ?)", (message,))
        request = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": message}]}
        texts: list[str] = []
        async with client.stream("POST", f"{model_url}/chat/completions", json=request) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    text = json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
                    texts.append(text)
                    yield f"data: {json.dumps({'delta': text})}\n\n"
        db.execute("INSERT INTO messages VALUES ('assistant', ?)", ("".join(texts),))
        yield "data: [DONE]\n\n"

    return app


if __name__ == "__main__":
    uvicorn.run(
        create_proxy(sys.argv[2], sys.argv[3]),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="warning",
        access_log=False,
    )
