"""The page's own files. Their address holds a digest of all of them, so that browsers may keep them for good.

Scripts and sheets go out joined (`bundles`), made when first asked for; with `SKALES_DEV=1` each module comes as it is.
Modules import each other by relative address and so stay within one version.
"""

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from fastapi import APIRouter, Request
from fastapi.responses import Response
from msgspec import Struct

from skales.server.development import is_development
from skales.server.ui import bundles

_FOLDER = Path(__file__).parent.parent / "static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_SCRIPTS, _SHEETS = "js/", "css/"
_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"

router = APIRouter()


class _Asset(Struct, frozen=True):
    content: bytes
    media_type: str

    @property
    def is_text(self) -> bool:
        """Whether it gets smaller; fonts are compressed already."""
        return not self.media_type.startswith("font/")


class _Assets(Struct, frozen=True):
    version: str
    files: Mapping[str, _Asset]


def asset_address(path: str) -> str:
    """The address of a file below `static/`, such as `css/tokens.css`. Raises KeyError for one that is not there."""
    assert path in _load().files, path
    return f"/static/{_version()}/{path}"


def sheet_address(names: tuple[str, ...]) -> str:
    """The address of one sheet that holds these of `static/css/`, in this order. Raises AssertionError for others."""
    assert all(f"{_SHEETS}{name}.css" in _load().files for name in names), names
    return f"/static/{_version()}/{_SHEETS}{'+'.join(names)}.css"


@router.get("/static/{version}/{path:path}")
def serve_asset(request: Request, version: str, path: str) -> Response:
    """One file; an address of another version gets the present one, to be asked for again each time."""
    asset = _find(path)
    if asset is None:
        return Response("Not found", status_code=404, media_type="text/plain")
    present = _version()
    headers = {
        "cache-control": _FOR_GOOD if version == present else _ASK_AGAIN,
        "etag": f'"{present}"',
        "vary": "accept-encoding",
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    content = asset.content
    if asset.is_text and takes_gzip(request.headers.get("accept-encoding", "")):
        content = _compressed(content)
        headers["content-encoding"] = "gzip"
    return Response(content, media_type=asset.media_type, headers=headers)


def takes_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` allows it."""
    ranges = (part.replace(" ", "").lower().partition(";") for part in accepted.split(","))
    return any(name == "gzip" and weight not in ("q=0", "q=0.0", "q=0.00", "q=0.000") for name, _, weight in ranges)


# Which sheets go together is for the pages to say; whoever asks for other combinations must not fill the memory.
@lru_cache(maxsize=256)
def _compressed(content: bytes) -> bytes:
    """Made when it is first asked for, so that the start does not wait for it."""
    return gzip.compress(content, mtime=0)


def _find(path: str) -> _Asset | None:
    if path.startswith(_SHEETS):
        return _join_sheets(path)
    if path.startswith(_SCRIPTS) and not is_development():
        return _join_scripts().get(path)
    return _load().files.get(path)


@cache
def _join_scripts() -> Mapping[str, _Asset]:
    files = _load().files
    texts = {
        path.removeprefix(_SCRIPTS): asset.content.decode("utf-8")
        for path, asset in files.items()
        if path.startswith(_SCRIPTS)
    }
    return {
        f"{_SCRIPTS}{name}": _Asset(text.encode("utf-8"), _MEDIA_TYPES[".js"])
        for name, text in bundles.join_modules(texts).items()
    }


@lru_cache(maxsize=64)
def _join_sheets(path: str) -> _Asset | None:
    """`css/a+b.css` is both, in this order; None when one is not there or comes twice."""
    files = _load().files
    names = path.removeprefix(_SHEETS).removesuffix(".css").split("+")
    found = [files.get(f"{_SHEETS}{name}.css") for name in names]
    if not path.endswith(".css") or len(set(names)) < len(names):
        return None
    texts = [bundles.strip_sheet(asset.content.decode("utf-8")) for asset in found if asset]
    return _Asset("".join(texts).encode("utf-8"), _MEDIA_TYPES[".css"]) if len(texts) == len(names) else None


def _version() -> str:
    """Another one in development, where other content is at the same paths."""
    return f"{_load().version}{'-dev' if is_development() else ''}"


@cache
def _load() -> _Assets:
    files: dict[str, _Asset] = {}
    digest = hashlib.sha256(Path(bundles.__file__).read_bytes())
    for path in sorted(_FOLDER.rglob("*")):
        media_type = _MEDIA_TYPES.get(path.suffix)
        if media_type is None:
            continue
        name, content = path.relative_to(_FOLDER).as_posix(), path.read_bytes()
        digest.update(f"{name} {len(content)} ".encode() + content)
        files[name] = _Asset(content, media_type)
    return _Assets(digest.hexdigest()[:12], MappingProxyType(files))
