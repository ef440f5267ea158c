"""What tools may see of the program itself: what is set up, what it can do, who it is told to be. No secret.

A value of the settings is named only where it cannot be a key. No request is made: whether a provider answers is found
out elsewhere.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skales import __version__
from skales.app.models import Models
from skales.core.errors import SkalesError
from skales.core.ports import Toolbox
from skales.core.tool import ToolSpec
from skales.data.capabilities import Capabilities, CapabilityNote
from skales.data.document import read_bytes
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.setting_shapes import Settings

_MOST_IDENTITY_FILES = 20
_MOST_IDENTITY_BYTES = 64 * 1024
_IDENTITY_ENDINGS = (".md", ".txt", ".json")
_GIGABYTE = 1024**3


class Program:
    """The program as tools see it. `toolbox` is set once there is one, since tools are given this."""

    def __init__(self, directory: DataDirectory, settings: Callable[[], Settings], quarantine: Quarantine) -> None:
        self._directory = directory
        self._settings = settings
        self._quarantine = quarantine
        self._capabilities = Capabilities(directory)
        self.toolbox: Toolbox | None = None
        self.models: Models | None = None

    def status(self) -> Mapping[str, str]:
        """What is set up and how it fares, by name."""
        settings = self._settings()
        tools = self.tools()
        on = [name for name, is_on in sorted(settings.addons.items()) if is_on]
        return {
            "Version": __version__,
            "Answers": self._describe_model(settings),
            "Stands by": ", ".join(_fallbacks(settings)) or "nobody",
            "Runs unasked": settings.safety_mode.value,
            "File access": settings.file_access_mode.value,
            "Tools": f"{sum(is_on for _spec, is_on in tools)} of {len(tools)} on",
            "Add-ons switched on": ", ".join(on) or "none",
            "Integrations with stored accounts": ", ".join(self._integrations()) or "none",
            "Obsidian vaults": str(len(settings.obsidian_vaults)),
            "Data folder": self._describe_disk(),
            "Files set aside as unreadable": str(len(self._quarantine.notices())),
        }

    def tools(self) -> Sequence[tuple[ToolSpec, bool]]:
        """Every tool there is at this moment, and whether it is on."""
        toolbox = self.toolbox
        return [(spec, toolbox.is_enabled(spec.name)) for spec in toolbox.specs()] if toolbox else []

    def identity(self) -> Sequence[tuple[str, str]]:
        """The standing instructions, and the texts in identity/, by name; what cannot be read says so."""
        found = [("Standing instructions", self._settings().system_prompt.strip())]
        found += [(path.name, self._read_identity(path)) for path in self._identity_files()]
        return [(name, text) for name, text in found if text]

    def notes(self) -> Sequence[CapabilityNote]:
        """What was noted about its abilities."""
        return self._capabilities.notes()

    def note(self, noted: CapabilityNote) -> bool:
        """Keep a note; whether it replaced one. Raises InputError."""
        return self._capabilities.note(noted)

    def _describe_model(self, settings: Settings) -> str:
        if self.models is None:
            return settings.active_provider
        try:
            active = self.models.describe_active()
        except SkalesError as error:
            return f"{settings.active_provider}: {error}"
        words = f"{active.provider_id} with {active.model or 'no model chosen'}"
        return words if active.enabled else f"{words}, switched off"

    def _integrations(self) -> Sequence[str]:
        """Names alone: what is in those files is closed to tools."""
        try:
            names = [path.name for path in (self._directory.root / "integrations").iterdir()]
        except OSError:
            names = []
        found = sorted(name.removesuffix(".json") for name in names if name.endswith(".json") and name[0] != ".")
        return [*found, *(name for name in ("mcp-servers", "ftp-profiles") if self._has(f"{name}.json"))]

    def _has(self, name: str) -> bool:
        return (self._directory.root / name).is_file()

    def _describe_disk(self) -> str:
        root = self._directory.root
        try:
            free = shutil.disk_usage(root).free
        except OSError as error:
            return f"cannot be looked at: {error.strerror}"
        words = "writable" if os.access(root, os.W_OK) else "not writable"
        return f"{words}, {free / _GIGABYTE:.1f} GB free on its disk"

    def _identity_files(self) -> Sequence[Path]:
        try:
            entries = sorted(os.scandir(self._directory.identity), key=lambda entry: entry.name)
        except OSError:
            return ()
        found = [Path(entry) for entry in entries if entry.name.endswith(_IDENTITY_ENDINGS) and entry.name[0] != "."]
        return found[:_MOST_IDENTITY_FILES]

    def _read_identity(self, path: Path) -> str:
        try:
            if path.lstat().st_size > _MOST_IDENTITY_BYTES:
                return f"[larger than {_MOST_IDENTITY_BYTES // 1024} KB, not read]"
            return read_bytes(path)[0].decode("utf-8-sig", "replace").strip()
        except (SkalesError, OSError) as error:
            return f"[cannot be read: {error}]"


def _fallbacks(settings: Settings) -> Sequence[str]:
    return [f"{one.provider} {one.model}".strip() for one in settings.fallback_providers]
