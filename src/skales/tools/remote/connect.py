"""Opens what a saved profile stands for: host judged, address fixed, key compared and kept at the first success."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from anyio import to_thread

from skales.core.errors import InputError, ToolError
from skales.data.ftp_profiles import FtpProfile, FtpProtocol
from skales.tools.context import ToolContext
from skales.tools.remote.ftp import FtpPlace, open_ftp
from skales.tools.remote.ftp_wire import Dial
from skales.tools.remote.hosts import resolve_judged
from skales.tools.remote.sftp import SftpPlace, SshDial, open_sftp

_TLS = {FtpProtocol.FTP: "no", FtpProtocol.FTPS: "explicit", FtpProtocol.FTPS_IMPLICIT: "implicit"}


def choose_profile(ctx: ToolContext, name: str) -> FtpProfile:
    """The profile of this name, or the only one there is. Raises ToolError, NotFoundError. Reads the disk."""
    if name:
        profile = ctx.ftp_profiles.find(name)
    else:
        enabled = [profile for profile in ctx.ftp_profiles.list() if profile.enabled]
        if not enabled:
            raise ToolError(
                "No FTP profile is saved", hint="A person adds one with `skales ftp add`", code="no_profile"
            )
        if len(enabled) > 1:
            known = ", ".join(profile.alias for profile in enabled)
            raise ToolError("There are several FTP profiles", hint=f"Name one of: {known}", code="no_profile")
        profile = enabled[0]
    if not profile.enabled:
        raise ToolError(f"The profile {profile.alias!r} is switched off", hint="A person switches it on again")
    return profile


@asynccontextmanager
async def open_profile(ctx: ToolContext, profile: FtpProfile) -> AsyncGenerator[FtpPlace | SftpPlace]:
    """Connect to a profile's server and sign in.

    Raises ToolRefusedError when a rule forbids the host or its key is not the one that was pinned, else ToolError.
    """
    try:
        addresses = await resolve_judged(profile.host, profile.port, ctx.network)
    except InputError as error:
        raise ToolError(error.message, hint=error.hint, code=error.code) from error
    async with AsyncExitStack() as stack:
        place = await _open_first(ctx, profile, addresses, stack)
        if place.fingerprint and not profile.pin:
            await to_thread.run_sync(ctx.ftp_profiles.pin, profile.id, place.fingerprint)
        yield place


async def _open_first(
    ctx: ToolContext, profile: FtpProfile, addresses: Sequence[str], stack: AsyncExitStack
) -> FtpPlace | SftpPlace:
    """The first address that answers. A name often has one of the old and one of the new kind."""
    *others, last = addresses
    for address in others:
        try:
            return await stack.enter_async_context(_open(ctx, profile, address))
        except ToolError as error:
            if error.code not in ("unreachable", "timeout"):
                raise
    return await stack.enter_async_context(_open(ctx, profile, last))


def _open(
    ctx: ToolContext, profile: FtpProfile, address: str
) -> AbstractAsyncContextManager[FtpPlace] | AbstractAsyncContextManager[SftpPlace]:
    if profile.protocol is FtpProtocol.SFTP:
        dial = SshDial(
            host=profile.host,
            address=address,
            port=profile.port,
            username=profile.username,
            password=profile.password,
            key_file=profile.key_file,
            pin=profile.pin,
        )
        return open_sftp(dial, ctx.ids)
    wire = Dial(profile.host, address, profile.port, _TLS[profile.protocol], profile.pin)
    return open_ftp(wire, profile.username, profile.password, ctx.clock, ctx.ids)
