"""Programs that start the program named in their arguments: sudo, env, timeout, xargs, find -exec and their kind.

Says where in the arguments the started program begins. Pure; judges nothing.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from skales.security.shell_call import Call
from skales.security.shell_tree import Word

# Options of a wrapper that we do not know; nobody uses as many.
_MAX_UNKNOWN = 6


class _Wrapper(Struct, frozen=True):
    """How a program that starts another one reads its own arguments.

    `flags` are letters of options without a value, `values` options that take the next word. `skips` words follow
    before the program. `stops` are options after which no program is started.
    """

    flags: str = ""
    values: frozenset[str] = frozenset()
    skips: int = 0
    assigns: bool = False
    stops: frozenset[str] = frozenset()


def _wrapper(flags: str = "", values: str = "", *, skips: int = 0, assigns: bool = False, stops: str = "") -> _Wrapper:
    return _Wrapper(flags, frozenset(values.split()), skips, assigns, frozenset(stops.split()))


_WRAPPERS = {
    "sudo": _wrapper("AbBEeHiKknPSsN", "-C -D -g -h -p -R -r -T -t -U -u --user --group --host --prompt --chdir"
                     " --chroot --role --type --close-from --other-user --command-timeout", assigns=True,
                     stops="-l -v -V --list --version"),
    "doas": _wrapper("Lns", "-C -u -a"),
    "pkexec": _wrapper("", "--user"),
    "run0": _wrapper("", "-u --user -g --group -D --chdir --unit --property --slice"),
    "env": _wrapper("iv0", "-u -C -a --unset --chdir --argv0", assigns=True),
    "nice": _wrapper("0123456789", "-n --adjustment"),
    "ionice": _wrapper("t", "-c -n -p -P -u --class --classdata"),
    "nohup": _wrapper(), "setsid": _wrapper("cfw"), "builtin": _wrapper(), "exec": _wrapper("cl", "-a"),
    "command": _wrapper("p", stops="-v -V"),
    "time": _wrapper("apqvV", "-f -o --format --output"),
    "timeout": _wrapper("vfp", "-k -s --kill-after --signal", skips=1),
    "stdbuf": _wrapper("", "-i -o -e --input --output --error"),
    "chrt": _wrapper("abdfiomrv", "-T -P -D -p", skips=1), "taskset": _wrapper("ac", "-p", skips=1),
    "xargs": _wrapper("0ortxpi", "-a -d -E -I -J -L -n -P -R -s --arg-file --delimiter --max-lines --max-args"
                      " --max-procs --max-chars --replace --process-slot-var"),
    "parallel": _wrapper("0krtuvX", "-j -N -n -I -a -d -S --jobs --arg-file --joblog --results --delay --timeout"),
    "busybox": _wrapper(), "toybox": _wrapper(), "noglob": _wrapper(), "nocorrect": _wrapper(),
    "watch": _wrapper("bcdegtwx", "-n --interval"),
    "strace": _wrapper("cCdDfFhiqrtTvVxyYzZ", "-e -o -p -s -a -b -E -I -O -P -S -u -U"),
    "ltrace": _wrapper("bcCfhiLrStTV", "-a -A -e -D -F -l -n -o -p -s -u -w -x"),
    "unshare": _wrapper("imnpuUCTrcf", "-S -G -R -w"), "nsenter": _wrapper("aCimnpuUTrwF", "-t -S -G --target"),
    "chroot": _wrapper(skips=1), "flock": _wrapper("eosxunFv", "-w -E --timeout --wait", skips=1),
    "runuser": _wrapper("lmp", "-u -g -G -s -w"), "gosu": _wrapper(skips=1), "su-exec": _wrapper(skips=1),
    "caffeinate": _wrapper("dimsu", "-t -w"), "setarch": _wrapper("RBFILSTXZ", "", skips=1), "linux32": _wrapper(),
    "systemd-run": _wrapper("dtPqGrS", "-p -u -H -M -E --unit --property --slice --uid --gid --nice --setenv"),
    "fakeroot": _wrapper("", "-l -s -i -b"), "dbus-run-session": _wrapper(),
    "xvfb-run": _wrapper("al", "-e -f -n -p -s -w"),
    "proxychains": _wrapper("q", "-f"), "proxychains4": _wrapper("q", "-f"), "torsocks": _wrapper("", "-u -p -a -P"),
    "faketime": _wrapper("mp", "", skips=1), "firejail": _wrapper(), "catchsegv": _wrapper(),
    "winpty": _wrapper(), "arch": _wrapper("", "-e -d"), "prlimit": _wrapper(),
}  # fmt: skip


def started_by(call: Call) -> Iterator[Sequence[Word]]:
    """The words of each program that this call starts in turn, their program first."""
    wrapper = _WRAPPERS.get(call.name)
    if call.name == "find":
        yield from _started_by_find(call.args)
    elif call.name == "git":
        yield from _started_by_git(call)
    elif wrapper is not None:
        yield from _started_by_wrapper(call.args, wrapper)


def _started_by_wrapper(args: Sequence[Word], wrapper: _Wrapper) -> Iterator[Sequence[Word]]:
    place = unknown = 0
    while place < len(args) and unknown < _MAX_UNKNOWN:
        text = args[place].text
        if text in wrapper.stops:
            return
        if text in wrapper.values:
            place += 2
        elif len(text) > 1 and text.startswith("-"):
            place += 1
            if text == "--":
                break
            if not _is_known_option(text, wrapper):
                # Its value may be the next word: read both ways.
                yield args[place + 1 + wrapper.skips :]
                unknown += 1
        elif wrapper.assigns and "=" in text:
            place += 1
        else:
            break
    yield args[place + wrapper.skips :]


def _is_known_option(text: str, wrapper: _Wrapper) -> bool:
    if text.startswith("--"):
        return "=" in text
    attached = any(text.startswith(option) for option in wrapper.values if len(option) == 2)
    return attached or all(letter in wrapper.flags for letter in text[1:])


def _started_by_find(args: Sequence[Word]) -> Iterator[Sequence[Word]]:
    for place, word in enumerate(args):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((at for at in range(place + 1, len(args)) if args[at].text in (";", "+")), len(args))
            yield args[place + 1 : end]


def _started_by_git(call: Call) -> Iterator[Sequence[Word]]:
    """`git submodule foreach …` and `git bisect run …`."""
    texts = call.texts()
    for first, second in (("submodule", "foreach"), ("bisect", "run")):
        if first in texts and second in texts:
            yield call.args[texts.index(second) + 1 :]
