"""Where on a server a tool may go: inside the folder that the profile names, anywhere when it names none."""

from skales.core.errors import ToolRefusedError
from skales.data.ftp_profiles import FtpProfile
from skales.tools.remote.place import join_remote, require_remote_path


def remote_place(profile: FtpProfile, path: str) -> str:
    """The path on the server: below the profile's folder. Raises ToolRefusedError for an absolute one elsewhere."""
    own, asked = require_remote_path(profile.remote_path), require_remote_path(path)
    if not asked.startswith("/") or not own:
        return join_remote(own, asked) if not asked.startswith("/") else asked
    if asked == own or asked.startswith(own.rstrip("/") + "/"):
        return asked
    raise ToolRefusedError(
        f"{asked!r} is outside {own!r}, the folder of the profile {profile.alias!r}",
        hint="Write a path below it, without the slash at the start",
    )
