"""Guard rules about the running system and shared work: power, users, firewall, programs, drives, branches."""

import re

from skales.security.shell_call import Call
from skales.security.shell_rule import always, has_arguments, make_rule
from skales.security.shell_targets import is_disk

_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_MAIN_BRANCHES = frozenset({"main", "master", "trunk"})


def _lower(call: Call) -> list[str]:
    return [text.lower() for text in call.texts()]


def _powers_off(call: Call) -> bool:
    return not any(text in ("--help", "--version", "-c", "/?") for text in _lower(call))


def _changes_to_halt(call: Call) -> bool:
    return "0" in call.texts() or "6" in call.texts()


def _tells_init_to_halt(call: Call) -> bool:
    verb = next((word.text for word in call.operands()), "")
    return verb in ("poweroff", "reboot", "halt", "kexec", "emergency", "rescue")


def _deletes_net_user(call: Call) -> bool:
    return {"user", "/delete"} <= set(_lower(call))


def _flushes_tables(call: Call) -> bool:
    return call.has_option("F", "--flush")


def _flushes_ruleset(call: Call) -> bool:
    return _lower(call)[:2] == ["flush", "ruleset"]


def _stops_firewall(call: Call) -> bool:
    return bool({"disable", "reset"} & set(_lower(call)))


def _turns_firewall_off(call: Call) -> bool:
    return "firewall" in " ".join(_lower(call)) and "off" in _lower(call)


def _kills_hard(call: Call) -> bool:
    words = " ".join(call.texts()).upper()
    return re.search(r"(?:^|\s)-(?:-SIGNAL[= ]|S ?)?(?:SIG)?(?:9|KILL)(?:\s|\Z)", words) is not None


def _kills_everything(call: Call) -> bool:
    # Process 1 starts all others; -1 means all of them.
    return _kills_hard(call) and re.search(r"\s-?1(?:\s|\Z)", " ".join(call.texts())) is not None


def _kills_all_of_user(call: Call) -> bool:
    everybody = any(text in (".", ".*", "^") for text in call.texts())
    return _kills_hard(call) and (everybody or call.has_option("uUGgt", "--euid", "--uid", "--group", "--terminal"))


def _removes_schedule(call: Call) -> bool:
    return call.has_option("r") or "/dev/null" in call.texts()


def _partitions(call: Call) -> bool:
    only_shows = call.has_option("lpsVhdJ", "--list", "--print", "--help", "--version", "--dump") or (
        call.texts()[-1:] == ["print"]
    )
    return any(map(is_disk, call.operands())) and not only_shows


def _drops_volume(call: Call) -> bool:
    return any(text in ("destroy", "luksFormat", "luksErase", "erase", "--zero-superblock") for text in call.texts())


def _writes_sysrq(call: Call) -> bool:
    return any(text.startswith("/proc/sys") and "sysrq" in text for text in call.texts())


def _formats_drive(call: Call) -> bool:
    return any(re.match("[A-Za-z]:", text) for text in call.texts())


def _deletes_registry(call: Call) -> bool:
    machine = any(text.lstrip("\\").startswith(("hklm", "hkey_local_machine")) for text in _lower(call))
    return machine and "delete" in _lower(call)


def _forks_forever(call: Call) -> bool:
    code = " ".join(call.texts())
    return "while" in code and re.search(r"\bfork\b", code) is not None


def _git_parts(call: Call) -> tuple[str, list[str]]:
    """Subcommand and its arguments, behind git's own options."""
    subcommand, *rest = [word.text for word in call.operands_from(_GIT_VALUES)] or [""]
    return subcommand, rest


def _pushes_over_main(call: Call) -> bool:
    subcommand, rest = _git_parts(call)
    options = {text.partition("=")[0] for text in rest if text.startswith("-")}
    letters = "".join(text[1:] for text in options if not text.startswith("--"))
    # `--force-with-lease` spares what others pushed meanwhile, not what was there.
    forced = bool(options & {"--force", "--force-with-lease"}) or "f" in letters
    everything = "--mirror" in options or (forced and "--all" in options)
    over = forced or "--delete" in options or "d" in letters
    return subcommand == "push" and (everything or any(_is_main(text, over=over) for text in rest))


def _is_main(refspec: str, *, over: bool) -> bool:
    """Whether `[+][source:]target` names a main branch that would be overwritten or deleted."""
    source, colon, target = refspec.removeprefix("+").rpartition(":")
    over = over or refspec.startswith("+") or (colon == ":" and source == "")
    return over and target.removeprefix("refs/heads/") in _MAIN_BRANCHES


def _rewrites_repository(call: Call) -> bool:
    subcommand, rest = _git_parts(call)
    return subcommand in ("filter-branch", "filter-repo") or (subcommand == "reflog" and rest[:1] == ["expire"])


_POWER = ("shell.power", "shut the computer down or restart it")
_USER = ("shell.user", "delete a user account")
_FIREWALL = ("shell.firewall", "switch the firewall off")
_KILL = ("shell.kill", "kill programs before they can save")
_FORMAT = ("shell.format", "format a drive or change its partitions")

SYSTEM_RULES = (
    make_rule(*_POWER, "shutdown reboot halt poweroff stop-computer restart-computer", _powers_off),
    make_rule(*_POWER, "init telinit", _changes_to_halt),
    make_rule(*_POWER, "systemctl loginctl", _tells_init_to_halt),
    make_rule(*_USER, "userdel deluser remove-localuser", has_arguments),
    make_rule(*_USER, "net", _deletes_net_user),
    make_rule(*_FIREWALL, "iptables ip6tables iptables-legacy iptables-nft", _flushes_tables),
    make_rule(*_FIREWALL, "nft", _flushes_ruleset),
    make_rule(*_FIREWALL, "ufw", _stops_firewall),
    make_rule(*_FIREWALL, "netsh", _turns_firewall_off),
    make_rule(*_KILL, "killall", _kills_hard),
    make_rule(*_KILL, "kill", _kills_everything),
    make_rule(*_KILL, "pkill skill", _kills_all_of_user),
    make_rule(*_POWER, "tee cp dd", _writes_sysrq),
    make_rule("shell.crontab", "delete the whole schedule of a user", "crontab", _removes_schedule),
    make_rule(*_FORMAT, "format", _formats_drive),
    make_rule(*_FORMAT, "diskpart format-volume clear-disk initialize-disk", always),
    make_rule(*_FORMAT, "fdisk sfdisk cfdisk gdisk sgdisk cgdisk parted", _partitions),
    make_rule(*_FORMAT, "zpool zfs cryptsetup mdadm", _drops_volume),
    make_rule(*_FORMAT, "lvremove vgremove pvremove", has_arguments),
    make_rule("shell.registry", "delete settings of the whole system", "reg", _deletes_registry),
    make_rule("shell.fork-bomb", "start copies of itself without end", "perl python ruby php", _forks_forever),
    make_rule("shell.force-push", "overwrite or delete the main branch for everybody", "git", _pushes_over_main),
    make_rule("shell.history", "wipe a history", "git", _rewrites_repository),
)
