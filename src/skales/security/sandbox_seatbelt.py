"""An enclosure as a profile for macOS' `sandbox-exec`: everything is denied but what is named. Pure.

The last rule that matches counts, so what is closed stands last. Spec: security.md; decision 0013.
"""

from collections.abc import Iterable, Iterator

from skales.security.sandbox import Enclosure, is_below

PROGRAM = "/usr/bin/sandbox-exec"

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/System", "/Library", "/Applications", "/opt", "/nix/store", "/private/etc",
    "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select",
)  # fmt: skip
_CLOSED_SYSTEM = (
    "/Library/Keychains", "/private/etc/master.passwd", "/private/etc/ssh", "/private/etc/sudoers",
    "/private/var/db/dslocal",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper", "/dev/ptmx")
_SCRATCH = ("/private/tmp", "/private/var/tmp", "/private/var/folders")
# Without these no program starts: the loader, name look-ups, the log.
_SERVICES = (
    "com.apple.system.opendirectoryd.libinfo", "com.apple.system.notification_center", "com.apple.system.logger",
    "com.apple.logd", "com.apple.dyld.closured", "com.apple.trustd.agent", "com.apple.SystemConfiguration.configd",
)  # fmt: skip


def seatbelt_words(enclosure: Enclosure) -> list[str]:
    """What stands before the program's own words."""
    return [PROGRAM, "-p", seatbelt_profile(enclosure)]


def seatbelt_profile(enclosure: Enclosure) -> str:
    """The rules as text. Programs may write to the folders for temporary files besides the enclosure's own."""
    return "\n".join(_rules(enclosure)) + "\n"


def _rules(enclosure: Enclosure) -> Iterator[str]:
    whole = ("/",) if enclosure.whole else _SYSTEM
    readable = [*whole, *map(str, enclosure.readable)]
    writable = [*_SCRATCH, *map(str, enclosure.writable)]
    yield "(version 1)"
    yield "(deny default)"
    yield "(allow process-fork process-exec)"
    yield "(allow signal process-info* (target same-sandbox))"
    yield "(allow sysctl-read file-read-metadata)"
    yield '(allow file-read* (literal "/"))'
    yield from _rule("allow mach-lookup", "global-name", _SERVICES)
    yield from _rule("allow file-read* file-write* file-ioctl", "literal", _DEVICES)
    yield from _rule("allow file-read* file-map-executable", "subpath", readable)
    yield from _rule("allow file-read* file-write* file-map-executable", "subpath", writable)
    if enclosure.network:
        yield '(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))'
        yield '(allow network-bind network-inbound (local ip "*:*"))'
        yield "(allow system-socket)"
    yield from _closed(enclosure)


def _closed(enclosure: Enclosure) -> Iterator[str]:
    private = enclosure.private
    readable = [str(path) for path in enclosure.readable if is_below(path, private)]
    writable = [str(path) for path in enclosure.writable if is_below(path, private) and path != private]
    yield from _rule("deny file-read* file-write*", "subpath", [*_CLOSED_SYSTEM, str(private)])
    yield from _rule("allow file-read* file-map-executable", "subpath", readable)
    yield from _rule("allow file-read* file-write* file-map-executable", "subpath", writable)
    yield from _rule("deny file-read* file-write*", "subpath", map(str, enclosure.blocked))
    # A folder that is renamed would take what is closed in it out of its rule.
    on_the_way = {str(parent) for path in (private, *enclosure.blocked) for parent in path.parents}
    yield from _rule("deny file-write-unlink", "literal", sorted(on_the_way))


def _rule(verb: str, kind: str, values: Iterable[str]) -> Iterator[str]:
    """Nothing for no values: a rule without a filter would hold for everything."""
    filters = " ".join(f"({kind} {_quoted(value)})" for value in values)
    if filters:
        yield f"({verb} {filters})"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
