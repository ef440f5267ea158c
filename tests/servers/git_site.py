"""A real SSH server on loopback that takes pushes of `ada`, who signs in with a key; in the event loop of the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncssh


async def _feed(process: "asyncssh.SSHServerProcess[bytes]", program: asyncio.StreamWriter) -> None:
    while piece := await process.stdin.read(65536):
        program.write(piece)
        await program.drain()
    program.close()


@asynccontextmanager
async def git_site(key: asyncssh.SSHKey, accepted: str) -> AsyncIterator[int]:
    """Run `git-receive-pack` and `git-upload-pack` as asked; the port. `accepted` is the key that may sign in."""

    async def run(process: "asyncssh.SSHServerProcess[bytes]") -> None:
        command = process.command or ""
        assert command.startswith(("git-receive-pack ", "git-upload-pack ")), command
        program = await asyncio.create_subprocess_shell(
            command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert program.stdin
        assert program.stdout
        feeding = asyncio.create_task(_feed(process, program.stdin))
        while piece := await program.stdout.read(65536):
            process.stdout.write(piece)
        process.exit(await program.wait())
        await feeding

    server = await asyncssh.create_server(
        asyncssh.SSHServer,
        "127.0.0.1",
        0,
        server_host_keys=[key],
        process_factory=run,
        encoding=None,
        authorized_client_keys=asyncssh.import_authorized_keys(accepted),
    )
    try:
        yield server.get_port()
    finally:
        server.close()
        await server.wait_closed()
