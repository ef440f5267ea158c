"""A running server over HTTP, with the local token that only this user can read."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Self, cast
from urllib.parse import quote

import httpx2

from skales.cli.backend import Asks
from skales.core.approval import Decision
from skales.core.errors import ConfigurationError, InputError, NotFoundError, SkalesError
from skales.core.event_json import event_from_json
from skales.core.events import ApprovalRequested, NumberedEvent, Progress
from skales.core.json import JsonObject, as_int, as_object, as_text
from skales.data.instance import Instance

# A server that is silent for longer is gone: it sends a comment line every 15 s.
_SILENCE_S = 60.0


class RemoteBackend:
    """Speaks to `server.api.local` and the routes beside it."""

    def __init__(self, instance: Instance) -> None:
        self._url = instance.url
        self._client = httpx2.AsyncClient(
            base_url=instance.url,
            headers={"authorization": f"Bearer {instance.token}"},
            timeout=httpx2.Timeout(_SILENCE_S, connect=5),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        """Nothing is sent yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self._client.aclose()

    @property
    def is_remote(self) -> bool:
        """The page can answer too."""
        return True

    async def report(self, name: str) -> JsonObject:
        """`status`, `tools`, `addons`, `model`, `sessions`, `tasks`, `cron`, `outbox` or `grants`."""
        return await self._call("GET", f"/api/{name}")

    async def preview_undo(self, wish: JsonObject) -> JsonObject:
        """What taking something back would do."""
        return await self._call("POST", "/api/undo/preview", json=wish)

    async def undo(self, wish: JsonObject) -> JsonObject:
        """Take it back."""
        return await self._call("POST", "/api/undo", json=wish)

    async def session(self, session_id: str) -> JsonObject:
        """One conversation."""
        return await self._call("GET", "/api/sessions", params={"id": session_id})

    async def delete_session(self, session_id: str) -> None:
        """Move one conversation to the trash."""
        await self._call("DELETE", "/api/sessions", params={"id": session_id})

    async def costs(self, since: str, by: str) -> JsonObject:
        """What models cost."""
        return await self._call("GET", "/api/costs", params={"since": since, "by": by})

    async def search_sessions(self, query: str, limit: int) -> JsonObject:
        """Where the words are."""
        return await self._call("GET", "/api/sessions/search", params={"q": query, "limit": limit})

    async def arrange_session(self, session_id: str, *, pinned: bool | None = None, folder: str | None = None) -> None:
        """Pin, unpin, put into a folder."""
        changes = {"pinned": pinned, "folder": folder}
        body = {name: value for name, value in changes.items() if value is not None}
        await self._call("PATCH", f"/api/sessions/{session_id}", json=body)

    async def lift_marks(self, session_id: str) -> JsonObject:
        """Let what was read from others no longer count. Raises NotFoundError."""
        return await self._call("POST", f"/api/sessions/{session_id}/lift")

    async def switch_model(self, provider: str, model: str) -> None:
        """Make a configured provider the active one."""
        await self._call("PUT", "/api/model", json={"provider": provider, "model": model})

    async def switch_addon(self, addon_id: str, *, is_on: bool) -> JsonObject:
        """Switch an add-on."""
        return await self._call("PATCH", f"/api/addons/{quote(addon_id, safe='')}", json={"enabled": is_on})

    async def run_tool(
        self, name: str, arguments: JsonObject, report: Callable[[Progress], None], ask: Asks | None = None
    ) -> JsonObject:
        """Run a tool as the person; going away ends it there too."""
        path = f"/api/tools/{quote(name, safe='')}/follow?attended={'true' if ask else 'false'}"
        try:
            async with self._client.stream("POST", path, json=arguments) as answer:
                if not answer.is_success:
                    await answer.aread()
                    self._read(answer)
                async for line in _lines(answer.aiter_bytes()):
                    frame = as_object(json.loads(line[6:])) if line.startswith(b"data: ") else {}
                    if "progress" in frame:
                        report(_progress(as_object(frame["progress"])))
                    elif "ask" in frame and ask is not None:
                        await _put(ask, as_object(frame["ask"]))
                    elif "result" in frame:
                        return as_object(frame["result"])
        except httpx2.HTTPError as error:
            raise self._lost(error) from error
        raise ConfigurationError(f"{self._url} ended before the tool did", hint="See the log of the server")

    async def pin_tool(self, name: str, *, is_pinned: bool) -> JsonObject:
        """Offer a tool to models always, or only when it is found."""
        return await self._call("PUT", f"/api/tools/{quote(name, safe='')}/pin", json={"pinned": is_pinned})

    async def task(self, task_id: str) -> JsonObject:
        """One task."""
        return await self._call("GET", f"/api/tasks/{quote(task_id, safe='')}")

    async def change_task(self, task_id: str, action: str) -> None:
        """Cancel or retry a task."""
        await self._call("POST", f"/api/tasks/{quote(task_id, safe='')}/{action}")

    async def delete_task(self, task_id: str) -> None:
        """Remove a task's record."""
        await self._call("DELETE", f"/api/tasks/{quote(task_id, safe='')}")

    async def add_job(self, body: JsonObject) -> JsonObject:
        """Make a scheduled job."""
        return await self._call("POST", "/api/cron", json=body)

    async def remove_job(self, job_id: str) -> bool:
        """Delete a scheduled job."""
        return (await self._call("DELETE", "/api/cron", params={"id": job_id})).get("success") is True

    async def switch_job(self, job_id: str, *, enabled: bool) -> None:
        """Turn a scheduled job on or off."""
        await self._call("PATCH", f"/api/cron/{quote(job_id, safe='')}", json={"enabled": enabled})

    async def run_job(self, job_id: str) -> JsonObject:
        """Run a scheduled job now."""
        return await self._call("POST", f"/api/cron/{quote(job_id, safe='')}/run")

    async def create_session(self) -> str:
        """A new conversation's id."""
        return as_text((await self._call("POST", "/api/sessions"))["id"])

    async def send(self, session_id: str, text: str) -> int:
        """Start a turn."""
        answer = await self._call("POST", f"/api/sessions/{session_id}/messages", json={"message": text})
        return as_int(answer["after"])

    async def compact(self, session_id: str) -> int:
        """Have the oldest part summarised."""
        return as_int((await self._call("POST", f"/api/sessions/{session_id}/compact"))["after"])

    async def events(self, session_id: str, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """Events up to the turn's end."""
        try:
            async with self._client.stream(
                "GET", f"/api/sessions/{session_id}/events", params={"after": after}
            ) as answer:
                async for line in _lines(answer.aiter_bytes()):
                    if line.startswith(b"data: "):
                        frame = json.loads(line[6:])
                        yield NumberedEvent(frame["number"], event_from_json(frame["event"]))
        except httpx2.HTTPError as error:
            raise self._lost(error) from error

    async def stop(self, session_id: str) -> None:
        """Stop the running turn."""
        await self._call("POST", f"/api/sessions/{session_id}/stop")

    async def answer_outbox(self, intent_id: str, answer: str) -> JsonObject:
        """Say what became of a sending that nobody is sure of."""
        return await self._call("POST", f"/api/outbox/{quote(intent_id, safe='')}/{answer}")

    async def kill(self) -> JsonObject:
        """End everything that runs there."""
        return await self._call("POST", "/api/killswitch")

    async def decide(self, approval_id: str, decision: Decision) -> None:
        """Answer a question."""
        body: dict[str, Any] = {
            "decision": "approve" if decision.approved else "reject",
            "scope": decision.scope.value,
            "lasts": decision.lasts.value,
            "instead": decision.instead,
            "surface": "cli",
        }
        if decision.args is not None:
            body["args"] = decision.args
        await self._call("POST", f"/api/approvals/{approval_id}", json=body)

    async def approval(self, approval_id: str) -> JsonObject:
        """A question with its rules."""
        return await self._call("GET", f"/api/approvals/{quote(approval_id, safe='')}")

    async def explain(self, tool: str, arguments: JsonObject) -> JsonObject:
        """What would happen with a call."""
        return await self._call("POST", "/api/why", json={"tool": tool, "args": arguments})

    async def revoke_grant(self, grant_id: str) -> JsonObject:
        """Take a lasting yes back."""
        return await self._call("DELETE", f"/api/grants/{quote(grant_id, safe='')}")

    async def restore_grant(self, grant_id: str) -> JsonObject:
        """Undo taking it back."""
        return await self._call("POST", f"/api/grants/{quote(grant_id, safe='')}/restore")

    async def _call(self, method: str, path: str, **options: Any) -> JsonObject:
        try:
            answer = await self._client.request(method, path, **options)
        except httpx2.HTTPError as error:
            raise self._lost(error) from error
        return self._read(answer)

    def _read(self, answer: httpx2.Response) -> JsonObject:
        """The body of an answer that went well. Raises the error that another one tells of."""
        try:
            body = as_object(cast(JsonObject, answer.json()))
        except ValueError as error:
            raise ConfigurationError(
                f"{self._url} answers, but not as Skales does", hint="Another program may use the port"
            ) from error
        if answer.is_success:
            return body
        raise _error(answer.status_code, as_text(body.get("error")) or "Unknown error", as_text(body.get("hint")))

    def _lost(self, error: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"The server at {self._url} does not answer ({type(error).__name__})", hint="Is it still running?"
        )


async def _put(ask: Asks, frame: JsonObject) -> None:
    asked = event_from_json(frame)
    if isinstance(asked, ApprovalRequested):
        await ask(asked.approval)


def _progress(frame: JsonObject) -> Progress:
    return Progress(
        as_text(frame.get("label")), as_int(frame.get("done")), as_int(frame.get("total")), as_text(frame.get("unit"))
    )


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Split at LF only; the client's own line reader also splits at U+2028, which JSON may hold."""
    rest = b""
    async for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line


def _error(status: int, message: str, hint: str) -> SkalesError:
    match status:
        case 404:
            return NotFoundError(message, hint=hint)
        case 400 | 409:
            return InputError(message, hint=hint)
        case _:
            return SkalesError(message, hint=hint)
