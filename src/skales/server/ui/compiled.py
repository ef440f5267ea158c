"""Keeps compiled templates beside their sources, as Python keeps modules: compiling takes most of a first page's time.

By the rules of `.pyc` files and with the same trust: in `__pycache__` or where `PYTHONPYCACHEPREFIX` says, not with
`PYTHONDONTWRITEBYTECODE`, and where the folder cannot be written each process compiles for itself.
"""

import hashlib
import marshal
import os
import sys
from contextlib import suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType

import jinja2
from jinja2.bccache import Bucket, BytecodeCache


class CompiledTemplates(BytecodeCache):
    """Jinja's own cache keeps files elsewhere and takes those of another version of Jinja or of other options."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file of the template itself, which says where the compiled one is."""
        return filename or name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fills the bucket when there is a compiled template of this source."""
        made_from = _origin(bucket)
        with suppress(OSError, EOFError, ValueError, TypeError):
            kept = _place(bucket).read_bytes()
            code = marshal.loads(kept[len(made_from) :]) if kept.startswith(made_from) else None  # noqa: S302
            bucket.code = code if isinstance(code, CodeType) else None

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps what was compiled."""
        if sys.dont_write_bytecode or bucket.code is None:
            return
        place = _place(bucket)
        written = place.with_name(f"{place.name}.{os.getpid()}")
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            # Another process must not read half of it.
            written.write_bytes(_origin(bucket) + marshal.dumps(bucket.code))
            written.replace(place)


def _place(bucket: Bucket) -> Path:
    return Path(cache_from_source(bucket.key))


def _origin(bucket: Bucket) -> bytes:
    """A digest of all that the compiled code depends on."""
    made = bucket.environment
    options = (made.trim_blocks, made.lstrip_blocks, made.autoescape, made.optimized, *sorted(made.extensions))
    parts = (MAGIC_NUMBER, jinja2.__version__, bucket.checksum, options)
    return hashlib.sha256(repr(parts).encode()).digest()
