"""The blocking FTP client: the standard library's, held to one address, one certificate and one time limit.

Runs in a worker thread. `abort` may be called from any thread: it closes every socket, so that the thread ends at
once. Data connections go to the address of the control connection, whatever the server answers to PASV.
"""

import ftplib
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from skales.tools.remote.pinning import certificate_fingerprint, require_pin

IDLE_S = 30.0


class Dial(Struct, frozen=True):
    """Where to connect, and what the server is known by. `tls` is `no`, `explicit` or `implicit`."""

    host: str
    address: str
    port: int
    tls: str = "no"
    pin: str = ""


class WireFtp(ftplib.FTP):
    """One control connection."""

    def __init__(self, dial: Dial) -> None:
        super().__init__(timeout=IDLE_S, encoding="utf-8")
        self.fingerprint = ""
        self._dial = dial
        self._private = False
        self._sockets: set[socket.socket] = set()
        self._guard = threading.Lock()
        self._aborted = False
        self._context: ssl.SSLContext | None = None

    def open(self) -> None:
        """Connect, and secure the connection before anything about the person is sent. Raises OSError, ftplib's."""
        self.host, self.port = self._dial.address, self._dial.port
        self.sock = self._connect(self._dial.port)
        if self._dial.tls == "implicit":
            self.sock = self._secure(self.sock)
        self.af = self.sock.family
        self.file = self.sock.makefile("r", encoding=self.encoding, errors="surrogateescape")
        self.welcome = self.getresp()
        if self._dial.tls == "explicit":
            self.voidcmd("AUTH TLS")
            self.sock = self._secure(self.sock)
            # A new reader: what stood in the old one's buffer came unprotected.
            self.file = self.sock.makefile("r", encoding=self.encoding, errors="surrogateescape")

    def protect_data(self) -> None:
        """Encrypt data connections too."""
        self.voidcmd("PBSZ 0")
        self.voidcmd("PROT P")
        self._private = True

    def putline(self, line: str) -> None:
        """Send one command; names that are no UTF-8 go back as they came."""
        if "\r" in line or "\n" in line:
            raise ValueError("a command is one line")
        assert self.sock is not None
        self.sock.sendall(line.encode("utf-8", "surrogateescape") + b"\r\n")

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        """Open a data connection to the host of the control connection and start a transfer."""
        assert rest is None, "transfers are never resumed"
        data = self._connect(self._passive_port())
        try:
            self._begin(cmd)
            if self._private:
                data = self._secure(data)
        except BaseException:
            data.close()
            raise
        return data, None

    def abort_all(self) -> None:
        """End whatever the thread waits for. May be called from another thread, more than once."""
        with self._guard:
            self._aborted = True
            waiting = list(self._sockets)
        for each in waiting:
            with suppress(OSError):
                # Not the method of TLS sockets, which would take their state from under the other thread.
                socket.socket.shutdown(each, socket.SHUT_RDWR)

    def close_all(self) -> None:
        """Close every socket; called by the thread that uses them."""
        with suppress(OSError):
            self.close()
        with self._guard:
            sockets, self._sockets = self._sockets, set()
        for each in sockets:
            with suppress(OSError):
                each.close()

    def _begin(self, command: str) -> None:
        answer = self.sendcmd(command)
        if answer[0] == "2":  # some servers send this before the 150
            answer = self.getresp()
        if answer[0] != "1":
            raise ftplib.error_reply(answer)  # noqa: S321 - plain FTP is what some profiles are for

    def _passive_port(self) -> int:
        """The address of the answer is not used: servers behind routers say wrong ones, and bad ones name others."""
        if self.af == socket.AF_INET:
            return int(ftplib.parse227(self.sendcmd("PASV"))[1])  # noqa: S321 - as above
        assert self.sock is not None
        return int(ftplib.parse229(self.sendcmd("EPSV"), self.sock.getpeername())[1])  # noqa: S321 - as above

    def _connect(self, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._dial.address else socket.AF_INET
        raw = socket.socket(family, socket.SOCK_STREAM)
        raw.settimeout(IDLE_S)
        self._register(raw)
        try:
            raw.connect((self._dial.address, port))
        except BaseException:
            raw.close()
            raise
        return raw

    def _secure(self, raw: socket.socket) -> socket.socket:
        """TLS, with the session of the control connection where there is one: many servers demand that."""
        if self._context is None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._context.check_hostname = False
            # Most such servers sign for themselves. The pinned fingerprint says who it is.
            self._context.verify_mode = ssl.CERT_NONE
        control = self.sock if isinstance(self.sock, ssl.SSLSocket) else None
        secured = self._context.wrap_socket(
            raw,
            server_hostname=self._dial.host,
            session=control.session if control else None,
            do_handshake_on_connect=False,
        )
        self._register(secured)
        secured.do_handshake()
        seen = certificate_fingerprint(secured.getpeercert(binary_form=True) or b"")
        require_pin(self._dial.host, self._dial.pin or self.fingerprint, seen, "certificate")
        self.fingerprint = seen
        return secured

    def _register(self, each: socket.socket) -> None:
        with self._guard:
            self._sockets = {known for known in self._sockets if known.fileno() >= 0}
            self._sockets.add(each)
            if self._aborted:
                raise ConnectionAbortedError("aborted")


def features_of(wire: WireFtp) -> Sequence[str]:
    """What the server says it can, in capitals; nothing when it does not say."""
    try:
        return [line.strip().upper() for line in wire.sendcmd("FEAT").splitlines()]
    except ftplib.Error:
        return []
