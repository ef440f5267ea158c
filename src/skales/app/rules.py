"""What the settings allow, as the rules that the gate and the tools go by."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from skales.agent.policy import Policy
from skales.core.errors import InputError
from skales.data.paths import DataDirectory
from skales.data.setting_shapes import FileAccess, SandboxMode, Settings
from skales.security.network import NetworkPolicy, parse_domain
from skales.security.paths import PathPolicy
from skales.tools.programs import SandboxRules


class Rulebook:
    """The policy that the settings ask for; built anew only when they changed."""

    def __init__(self, settings: Callable[[], Settings], directory: DataDirectory) -> None:
        self._settings = settings
        self._directory = directory
        self._kept: tuple[Settings, Policy] | None = None

    def policy(self) -> Policy:
        """As it is now."""
        settings = self._settings()
        if self._kept is None or self._kept[0] is not settings:
            self._kept = (settings, build_policy(settings, self._directory))
        return self._kept[1]


def build_policy(settings: Settings, directory: DataDirectory) -> Policy:
    """The rules the settings ask for; the data directory's private files are blocked in every mode."""
    custom = settings.file_access_mode is not FileAccess.WORKSPACE_ONLY
    paths = PathPolicy(
        workspace=directory.workspace,
        allowed=(directory.attachments, *(_folder(text) for text in settings.allowed_folders if custom)),
        blocked=(*directory.private, *(_folder(text) for text in settings.blocked_folders)),
        unrestricted=settings.file_access_mode is FileAccess.UNRESTRICTED,
    )
    return Policy(
        settings.safety_mode, paths, build_network_policy(settings), partial(_find_unconfined, settings.sandbox)
    )


def build_network_policy(settings: Settings) -> NetworkPolicy:
    """Which hosts tools may reach; an entry of the block list that names no host blocks none."""
    blocked: list[str] = []
    for text in settings.blocked_domains:
        with suppress(InputError):
            blocked.append(parse_domain(text))
    return NetworkPolicy(settings.allow_loopback, settings.allow_lan, tuple(blocked))


def build_sandbox_rules(settings: Settings) -> SandboxRules:
    """How the settings want programs to be confined."""
    return SandboxRules(
        is_wanted=settings.sandbox is not SandboxMode.OFF,
        is_required=settings.sandbox is SandboxMode.ON,
        allows_network=settings.sandbox_network,
    )


def _find_unconfined(mode: SandboxMode) -> str:
    """Why commands run without a sandbox, in words; empty when they run in one. Tries it out the first time."""
    from skales.tools.system.sandbox import NO_SANDBOX, SANDBOX_OFF, find_sandbox  # loaded with the first command

    if mode is SandboxMode.OFF:
        return SANDBOX_OFF
    return "" if find_sandbox().confines else NO_SANDBOX


def _folder(text: str) -> Path:
    return Path(text).expanduser().absolute()
