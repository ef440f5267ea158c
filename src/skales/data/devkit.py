"""devkit/devkit.json: whether other programs may use the DevKit routes, and with which token.

The file belongs to the person and to other programs: it is never moved away, and a token is never made up here.
Spec: data-directory.md, "devkit/devkit.json"; http-api.md, "Authentication".
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from skales.core.clock import Clock
from skales.core.errors import ConflictError, InputError
from skales.core.json import JsonValue, as_object, as_text, parse_json
from skales.data.document import create_object, lock_for, write_object
from skales.data.paths import DataDirectory
from skales.data.setting_names import open_object

# How long an edit may take to count (http-api.md, "Server").
_CACHED_S = 10.0

# The official command line reports this version; the field is cosmetic.
_DEVKIT_VERSION = "0.5.0"

# Travels in a header, so it can hold neither blanks nor line ends.
_TOKEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class DevKitConfig:
    """What the file says. An enabled DevKit with an empty token lets nobody in."""

    enabled: bool = False
    token: str = field(default="", repr=False)
    version: str = ""


class DevKit:
    """Reads the switch, at most every ten seconds."""

    def __init__(self, directory: DataDirectory, clock: Clock, environment: Mapping[str, str] = os.environ) -> None:
        self._directory = directory
        self._clock = clock
        self._environment = environment
        self._cached: tuple[float, DevKitConfig] | None = None

    def read(self) -> DevKitConfig:
        """The present configuration. A missing or unreadable file means not enabled; `SKALES_DEVKIT=1` enables."""
        now_s = self._clock.monotonic_s()
        cached = self._cached
        if cached is None or now_s - cached[0] >= _CACHED_S:
            cached = self._cached = (now_s, self._load())
        return cached[1]

    def page(self) -> str:
        """The Markdown of DEVKIT.md; empty while there is none."""
        try:
            text = self._directory.devkit_page.read_text(encoding="utf-8-sig", errors="replace")
        except OSError:
            return ""
        return text if text.strip() else ""

    def docs(self) -> str:
        """The Markdown of DEVKIT.md; while there is none, a page that says where to put it."""
        return self.page() or self._placeholder()

    def write_default(self, token: str) -> None:
        """Make a first devkit.json with the person's own token, switched on; only on request.

        Raises InputError for a token that no header can carry, ConflictError when the file exists.
        """
        _check_token(token)
        create_object(self._directory.devkit, _first(enabled=True, token=token))
        self._cached = None

    def is_forced(self) -> bool:
        """Whether `SKALES_DEVKIT=1` opens the routes, whatever the file says."""
        return self._environment.get("SKALES_DEVKIT") == "1"

    def change(self, *, enabled: bool | None = None, token: str | None = None) -> None:
        """Change the switch, the token, or both; everything else in the file stays. Counts at once.

        Raises InputError for a token that no header can carry, ConflictError for a file that cannot be read, which is
        left alone.
        """
        if token is not None:
            _check_token(token)
        with lock_for(self._directory.devkit):
            value = self._read_to_change()
            if enabled is not None:
                value["enabled"] = enabled
            if token is not None:
                open_object(value, "api")["token"] = token
            write_object(self._directory.devkit, value)
        self._cached = None

    def _read_to_change(self) -> dict[str, JsonValue]:
        path = self._directory.devkit
        try:
            value = parse_json(path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            return _first(enabled=False, token="")
        except (OSError, ValueError) as error:
            raise ConflictError(
                "devkit.json cannot be read, so it was left as it is", hint=f"Correct or remove {str(path)!r}"
            ) from error
        if not isinstance(value, dict):
            raise ConflictError("devkit.json holds no object", hint=f"Correct or remove {str(path)!r}")
        return value

    def _load(self) -> DevKitConfig:
        try:
            value = as_object(parse_json(self._directory.devkit.read_text(encoding="utf-8-sig")))
        except (OSError, ValueError):
            value = {}
        token = as_text(as_object(value.get("api")).get("token"))
        return DevKitConfig(
            enabled=value.get("enabled") is True or self.is_forced(),
            # Line ends and broken characters can never arrive in a header.
            token=token if token.isprintable() else "",
            version=as_text(value.get("version")),
        )

    def _placeholder(self) -> str:
        return (
            "# DevKit\n\n"
            f"There is no documentation here yet. Put a Markdown file at `{self._directory.devkit_page}` "
            "and this page shows it.\n\n"
            f"The switch and the token are in `{self._directory.devkit}`:\n\n"
            '```json\n{ "enabled": true, "api": { "token": "choose-your-own" } }\n```\n'
        )


def _check_token(token: str) -> None:
    if not _TOKEN.fullmatch(token):
        raise InputError(
            "This cannot be a DevKit token", hint="Choose letters, digits and signs without blanks", code="bad_token"
        )


def _first(*, enabled: bool, token: str) -> dict[str, JsonValue]:
    return {
        "enabled": enabled,
        "version": _DEVKIT_VERSION,
        "api": {"enabled": True, "token": token},
        "cli": {"enabled": True},
    }
