"""Real FTP and FTPS servers on loopback, and one that lies."""

import datetime
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any


def make_certificate(folder: Path, name: str = "cert") -> Path:
    """A key and a certificate that signs itself, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.fromtimestamp(time.time(), datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


class FtpSite:
    """A pyftpdlib server for `ada`, password `lovelace`, in a thread of its own. `commands` are those it got."""

    def __init__(
        self,
        root: Path,
        certificate: Path | None = None,
        without: Sequence[str] = (),
        *,
        implicit: bool = False,
        port: int = 0,
    ) -> None:
        with warnings.catch_warnings():
            # It uses modules that Python 3.12 moved out.
            warnings.simplefilter("ignore", DeprecationWarning)
            handlers: Any = import_module("pyftpdlib.handlers")
            servers: Any = import_module("pyftpdlib.servers")

        commands: list[str] = []
        base: Any = handlers.TLS_FTPHandler if certificate else handlers.FTPHandler

        class Handler(base):  # type: ignore[misc]
            def handle(self) -> None:
                if implicit:
                    self.secure_connection(self.get_ssl_context())
                super().handle()

            def pre_process_command(self, line: str, cmd: str, arg: str) -> None:
                commands.append(line)
                super().pre_process_command(line, cmd, arg)

        authorizer = base.authorizer.__class__()
        authorizer.add_user("ada", "lovelace", str(root), perm="elradfmwMT")
        Handler.authorizer = authorizer
        Handler.auth_failed_timeout = 0
        Handler.use_sendfile = False
        if certificate:
            Handler.certfile = str(certificate)
            Handler.tls_control_required = Handler.tls_data_required = True
        Handler.proto_cmds = {name: value for name, value in base.proto_cmds.items() if name not in without}
        self.commands = commands
        self._loop: Any = import_module("pyftpdlib.ioloop").IOLoop()
        self._server: Any = servers.FTPServer(("127.0.0.1", port), Handler, ioloop=self._loop)
        self.port: int = self._server.address[1]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "FtpSite":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._loop.loop(timeout=0.02, blocking=False)
        self._server.close_all()


Reply = str | Callable[["LyingFtp", str], str]


class LyingFtp:
    """A server that answers as the table says: command → answer, or a function. What is not in it is agreed to.

    `data` is what goes over the next data connection; `passive` the address and port it names.
    """

    def __init__(self, answers: Mapping[str, Reply]) -> None:
        self.answers = answers
        self.data: bytes = b""
        self.got: dict[str, bytes] = {}
        self.commands: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.data_listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.data_port: int = self.data_listener.getsockname()[1]
        self.release = threading.Event()

    def passive(self, host: str = "127,0,0,1") -> str:
        return f"227 Entering ({host},{self.data_port // 256},{self.data_port % 256})"

    def serve(self) -> None:
        while True:
            try:
                control, _ = self._listener.accept()
            except OSError:
                return
            with control, suppress(OSError):
                self._talk(control)

    def close(self) -> None:
        for listener in (self._listener, self.data_listener):
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _talk(self, control: socket.socket) -> None:
        control.sendall(b"220 hello\r\n")
        with control.makefile("rb") as lines:
            for raw in lines:
                line = raw.decode().strip()
                self.commands.append(line)
                answer = self.answers.get(line.split(" ")[0].upper(), _default(line, self))
                text = answer(self, line) if callable(answer) else answer
                if text == "hang up":
                    return
                control.sendall(text.encode() + b"\r\n")
                if text.startswith("150"):
                    self._send_data()
                    control.sendall(b"226 done\r\n")

    def _send_data(self) -> None:
        connection, _ = self.data_listener.accept()
        with connection:
            connection.sendall(self.data)


def _default(line: str, site: LyingFtp) -> str:
    match line.split(" ")[0].upper():
        case "USER":
            return "331 password"
        case "PASS":
            return "230 in"
        case "FEAT":
            return "211-Features\r\n MLST type*;size*;\r\n211 End"
        case "PWD":
            return '257 "/" is here'
        case "PASV":
            return site.passive()
        case "MLSD" | "RETR" | "LIST":
            return "150 coming"
        case _:
            return "200 ok"


@contextmanager
def lying_ftp(**answers: Reply) -> Iterator[LyingFtp]:
    """Run such a server while the block lasts."""
    site = LyingFtp(answers)
    thread = threading.Thread(target=site.serve, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.close()
        thread.join(5)
