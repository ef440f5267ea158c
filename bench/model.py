"""A scripted OpenAI-compatible model that answers at once: what lies between two lines of its log is the asker's time.

    python -m bench.model PORT

The last user message is the script: `TOKENS:500` makes the answer that long (default 200), `TOOLS:3` asks for three
calls of `read_file` first, one after another. `GET /log` gives the record of each request since the last time.
Written on bare sockets, so that it takes as little of the shared cores as possible.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from time import monotonic_ns
from typing import Any

_WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n%s\r\n\r\n"
_STREAM = _HEAD % (b"text/event-stream", b"transfer-encoding: chunked")
_CHUNK = {"id": "bench", "object": "chat.completion.chunk", "created": 0, "model": "bench"}
_LOG: list[dict[str, Any]] = []
_PARAGRAPH_WORDS = 60
_TOKENS = 200


async def answer_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer requests until the client leaves."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            arrival_ns = monotonic_ns()
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            raw = await reader.readexactly(int(length.group(1)) if length else 0)
            if head.startswith(b"POST"):
                await _answer(writer, raw, arrival_ns)
            else:
                _answer_json(writer, _take_log() if head.startswith(b"GET /log") else {"data": [{"id": "bench"}]})
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _answer(writer: asyncio.StreamWriter, raw: bytes, arrival_ns: int) -> None:
    body = json.loads(raw)
    tools = body.get("tools") or []
    record = {
        "arrival_ns": arrival_ns,
        "bytes": len(raw),
        "tools": len(tools),
        "tool_bytes": len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()) if tools else 0,
    }
    if "messages" in body and not body.get("stream"):
        _answer_json(writer, _whole(body["messages"]))
        _LOG.append({**record, "last_ns": monotonic_ns()})
        return
    writer.write(_STREAM)
    for event in _events(body["messages"]) if "messages" in body else _response_events():
        data = b"data: " + event + b"\n\n"
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))  # one write for each event, as real servers do
        if writer.transport.get_write_buffer_size():
            await writer.drain()
    writer.write(b"0\r\n\r\n")
    _LOG.append({**record, "last_ns": monotonic_ns()})


def _response_events() -> Iterator[bytes]:
    """The same answer where the newer API of OpenAI is spoken, which codex asks by."""
    words = [f"{_WORDS[number % len(_WORDS)]} " for number in range(_TOKENS)]
    item = {"type": "message", "id": "message", "role": "assistant"}
    text = {"type": "output_text", "text": "".join(words), "annotations": []}
    usage = {"input_tokens": 1, "output_tokens": _TOKENS, "total_tokens": _TOKENS + 1}
    for event in (
        {"type": "response.created", "response": {"id": "bench"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        *({"type": "response.output_text.delta", "item_id": "message", "delta": word} for word in words),
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "content": [text]}},
        {"type": "response.completed", "response": {"id": "bench", "usage": usage}},
    ):
        yield json.dumps(event).encode()


def _whole(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A short answer at once: peers ask so for titles and the like."""
    message = {"role": "assistant", "content": " ".join(_WORDS)}
    usage = {"prompt_tokens": len(messages), "completion_tokens": len(_WORDS), "total_tokens": 1}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_CHUNK, "object": "chat.completion", "choices": [choice], "usage": usage}


def _events(messages: list[dict[str, Any]]) -> Iterator[bytes]:
    asked = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=0)
    script = str(messages[asked]["content"])
    done = sum(1 for message in messages[asked:] if message["role"] == "tool")
    if done < _number(script, "TOOLS", 0):
        yield _call(done)
        yield _chunk({}, "tool_calls")
    else:
        yield _chunk({"role": "assistant", "content": ""})
        for number in range(1, _number(script, "TOKENS", _TOKENS) + 1):
            end = ".\n\n" if number % _PARAGRAPH_WORDS == 0 else " "
            yield _chunk({"content": _WORDS[number % len(_WORDS)] + end})
        yield _chunk({}, "stop")
    yield b"[DONE]"


def _call(number: int) -> bytes:
    # Each call differs, so that guards against going in circles stay quiet.
    arguments = json.dumps({"path": "notes.txt", "start": number + 1})
    function = {"name": "read_file", "arguments": arguments}
    call = {"index": 0, "id": f"call_{monotonic_ns()}", "type": "function", "function": function}
    return _chunk({"tool_calls": [call]})


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return json.dumps({**_CHUNK, "choices": [choice]}).encode()


def _number(script: str, name: str, default: int) -> int:
    found = re.search(rf"\b{name}:(\d+)", script)
    return int(found.group(1)) if found else default


def _take_log() -> list[dict[str, Any]]:
    taken = list(_LOG)
    _LOG.clear()
    return taken


def _answer_json(writer: asyncio.StreamWriter, value: object) -> None:
    body = json.dumps(value).encode()
    writer.write(_HEAD % (b"application/json", b"content-length: %d" % len(body)) + body)


async def _serve(port: int) -> None:
    server = await asyncio.start_server(answer_connection, "127.0.0.1", port, limit=1 << 26)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
