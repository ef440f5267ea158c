"""Commands no model may start unasked: each rule says of one call whether it is that disaster.

The list is security.md, "Dangerous-command guard". Rules look at the program and its arguments only, so a dangerous
word in a search pattern or a commit message is nothing to them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from skales.security.shell_call import Call
from skales.security.shell_targets import is_disk, is_far, is_vital
from skales.security.shell_tree import Word


@dataclass(frozen=True, slots=True)
class Danger:
    """A rule's name and what the command would do, as the end of "it would …"."""

    rule: str
    words: str


def find_danger(call: Call) -> Danger | None:
    """The first rule a call breaks."""
    return next((danger for danger, applies in _RULES if applies(call)), None)


def writes_history(word: Word) -> bool:
    """Whether a file is a shell's history."""
    return re.search(r"(?:^|/)\.?(?:bash|zsh|sh|fish|python|psql|mysql)_history\Z", word.text) is not None


def _deletes_vital(call: Call) -> bool:
    if call.name == "find":
        return _find_deletes_vital(call)
    recursive = call.has_option("rR", "--recursive") or "--no-preserve-root" in call.texts()
    return call.name in ("rm", "srm", "rimraf") and recursive and any(map(is_vital, call.operands()))


def _find_deletes_vital(call: Call) -> bool:
    """Deletes everything from a system or home folder down, with no test that says what."""
    texts = call.texts()
    own_end = next((place for place, text in enumerate(texts) if text in ("-exec", "-execdir", "-ok")), len(texts))
    deletes = "-delete" in texts or any(re.fullmatch("(?:.*/)?(?:rm|shred|unlink)", text) for text in texts[own_end:])
    no_tests = {"-type", "-mindepth", "-maxdepth", "-xdev", "-mount", "-depth", "-delete", "-print"}
    tests = [text for text in texts[:own_end] if re.fullmatch("-[a-z]{2,}[a-z0-9]*", text) and text not in no_tests]
    return deletes and not tests and any(is_far(word) and is_vital(word) for word in call.args[:own_end])


def _deletes_on_windows(call: Call) -> bool:
    targets = [word for word in call.args if not re.fullmatch("-[A-Za-z]+|/[A-Za-z]", word.text)]
    lower = [text.lower() for text in call.texts()]
    if call.name in ("remove-item", "ri", "del", "erase", "rd", "rmdir", "rm"):
        # PowerShell takes every unambiguous beginning of an option.
        deep = any(text in ("/s", "-r") or (len(text) > 3 and "-recurse".startswith(text)) for text in lower)
        return deep and any(map(is_vital, targets))
    return call.name == "vssadmin" and "delete" in lower


def _makes_file_system(call: Call) -> bool:
    makers = ("mkfs", "mke2fs", "mkswap", "newfs", "wipefs", "blkdiscard", "mkntfs", "mkdosfs")
    if call.name == "diskutil":
        return any(text.lower().startswith(("erase", "zerodisk", "partitiondisk")) for text in call.texts())
    return (call.name in makers or call.name.startswith(("mkfs.", "newfs_"))) and bool(call.args)


def _overwrites_disk(call: Call) -> bool:
    if call.name in ("dd", "dcfldd", "dc3dd"):
        return any(word.text.startswith("of=") and is_disk(Word(word.text[3:])) for word in call.args)
    if call.name in ("shred", "tee", "truncate"):
        return any(map(is_disk, call.operands()))
    return call.name in ("cp", "install") and any(map(is_disk, call.operands()[1:]))


def _powers_off(call: Call) -> bool:
    texts = [text.lower() for text in call.texts()]
    if call.name in ("shutdown", "reboot", "halt", "poweroff", "stop-computer", "restart-computer"):
        return not any(text in ("--help", "--version", "-c", "/?") for text in texts)
    if call.name in ("init", "telinit"):
        return any(text in ("0", "6") for text in texts)
    return call.name in ("systemctl", "loginctl") and any(
        text in ("poweroff", "reboot", "halt", "kexec", "emergency", "rescue") for text in texts
    )


def _opens_everything(call: Call) -> bool:
    if call.name != "chmod" or not call.has_option("R", "--recursive"):
        return False
    words = [word for word in call.args if not re.fullmatch("-[A-Za-z]*R[A-Za-z]*|--.*|-[cfv]+", word.text)]
    targets = [word for word in words[1:] if is_far(word) and is_vital(word)]
    opens = words and re.fullmatch("0?0?(?:777|666|000)|[augo]*[=+]r?w?x?w[rwxX]*|a?[-=][rwxX]*", words[0].text)
    # A system breaks under any one mode; a home folder only when it opens up or closes.
    return bool(targets and opens) or any(not _is_home(word) for word in targets)


def _is_home(word: Word) -> bool:
    return re.match("/(?:home|Users|root)(?:/|\\Z)|~|\\$", word.text) is not None


def _gives_everything_away(call: Call) -> bool:
    if call.name not in ("chown", "chgrp") or not call.has_option("R", "--recursive"):
        return False
    return any(is_far(word) and is_vital(word) for word in call.operands()[1:])


def _git_parts(call: Call) -> tuple[str, list[str]]:
    """Subcommand and its arguments, behind git's own options."""
    values = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
    words = [word.text for word in call.operands_from(values)]
    return (words[0], words[1:]) if words else ("", [])


def _pushes_over_main(call: Call) -> bool:
    subcommand, rest = _git_parts(call) if call.name == "git" else ("", [])
    if subcommand != "push":
        return False
    options = {text.partition("=")[0] for text in rest if text.startswith("-")}
    clusters = "".join(text[1:] for text in options if not text.startswith("--"))
    forced = "--force" in options or "f" in clusters
    deletes = "--delete" in options or "d" in clusters
    if "--mirror" in options or (forced and "--all" in options):
        return True
    for text in rest:
        source, colon, target = text.rpartition(":")
        branch = target.removeprefix("+").removeprefix("refs/heads/")
        over = forced or deletes or text.startswith("+") or (colon and source in ("", "+"))
        if branch in ("main", "master", "trunk") and over:
            return True
    return False


def _wipes_history(call: Call) -> bool:
    texts = call.texts()
    if call.name == "history":
        return call.has_option("c")
    if call.name == "clear-history":
        return True
    if call.name in ("rm", "shred", "truncate", "tee", "unlink"):
        repository = any(re.search(r"(?:^|/)\.git/?\Z", text) for text in texts) and call.has_option(
            "rR", "--recursive"
        )
        return repository or any(map(writes_history, call.operands()))
    if call.name in ("cp", "ln", "mv"):
        return any(map(writes_history, call.operands()[1:]))
    subcommand, rest = _git_parts(call) if call.name == "git" else ("", [])
    return subcommand in ("filter-branch", "filter-repo") or (subcommand == "reflog" and rest[:1] == ["expire"])


def _deletes_user(call: Call) -> bool:
    lower = [text.lower() for text in call.texts()]
    if call.name == "net":
        return "user" in lower and "/delete" in lower
    return call.name in ("userdel", "deluser", "remove-localuser") and bool(call.args)


def _drops_firewall(call: Call) -> bool:
    lower = [text.lower() for text in call.texts()]
    match call.name:
        case "iptables" | "ip6tables" | "iptables-legacy" | "iptables-nft":
            return call.has_option("F", "--flush")
        case "nft":
            return lower[:2] == ["flush", "ruleset"]
        case "ufw":
            return "disable" in lower or "reset" in lower
        case "netsh":
            return "firewall" in " ".join(lower) and "off" in lower
        case _:
            return False


def _kills_everything(call: Call) -> bool:
    words = " ".join(call.texts()).upper()
    hard = re.search(r"(?:^|\s)-(?:-SIGNAL[= ]|S ?)?(?:SIG)?(?:9|KILL)(?:\s|\Z)", words) is not None
    # Process 1 starts all others; -1 means all of them.
    everything = re.search(r"\s-?1(?:\s|\Z)", words) is not None
    return hard and (call.name == "killall" or (call.name == "kill" and everything))


def _removes_schedule(call: Call) -> bool:
    return call.name == "crontab" and call.has_option("r")


def _formats(call: Call) -> bool:
    if call.name == "format":
        return any(re.match("[A-Za-z]:", text) for text in call.texts())
    return call.name in ("format-volume", "clear-disk", "initialize-disk", "diskpart")


def _deletes_registry(call: Call) -> bool:
    lower = [text.lower() for text in call.texts()]
    machine = any(text.lstrip("\\").startswith(("hklm", "hkey_local_machine")) for text in lower)
    return call.name == "reg" and "delete" in lower and machine


def _bombs(call: Call) -> bool:
    code = " ".join(call.texts())
    return (
        call.name in ("perl", "python", "ruby", "php") and re.search(r"\bfork\b", code) is not None and "while" in code
    )


_RULES: tuple[tuple[Danger, Callable[[Call], bool]], ...] = (
    (Danger("shell.delete", "delete a system, a home folder or everything in this folder"), _deletes_vital),
    (Danger("shell.delete", "delete a drive or a system folder"), _deletes_on_windows),
    (Danger("shell.mkfs", "make a new file system over an old one"), _makes_file_system),
    (Danger("shell.disk", "overwrite a disk"), _overwrites_disk),
    (Danger("shell.power", "shut the computer down or restart it"), _powers_off),
    (Danger("shell.chmod", "open or close a whole system or home folder to everybody"), _opens_everything),
    (Danger("shell.chown", "change the owner of a whole system or home folder"), _gives_everything_away),
    (Danger("shell.force-push", "overwrite or delete the main branch for everybody"), _pushes_over_main),
    (Danger("shell.history", "wipe a history"), _wipes_history),
    (Danger("shell.user", "delete a user account"), _deletes_user),
    (Danger("shell.firewall", "switch the firewall off"), _drops_firewall),
    (Danger("shell.kill", "kill programs without letting them save"), _kills_everything),
    (Danger("shell.crontab", "delete the whole schedule of a user"), _removes_schedule),
    (Danger("shell.format", "format a drive or change its partitions"), _formats),
    (Danger("shell.registry", "delete settings of the whole system"), _deletes_registry),
    (Danger("shell.fork-bomb", "start copies of itself without end"), _bombs),
)
