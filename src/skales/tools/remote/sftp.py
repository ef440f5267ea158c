"""An SFTP server as a place. The library is asyncssh, loaded with the first connection.

The settings of the person's ssh are not read: a profile says all, and no program of theirs is started.
"""

import stat
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

import anyio
from anyio import to_thread

from skales.core.errors import ToolError
from skales.core.ids import IdSource
from skales.tools.remote.abortable import Pace, remote_failure
from skales.tools.remote.pinning import require_pin
from skales.tools.remote.place import MOST_ENTRIES, TEMPORARY_START, Moved, RemoteEntry, RemoteKind, join_remote

if TYPE_CHECKING:
    import asyncssh

_CONNECT_S = 20.0
_STEP_S = 45.0
_LIST_S = 120.0
_PIECE_S = 60.0
_TIDY_S = 8.0
_PIECE_BYTES = 128 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SshDial:
    """Where to connect and as whom. Without password and key file the person's ssh agent is asked."""

    host: str
    address: str
    port: int
    username: str
    password: str = field(default="", repr=False)
    key_file: str = ""
    pin: str = ""


@asynccontextmanager
async def open_sftp(dial: SshDial, ids: IdSource) -> "AsyncGenerator[SftpPlace]":
    """Connect and sign in. Raises ToolError, ToolRefusedError when the host key is another than the pinned one."""
    try:
        import asyncssh
    except ImportError as error:
        raise ToolError(
            "SFTP needs the package asyncssh", hint="Install Skales with its extra sftp", code="missing_package"
        ) from error
    witness = _witness(dial.pin)
    # Working out a passphrase takes seconds by design.
    own_keys = await to_thread.run_sync(_own_keys, dial)
    with _errors(dial, witness), anyio.fail_after(_CONNECT_S + _STEP_S):
        connection = await asyncssh.connect(
            dial.address,
            dial.port,
            username=dial.username,
            known_hosts=([], [], []),
            client_factory=lambda: witness,
            config=None,
            connect_timeout=_CONNECT_S,
            login_timeout=_CONNECT_S,
            keepalive_interval=15,
            keepalive_count_max=3,
            password=None if dial.key_file else dial.password or None,
            client_keys=own_keys,
            agent_path=() if not dial.password and not dial.key_file else None,
        )
    try:
        with _errors(dial, witness), anyio.fail_after(_STEP_S):
            client = await connection.start_sftp_client(path_encoding="utf-8", path_errors="surrogateescape")
        yield SftpPlace(client, dial, witness.seen, ids)
    finally:
        connection.abort()
        with anyio.move_on_after(_TIDY_S, shield=True):
            await connection.wait_closed()


class SftpPlace:
    """A signed-in connection."""

    def __init__(self, client: "asyncssh.SFTPClient", dial: SshDial, fingerprint: str, ids: IdSource) -> None:
        self.fingerprint = fingerprint
        self._client = client
        self._dial = dial
        self._ids = ids

    async def entries(self, path: str) -> Sequence[RemoteEntry]:
        """What is in a folder."""
        entries: list[RemoteEntry] = []
        with _errors(self._dial), anyio.fail_after(_LIST_S):
            async for found in self._client.scandir(path or "."):
                name = _text(found.filename)
                if name not in (".", ".."):
                    entries.append(_entry(name, found.attrs))
                if len(entries) > MOST_ENTRIES:
                    raise ToolError(
                        f"The folder on {self._dial.host} holds more than can be listed",
                        hint="Name a folder in it",
                        code="too_large",
                    )
        return entries

    async def read(self, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file, in pieces."""
        with _errors(self._dial), anyio.fail_after(_STEP_S):
            file = await self._client.open(path, "rb")
        pace = Pace(self._dial.host)
        try:
            while True:
                with _errors(self._dial), anyio.fail_after(_PIECE_S):
                    piece = cast(bytes, await file.read(_PIECE_BYTES))
                if not piece:
                    return
                pace.add(len(piece))
                yield piece
        finally:
            with anyio.move_on_after(_TIDY_S, shield=True), suppress(ToolError), _errors(self._dial):
                await file.close()

    async def write(self, path: str, source: BinaryIO, moved: Moved) -> None:
        """Under a temporary name first, which is taken away again when it does not become the file."""
        temporary = join_remote(dirname(path), f"{TEMPORARY_START}{self._ids.token(12)}.tmp")
        try:
            await self._send(temporary, source, moved)
            with _errors(self._dial), anyio.fail_after(_STEP_S):
                await self._replace(temporary, path)
        except BaseException:
            with anyio.move_on_after(_TIDY_S, shield=True), suppress(ToolError), _errors(self._dial):
                await self._client.remove(temporary)
            raise

    async def make_folder(self, path: str) -> None:
        """Create a folder that may exist already."""
        with _errors(self._dial), anyio.fail_after(_STEP_S):
            if not await self._client.isdir(path):
                await self._client.mkdir(path)

    async def delete(self, path: str) -> None:
        """Delete a file."""
        with _errors(self._dial), anyio.fail_after(_STEP_S):
            await self._client.remove(path)

    async def _send(self, temporary: str, source: BinaryIO, moved: Moved) -> None:
        with _errors(self._dial), anyio.fail_after(_STEP_S):
            file = await self._client.open(temporary, "xb")
        try:
            while piece := await to_thread.run_sync(source.read, _PIECE_BYTES):
                with _errors(self._dial), anyio.fail_after(_PIECE_S):
                    await file.write(piece)
                moved(len(piece))
        except BaseException:
            with anyio.move_on_after(_TIDY_S, shield=True), suppress(ToolError), _errors(self._dial):
                await file.close()
            raise
        # A full disk may show only now.
        with _errors(self._dial), anyio.fail_after(_STEP_S):
            await file.close()

    async def _replace(self, temporary: str, path: str) -> None:
        import asyncssh

        try:
            await self._client.posix_rename(temporary, path)
        except (asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure):
            # Without the extension a rename does not replace.
            with suppress(asyncssh.SFTPNoSuchFile):
                await self._client.remove(path)
            await self._client.rename(temporary, path)


@contextmanager
def _errors(dial: SshDial, witness: "_Witness | None" = None) -> Generator[None]:
    """Raise ToolError in place of what the library raises."""
    import asyncssh

    try:
        yield
    except asyncssh.PermissionDenied as error:
        raise ToolError(
            f"{dial.host} did not accept the user name or the password",
            hint="Check them, and enter them again with `skales ftp add`",
            code="auth",
        ) from error
    except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed) as error:
        if witness is not None:
            require_pin(dial.host, dial.pin, witness.seen, "host key")
        raise ToolError(f"{dial.host} and Skales have no safe way to connect in common", hint=error.reason) from error
    except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath, asyncssh.SFTPNotADirectory) as error:
        raise ToolError(
            f"{dial.host} has no such file or folder", hint="Look with ftp_list", code="not_found"
        ) from error
    except asyncssh.SFTPConnectionLost as error:
        raise remote_failure(dial.host, EOFError()) from error
    except asyncssh.SFTPError as error:
        raise ToolError(
            f"{dial.host} refuses: {error.reason[:200].rstrip('.')}",
            hint="Check the path and its rights",
            code="server",
        ) from error
    except (asyncssh.Error, EOFError) as error:
        raise remote_failure(dial.host, EOFError()) from error
    except OSError as error:
        raise remote_failure(dial.host, error) from error


class _Witness(Protocol):
    """Sees the host key of a connection."""

    seen: str


def _witness(pin: str) -> "Any":
    """What asyncssh asks about the host key; a class of its library, so made when that is loaded."""
    import asyncssh

    class Witness(asyncssh.SSHClient):
        seen = ""

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002
            self.seen = key.get_fingerprint()
            return pin in ("", self.seen)

    return Witness()


def _own_keys(dial: SshDial) -> Any:
    """The profile's key; none with a password; the person's usual ones when the profile has neither."""
    import asyncssh

    if not dial.key_file:
        return None if dial.password else ()
    try:
        return [asyncssh.read_private_key(Path(dial.key_file).expanduser(), dial.password or None)]
    except (OSError, asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise ToolError(
            f"The key file {dial.key_file!r} cannot be used", hint="Check the file and its passphrase", code="auth"
        ) from error


def _entry(name: str, attrs: "asyncssh.SFTPAttrs") -> RemoteEntry:
    mode = attrs.permissions or 0
    if stat.S_ISLNK(mode):
        kind = RemoteKind.LINK
    elif stat.S_ISDIR(mode):
        kind = RemoteKind.FOLDER
    else:
        kind = RemoteKind.FILE if stat.S_ISREG(mode) or not stat.S_IFMT(mode) else RemoteKind.OTHER
    size = attrs.size if kind is RemoteKind.FILE and attrs.size is not None else -1
    return RemoteEntry(name, kind, size, int(attrs.mtime or 0) * 1000)


def _text(name: str | bytes) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
