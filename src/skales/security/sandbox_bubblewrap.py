"""An enclosure as arguments for bubblewrap: an allow-list of mounts in namespaces of its own. Linux.

The program is alone in its process namespace, which ends with it. Spec: security.md; decision 0013.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from skales.security.sandbox import Enclosure, is_below, outermost_first

# What fits into the two folders in memory.
SCRATCH_BYTES = 1024**3

_SYSTEM = ("/usr", "/opt", "/nix/store", "/gnu/store", "/snap", "/var/lib/flatpak/runtime")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# The rest of /etc holds passwords, host keys and tokens on some computers. Each mount costs half a millisecond.
_ETC = (
    "alternatives", "ssl/certs", "ssl/openssl.cnf", "pki/ca-trust", "pki/tls/certs", "pki/tls/cert.pem",
    "pki/tls/openssl.cnf", "crypto-policies", "passwd", "group", "hosts", "resolv.conf", "nsswitch.conf", "services",
    "localtime", "timezone", "ld.so.cache", "os-release", "mime.types", "fonts", "gitconfig", "java-8-openjdk",
    "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "java-25-openjdk", "php", "R", "texmf", "ImageMagick-6",
    "ImageMagick-7",
)  # fmt: skip
# With root's own id these would be open to a program: kernel switches, and the memory of the computer.
_PROC_READ_ONLY = ("/proc/sys", "/proc/fs", "/proc/acpi", "/proc/scsi")
_PROC_CLOSED = ("/proc/sysrq-trigger", "/proc/kcore")
# Folders where programs listen on sockets.
_MEETING_PLACES = ("/run", "/tmp", "/var/tmp", "/var/run", "/dev/shm")  # noqa: S108 - named to be covered
# An id that is nobody's here, for a program that is started by root: tools behave as for a plain person.
_PLAIN_ID = 1000


class Bubblewrap(Struct, frozen=True):
    """A bubblewrap that works on this computer. Older ones lack what the two switches say."""

    program: str
    forbids_namespaces: bool = True
    bounds_memory: bool = True


def bubblewrap_words(bubblewrap: Bubblewrap, enclosure: Enclosure, folder: Path) -> Sequence[str]:
    """What stands before the program's own words; `folder` is where it runs. Reads whether things exist."""
    user, group = os.getuid() or _PLAIN_ID, os.getgid() or _PLAIN_ID
    return [
        bubblewrap.program,
        *("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--uid", str(user), "--gid", str(group), "--hostname", "sandbox"),
        *(("--disable-userns",) if bubblewrap.forbids_namespaces else ()),
        *(("--share-net",) if enclosure.network else ()),
        *_mounts(enclosure, ("--size", str(SCRATCH_BYTES)) if bubblewrap.bounds_memory else ()),
        *("--chdir", str(folder), "--"),
    ]


def _mounts(enclosure: Enclosure, size: Sequence[str]) -> Iterator[str]:
    """Later ones lie on top of earlier ones."""
    if enclosure.whole:
        yield from ("--ro-bind", "/", "/")
    else:
        yield from _system()
    yield from _kernel()
    for place in _scratch(enclosure):
        yield from (*size, "--tmpfs", str(place))
    if Path("/var/run").is_symlink() and not enclosure.whole:
        yield from ("--symlink", "/run", "/var/run")
    yield from _resolver()
    system = [] if enclosure.whole else [Path(path) for path in _SYSTEM]
    for path in enclosure.readable:
        if not any(is_below(path, root) for root in system):
            yield from ("--ro-bind", str(path), str(path))
    for path in enclosure.writable:
        yield from ("--bind", str(path), str(path))
    yield from _covers(enclosure)
    yield from ("--remount-ro", "/dev") if enclosure.whole else ("--remount-ro", "/dev", "--remount-ro", "/")


def _scratch(enclosure: Enclosure) -> Sequence[Path]:
    """Empty folders in memory: where programs meet, and the home."""
    meeting = [
        place
        for place in map(Path, _MEETING_PLACES)
        if not place.is_symlink() and (place.exists() or not enclosure.whole)
    ]
    has_home = not enclosure.whole and enclosure.home.is_dir() and enclosure.home != Path("/")
    return [*meeting, enclosure.home] if has_home else meeting


def _system() -> Iterator[str]:
    for path in filter(os.path.isdir, _SYSTEM):
        yield from ("--ro-bind", path, path)
    for path in _MERGED:
        if os.path.islink(path):  # noqa: PTH114 - text is what the arguments are made of
            yield from ("--symlink", os.readlink(path), path)  # noqa: PTH115 - as above
        elif os.path.isdir(path):  # noqa: PTH112 - as above
            yield from ("--ro-bind", path, path)
    for name in _ETC:
        path = f"/etc/{name}"
        real = os.path.realpath(path)
        if real != path and real.startswith("/usr/"):
            yield from ("--symlink", real, path)
        elif os.path.exists(path):  # noqa: PTH110 - as above
            yield from ("--ro-bind", path, path)


def _kernel() -> Iterator[str]:
    yield from ("--proc", "/proc", "--dev", "/dev")
    if os.getuid() != 0:
        return
    for path in filter(os.path.isdir, _PROC_READ_ONLY):
        yield from ("--ro-bind", path, path)
    for path in filter(os.path.exists, _PROC_CLOSED):
        yield from ("--ro-bind", "/dev/null", path)


def _resolver() -> Iterator[str]:
    """`/etc/resolv.conf` often leads into a covered folder."""
    real = os.path.realpath("/etc/resolv.conf")
    if real.startswith("/run/") and os.path.isfile(real):  # noqa: PTH113 - as above
        yield from ("--ro-bind", real, real)


def _covers(enclosure: Enclosure) -> Iterator[str]:
    """Close what is closed, as far as it would show."""
    private = enclosure.private
    shown = [*([Path("/")] if enclosure.whole else ()), *enclosure.readable, *enclosure.writable]
    empty = _scratch(enclosure)
    is_private_shown = _shows(private, shown, empty)
    if is_private_shown:
        empty = [*empty, private]
    blocked = [path for path in enclosure.blocked if _shows(path, shown, empty)]
    pins = _pins([*blocked, *([private] if is_private_shown else ())], enclosure.writable)
    yield from _bind(pin for pin in pins if not is_below(pin, private))
    if is_private_shown:
        yield from ("--tmpfs", str(private))
        for path in (path for path in enclosure.readable if is_below(path, private)):
            yield from ("--ro-bind", str(path), str(path))
        yield from _bind(path for path in enclosure.writable if is_below(path, private) and path != private)
        yield from ("--remount-ro", str(private))
    yield from _bind(pin for pin in pins if is_below(pin, private))
    for path in blocked:
        if not any(is_below(path, outer) for outer in blocked if outer != path):
            yield from ("--tmpfs", str(path), "--remount-ro", str(path)) if path.is_dir() else _cover_file(path)
    for path in enclosure.sockets:
        if _shows(path, shown, [*empty, *blocked]):
            yield from _cover_file(path)


def _cover_file(path: Path) -> Sequence[str]:
    return ("--ro-bind", "/dev/null", str(path))


def _bind(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        yield from ("--bind", str(path), str(path))


def _shows(path: Path, shown: Sequence[Path], empty: Sequence[Path]) -> bool:
    """Whether what lies innermost above a path shows it."""
    above = max((len(root.parts) for root in shown if is_below(path, root)), default=-1)
    covering = max((len(place.parts) for place in empty if is_below(path, place)), default=-1)
    return above >= 0 and above >= covering


def _pins(closed: Iterable[Path], writable: Sequence[Path]) -> Sequence[Path]:
    """Folders on the way to closed places: mounted as themselves they cannot be renamed, with what they hold."""
    on_the_way = {
        parent for path in closed for parent in path.parents if any(root in parent.parents for root in writable)
    }
    return outermost_first(on_the_way)
