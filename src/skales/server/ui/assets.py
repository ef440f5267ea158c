"""The page's own files. Their address holds a digest of all of them, so that browsers may keep them for good.

Modules import each other by relative address and so stay within one version.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from fastapi import APIRouter, Request
from fastapi.responses import Response

_FOLDER = Path(__file__).parent.parent / "static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"

router = APIRouter()


@dataclass(frozen=True, slots=True)
class _Asset:
    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class _Assets:
    version: str
    files: Mapping[str, _Asset]


def asset_address(path: str) -> str:
    """The address of a file below `static/`, such as `css/tokens.css`. Raises KeyError for one that is not there."""
    assets = _load()
    assert path in assets.files, path
    return f"/static/{assets.version}/{path}"


@router.get("/static/{version}/{path:path}")
def serve_asset(request: Request, version: str, path: str) -> Response:
    """One file; an address of another version gets the present one, to be asked for again each time."""
    assets = _load()
    asset = assets.files.get(path)
    if asset is None:
        return Response("Not found", status_code=404, media_type="text/plain")
    kept = version == assets.version
    headers = {"cache-control": _FOR_GOOD if kept else _ASK_AGAIN, "etag": f'"{assets.version}"'}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)


@cache
def _load() -> _Assets:
    files: dict[str, _Asset] = {}
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.rglob("*")):
        media_type = _MEDIA_TYPES.get(path.suffix)
        if media_type is None:
            continue
        name, content = path.relative_to(_FOLDER).as_posix(), path.read_bytes()
        digest.update(f"{name} {len(content)} ".encode() + content)
        files[name] = _Asset(content, media_type)
    return _Assets(digest.hexdigest()[:12], MappingProxyType(files))
