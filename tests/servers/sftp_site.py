"""A real SFTP server on loopback for `ada`, password `lovelace`, in the event loop of the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh


class _Server(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("ada", "lovelace")


@asynccontextmanager
async def sftp_site(root: Path, key: asyncssh.SSHKey, port: int = 0, accepted: str = "") -> AsyncIterator[int]:
    """Serve a folder; its port. `accepted` is a public key that may sign in."""

    def serve(channel: asyncssh.SSHServerChannel[bytes]) -> asyncssh.SFTPServer:
        return asyncssh.SFTPServer(channel, chroot=str(root).encode())

    server = await asyncssh.create_server(
        _Server,
        "127.0.0.1",
        port,
        server_host_keys=[key],
        sftp_factory=serve,
        authorized_client_keys=asyncssh.import_authorized_keys(accepted) if accepted else None,
    )
    try:
        yield server.get_port()
    finally:
        server.close()
        await server.wait_closed()
