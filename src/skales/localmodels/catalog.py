"""What can be fetched, as pinned in catalog.toml, and which runtime fits this computer. Reads no other file.

Spec: local-models.md.
"""

import platform
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from skales.core.errors import ConfigurationError

_CATALOG = Path(__file__).with_name("catalog.toml")
_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Pinned(_Table):
    """One file as it must arrive."""

    size_bytes: int = Field(gt=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class RuntimeWheel(Pinned):
    """The runtime for one kind of computer."""

    unpacked_bytes: int = Field(gt=0)


class Runtime(_Table):
    """The package that runs models; `wheels` by system and machine, such as `linux-x86_64`."""

    name: str
    version: str
    wheels: Mapping[str, RuntimeWheel]

    @property
    def folder(self) -> str:
        """Its folder below `local-models/runtime/`."""
        return f"{self.name}-{self.version}"


class ModelWheel(Pinned):
    """The package whose file `member` is the model."""

    name: str
    version: str
    member: str


class Starter(Pinned):
    """The model that needs no choice. `tool_accuracy` is measured and meant to be shown where it is chosen."""

    id: str
    label: str
    license: str
    note: str
    context_tokens: int
    tool_accuracy: str
    tool_accuracy_on: str
    temperature: float
    repeat_penalty: float
    wheel: ModelWheel

    @property
    def file(self) -> str:
        """Its name in `local-models/`."""
        return f"{self.id}.gguf"


class Catalog(_Table):
    """Everything that can be fetched."""

    runtime: Runtime
    starter: Starter


def parse_catalog(text: str) -> Catalog:
    """Raises ValueError for anything but a complete catalogue."""
    return Catalog.model_validate(tomllib.loads(text))


@cache
def load_catalog() -> Catalog:
    """The catalogue that ships with the program."""
    return parse_catalog(_CATALOG.read_text(encoding="utf-8"))


def name_machine() -> str:
    """This computer as the catalogue names it, such as `linux-x86_64`; `-musl` behind it where glibc is missing."""
    system = _SYSTEMS.get(sys.platform, sys.platform)
    machine = _MACHINES.get(platform.machine().lower(), platform.machine().lower())
    if system == "linux":
        machine = "aarch64" if machine == "arm64" else machine
        if platform.libc_ver()[0] != "glibc":
            return f"{system}-{machine}-musl"
    return f"{system}-{machine}"


def choose_runtime(runtime: Runtime, machine: str) -> RuntimeWheel:
    """The wheel for a computer. Raises ConfigurationError when there is none."""
    wheel = runtime.wheels.get(machine)
    if wheel is None:
        raise ConfigurationError(
            f"The local model does not run on this computer ({machine})",
            hint=f"It runs on {', '.join(runtime.wheels)}. Choose another provider, such as Ollama, in the settings",
            code="unsupported_platform",
        )
    return wheel
