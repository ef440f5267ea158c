"""An FTP or FTPS server as a place. Each step runs in a thread and can be ended; transfers go piece by piece."""

import ftplib
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from posixpath import dirname
from typing import BinaryIO, TypeVar

import anyio
from anyio import to_thread

from skales.core.clock import Clock
from skales.core.errors import ToolError
from skales.core.ids import IdSource
from skales.tools.remote.abortable import Pace, remote_failure, run_abortable
from skales.tools.remote.ftp_listing import parse_list, parse_mlsd
from skales.tools.remote.ftp_wire import Dial, WireFtp, features_of
from skales.tools.remote.place import MOST_ENTRIES, TEMPORARY_START, Moved, RemoteEntry, join_remote

Result = TypeVar("Result")

_STEP_S = 45.0
_LIST_S = 120.0
_PIECE_S = 60.0
_TIDY_S = 8.0
_PIECE_BYTES = 128 * 1024
_LISTING_BYTES = 8_000_000


@asynccontextmanager
async def open_ftp(dial: Dial, username: str, password: str, clock: Clock, ids: IdSource) -> "AsyncGenerator[FtpPlace]":
    """Connect and sign in. Raises ToolError, ToolRefusedError when the certificate is another than the pinned one."""
    wire = WireFtp(dial)
    place = FtpPlace(wire, dial.host, clock, ids)
    try:
        await place.sign_in(username, password, secure=dial.tls != "no")
        yield place
        await place.leave()
    finally:
        wire.abort_all()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(wire.close_all)


class FtpPlace:
    """A signed-in connection. One step at a time."""

    def __init__(self, wire: WireFtp, host: str, clock: Clock, ids: IdSource) -> None:
        self._wire = wire
        self._host = host
        self._clock = clock
        self._ids = ids
        self._home = ""
        self._has_mlsd = False

    @property
    def fingerprint(self) -> str:
        """Of the certificate the server showed; empty without TLS."""
        return self._wire.fingerprint

    async def sign_in(self, username: str, password: str, *, secure: bool) -> None:
        """Everything up to the first wish."""

        def work() -> None:
            self._wire.open()
            self._wire.login(username, password)
            if secure:
                self._wire.protect_data()
            features = features_of(self._wire)
            self._has_mlsd = any(line.startswith("MLST") for line in features)
            if "UTF8" in features:
                with suppress(ftplib.Error):
                    self._wire.sendcmd("OPTS UTF8 ON")
            self._wire.voidcmd("TYPE I")
            self._home = self._wire.pwd()

        await self._do(work)

    async def leave(self) -> None:
        """Say goodbye; whether the server hears it does not matter."""
        with suppress(ToolError):
            await self._do(lambda: self._wire.putcmd("QUIT"), _TIDY_S)

    async def entries(self, path: str) -> Sequence[RemoteEntry]:
        """What is in a folder."""

        def work() -> Sequence[RemoteEntry]:
            if self._has_mlsd:
                return parse_mlsd(self._lines(f"MLSD {_argument(path)}".rstrip()))
            # A listing of a folder that is not there is empty on many servers; going there fails.
            self._wire.cwd(_argument(path) or self._home)
            try:
                return parse_list(self._lines("LIST"), self._clock)
            finally:
                self._wire.cwd(self._home)

        return await self._do(work, _LIST_S)

    async def read(self, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file, in pieces; ends well only when the server says that it was all."""
        data = await self._do(lambda: self._wire.ntransfercmd(f"RETR {_argument(path)}")[0])
        pace = Pace(self._host)
        try:
            while piece := await self._do(partial(data.recv, _PIECE_BYTES), _PIECE_S):
                pace.add(len(piece))
                yield piece
        finally:
            data.close()
        await self._do(self._wire.voidresp)

    async def write(self, path: str, source: BinaryIO, moved: Moved) -> None:
        """Under a temporary name first, which is taken away again when it does not become the file."""
        temporary = join_remote(dirname(path), f"{TEMPORARY_START}{self._ids.token(12)}.tmp")
        data = await self._do(lambda: self._wire.ntransfercmd(f"STOR {_argument(temporary)}")[0])
        try:
            await self._send(data, source, moved)
            await self._do(partial(self._replace, temporary, path))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._tidy(data, temporary)
            raise

    async def make_folder(self, path: str) -> None:
        """Create a folder that may exist already."""

        def work() -> None:
            try:
                self._wire.mkd(_argument(path))
            except ftplib.error_perm as refused:
                try:
                    self._wire.cwd(_argument(path))
                except ftplib.error_perm:
                    raise refused from None
                self._wire.cwd(self._home)

        await self._do(work)

    async def delete(self, path: str) -> None:
        """Delete a file."""
        await self._do(lambda: self._wire.delete(_argument(path)))

    async def _do(self, work: Callable[[], Result], limit_s: float = _STEP_S) -> Result:
        try:
            return await run_abortable(work, self._wire.abort_all, limit_s)
        except (OSError, EOFError, ftplib.Error, ValueError) as error:
            raise remote_failure(self._host, error) from error

    async def _send(self, data: socket.socket, source: BinaryIO, moved: Moved) -> None:
        """Only the data connection is ended by a cancellation, so that the server can be told to tidy up."""
        stop = partial(_shut, data)
        try:
            while piece := await to_thread.run_sync(source.read, _PIECE_BYTES):
                await run_abortable(partial(data.sendall, piece), stop, _PIECE_S)
                moved(len(piece))
            await run_abortable(partial(_finish, data), stop, _STEP_S)
        except (OSError, ValueError) as error:
            raise remote_failure(self._host, error) from error
        await self._do(self._wire.voidresp, _PIECE_S)

    def _replace(self, temporary: str, path: str) -> None:
        try:
            self._wire.rename(_argument(temporary), _argument(path))
        except ftplib.error_perm:
            # Some servers do not rename onto a file.
            self._wire.delete(_argument(path))
            self._wire.rename(_argument(temporary), _argument(path))

    async def _tidy(self, data: socket.socket, temporary: str) -> None:
        def work() -> None:
            _shut(data)
            data.close()
            with suppress(ftplib.Error):
                self._wire.voidresp()
            with suppress(ftplib.Error):
                self._wire.delete(_argument(temporary))

        with suppress(ToolError):
            await self._do(work, _TIDY_S)

    def _lines(self, command: str) -> list[str]:
        data = self._wire.ntransfercmd(command)[0]
        held = bytearray()
        try:
            while piece := data.recv(_PIECE_BYTES):
                held += piece
                if len(held) > _LISTING_BYTES or held.count(b"\n") > MOST_ENTRIES:
                    raise ToolError(
                        f"The folder on {self._host} holds more than can be listed",
                        hint="Name a folder in it",
                        code="too_large",
                    )
        finally:
            data.close()
        self._wire.voidresp()
        return held.decode("utf-8", "surrogateescape").splitlines()


def _argument(path: str) -> str:
    """A path that begins with a dash would be an option to some servers."""
    return f"./{path}" if path.startswith("-") else path


def _finish(data: socket.socket) -> None:
    """Say that this was all. With TLS that is a message of its own, without which servers take it for cut."""
    if isinstance(data, ssl.SSLSocket):
        with suppress(OSError):
            data.unwrap()
    data.close()


def _shut(data: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(data, socket.SHUT_RDWR)
