"""The documents of the two frames in which something of a model may run: a page it wrote, a diagram it described.

Each is served with rules of its own: an origin of nobody, no network, nothing embedded. What they show comes by
`postMessage` and is in no address. Content policies alone do not hold WebRTC and the connections that browsers open
ahead of a refused navigation; `Connection-Allowlist` does (Chromium), and the page removes WebRTC elsewhere.
Spec: ui-surfaces.md, "Chat rendering".
"""

import base64
import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

_STATIC = Path(__file__).parent / "static"
_MERMAID = "vendor/mermaid-tiny-11.17.2.js.gz"
_CLOSED = (
    "default-src 'none'; connect-src 'none'; frame-src 'none'; worker-src 'none'; object-src 'none'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox allow-scripts; "
)
_ALWAYS = {
    "connection-allowlist": "()",
    "x-dns-prefetch-control": "off",
    "permissions-policy": "autoplay=(), camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), usb=()",
}
_DIAGRAM_STYLE = (
    "html,body{margin:0;background:transparent;overflow:hidden}svg{display:block;margin:auto;max-width:100%}"
)


class FrameDocument(Struct, frozen=True):
    """HTML and the headers it must go out with."""

    html: str
    headers: Mapping[str, str]


@cache
def page_document() -> FrameDocument:
    """The empty page that becomes what a model wrote, scripts included; opened only when a person asks."""
    script = _read("js/blocks-frame-page.js")
    policy = (
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        "media-src data: blob:"
    )
    return _build(f"<script>{script}</script>", policy)


@cache
def diagram_document() -> FrameDocument:
    """The empty drawing. Only the two scripts that we wrote into it may run."""
    mermaid = gzip.decompress((_STATIC / _MERMAID).read_bytes()).decode("utf-8")
    scripts = (mermaid, _read("js/blocks-frame-diagram.js"))
    assert not any("</script" in script.lower() for script in scripts), "would end its element"
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = f"script-src {hashes}; style-src 'unsafe-inline'; img-src data:"
    body = "".join(f"<script>{script}</script>" for script in scripts)
    return _build(f'<style>{_DIAGRAM_STYLE}</style><div id="place"></div>{body}', policy)


def _build(body: str, policy: str) -> FrameDocument:
    html = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Skales</title><body>{body}</body></html>'
    return FrameDocument(html, _ALWAYS | {"content-security-policy": _CLOSED + policy})


def _read(path: str) -> str:
    return (_STATIC / path).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
