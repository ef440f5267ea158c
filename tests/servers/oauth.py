"""An authorization server on loopback that checks what RFC 6749 and 7636 ask for: PKCE, one use of a code, rotation.

with OAuthServer() as server:
    landing = server.sign_in(url)   # what a browser and a person do with the link
"""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit


class OAuthServer:
    """Tokens last `life_s`. `requests` holds the forms that came, `rotates` says whether refreshing gives a new one."""

    def __init__(self, client_id: str = "our-app") -> None:
        self.client_id = client_id
        self.life_s = 3600
        self.rotates = True
        self.requests: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._refresh_tokens: set[str] = set()
        self._count = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._build_responder())
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def sign_in(self, link: str) -> str:
        """Agree on the page behind the link; the address the browser then lands at."""
        parts = urlsplit(link)
        asked = dict(parse_qsl(parts.query))
        assert f"{parts.scheme}://{parts.netloc}" == self.url
        assert (asked["response_type"], asked["client_id"]) == ("code", self.client_id)
        assert asked["code_challenge_method"] == "S256"
        code = self._name("code")
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def revoke(self) -> None:
        """No refresh token counts any more."""
        self._refresh_tokens.clear()

    def answer(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.requests.append(form)
        if form.get("client_id") != self.client_id:
            return 401, {"error": "invalid_client"}
        match form.get("grant_type"):
            case "authorization_code":
                is_right = self._is_right_code(form)
            case "refresh_token":
                is_right = form.get("refresh_token") in self._refresh_tokens
                if is_right and self.rotates:
                    self._refresh_tokens.discard(form["refresh_token"])
            case _:
                return 400, {"error": "unsupported_grant_type"}
        if not is_right:
            return 400, {"error": "invalid_grant", "error_description": "The grant is not valid"}
        return 200, self._grant(is_first=form["grant_type"] == "authorization_code")

    def _is_right_code(self, form: dict[str, str]) -> bool:
        asked = self._codes.pop(form.get("code", ""), None)
        if asked is None or asked["redirect_uri"] != form.get("redirect_uri"):
            return False
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]

    def _grant(self, *, is_first: bool) -> dict[str, Any]:
        granted: dict[str, Any] = {
            "access_token": self._name("access"),
            "token_type": "Bearer",
            "expires_in": self.life_s,
        }
        if is_first or self.rotates:
            granted["refresh_token"] = self._name("refresh")
            self._refresh_tokens.add(granted["refresh_token"])
        return granted

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-{self._count}"

    def _build_responder(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Responder(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                status, value = server.answer(dict(parse_qsl(self.rfile.read(size).decode())))
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Responder
