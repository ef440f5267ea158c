"""The secrets that stand in the data directory's own files, so that they can be kept out of everything else."""

import re
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from skales.core.errors import SkalesError
from skales.core.json import JsonValue, as_object, parse_json
from skales.data.document import Stamp, read_bytes, stamp_of
from skales.data.paths import DataDirectory

_NAME = re.compile(r"key\Z|token\Z|secret\Z|passwor|passphrase", re.IGNORECASE)
_NO_SECRET = re.compile(r"keyFile|publicKey", re.IGNORECASE)


class StoredSecrets:
    """Keys, passwords and tokens of settings, connectors, servers and sign-ins; read anew when a file changed."""

    def __init__(self, directory: DataDirectory) -> None:
        self._paths = (directory.settings, directory.connectors, directory.ftp_profiles, directory.sign_ins)
        self._lock = threading.Lock()
        self._stamps: list[Stamp | None] = []
        self._values: frozenset[str] = frozenset()

    def values(self) -> Collection[str]:
        """All of them; those of a file that cannot be read are missing."""
        stamps = [_stamp(path) for path in self._paths]
        with self._lock:
            if stamps != self._stamps:
                self._values = frozenset(value for path in self._paths for value in _read(path))
                self._stamps = stamps
            return self._values


def _stamp(path: Path) -> Stamp | None:
    try:
        return stamp_of(path)
    except OSError:
        return None


def _read(path: Path) -> Iterator[str]:
    try:
        yield from _find(parse_json(read_bytes(path)[0].decode("utf-8-sig")), is_secret=False)
    except (OSError, SkalesError, ValueError):
        return


def _find(value: JsonValue, *, is_secret: bool) -> Iterator[str]:
    if isinstance(value, str):
        if is_secret and value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _find(item, is_secret=is_secret)
    else:
        for name, item in as_object(value).items():
            named = _NAME.search(name) is not None and _NO_SECRET.search(name) is None
            yield from _find(item, is_secret=named or (is_secret and not isinstance(item, dict)))
