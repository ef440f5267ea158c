"""Makes a subject of an installed peer: its commands and its server, set up against our model."""

import asyncio
import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import Template
from time import monotonic_ns
from typing import Any
from urllib.parse import urlencode

from bench.client import Connection
from bench.peers.known import Peer, Server
from bench.programs import Command, Dialect, Program, Stage, Subject, free_port, plain_environment, serve

_BENCH = Path(__file__).parent.parent
_SAME = "bench-same"
_NO_PORT = "9"  # for commands that serve nothing; some refuse 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a peer's programs lie, and which model it is to ask."""

    peer: Peer
    programs: Path
    model_url: str

    def fill(self, text: str, home: Path, **more: str) -> str:
        """The text with everything that the table names by `$`."""
        known = {"MODEL": f"{self.model_url}/v1", "HOME": str(home), "BENCH": str(_BENCH)}
        return Template(text).safe_substitute(known, **more)

    def command(self, words: Sequence[str], home: Path, **more: str) -> Command:
        """A command in the peer's home, with its files as they should be."""
        self._write_files(home, **more)
        first, *rest = (self.fill(word, home, SESSION=_new_session(), **more) for word in words)
        added = {
            "HOME": str(home),
            "PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "NO_PROXY": "127.0.0.1,localhost",
            "DO_NOT_TRACK": "1",
            **{name: self.fill(value, home, **more) for name, value in self.peer.environment.items()},
        }
        return Command([str(self.programs / first), *rest], plain_environment(added), home / "work")

    def _write_files(self, home: Path, **more: str) -> None:
        port = {"PORT": _NO_PORT, **more}
        for name, content in self.peer.files.items():
            # A port stands as a number in JSON.
            text = content if isinstance(content, str) else json.dumps(content, indent=1).replace('"$PORT"', "$PORT")
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.fill(text, home, **port), encoding="utf-8")


def subject_of(peer: Peer, programs: Path, model_url: str) -> Subject:
    """The peer as one that is measured as we are. It keeps its home for the whole run."""
    place = Place(peer, programs, model_url)

    def chat(home: Path, text: str) -> Command:
        return place.command(peer.chat, home, TEXT=text)

    return Subject(
        new_home=partial(_open_home, peer),
        help=partial(place.command, peer.help) if peer.help else None,
        chat=chat if peer.chat else None,
        serve=_serving(place, peer.server) if peer.server else None,
    )


def _serving(place: Place, server: Server) -> Callable[[Path], AbstractContextManager[Program]]:
    @contextmanager
    def run(home: Path) -> Generator[Program, None, None]:
        port = free_port()
        command = place.command(server.words, home, PORT=str(port))
        with serve(command, port, server.ready, _dialect(server)) as program:
            if server.sign_in:
                token = asyncio.run(_sign_in(program.url, server.sign_in))
                headers = {**server.headers, "authorization": f"Bearer {token}"}
                program = replace(program, dialect=replace(program.dialect, headers=headers))
            yield program

    return run


def _dialect(server: Server) -> Dialect:
    plain = json.dumps(server.body)

    def compose(text: str, session_id: str) -> bytes:
        filled = Template(plain).safe_substitute(TEXT=text, SESSION=session_id or _new_session())
        fields: Mapping[str, Any] = json.loads(filled)
        return urlencode(fields).encode() if server.is_form else filled.encode()

    return Dialect(
        path=server.path,
        compose=compose,
        content_type="application/x-www-form-urlencoded" if server.is_form else "application/json",
        headers=server.headers,
        session_of=(lambda _answer: _SAME) if "$SESSION" in plain else None,
    )


async def _sign_in(url: str, path: str) -> str:
    connection = await Connection.open(url)
    try:
        answer = await connection.post(path, b'{"email": "", "password": ""}')
    finally:
        await connection.aclose()
    token: str = json.loads(answer.body)["token"]
    return token


def _open_home(peer: Peer, stage: Stage, _name: str) -> Path:
    home = stage.folder / f"peer-{peer.name}"
    (home / "work").mkdir(parents=True, exist_ok=True)
    return home


def _new_session() -> str:
    return f"bench-{monotonic_ns()}"
