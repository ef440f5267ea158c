"""Guard rules about files and disks: deleting, opening up, giving away, formatting, overwriting, wiping histories."""

import re

from skales.security.shell_call import Call
from skales.security.shell_rule import always, has_arguments, make_rule
from skales.security.shell_targets import is_disk, is_far, is_history, is_vital
from skales.security.shell_tree import Word

_SOMEWHERE = frozenset({"-type", "-mindepth", "-maxdepth", "-xdev", "-mount", "-depth", "-delete", "-print", "-print0"})
_OPEN_OR_CLOSED = re.compile("0?0?(?:777|666|000)|[augo]*[=+]r?w?x?w[rwxX]*|a?[-=][rwxX]*")


def _removes_vital(call: Call) -> bool:
    recursive = call.has_option("rR", "--recursive") or "--no-preserve-root" in call.texts()
    return recursive and any(map(is_vital, call.operands()))


def _finds_and_deletes(call: Call) -> bool:
    """Deletes everything from a system or home folder down, with no test that says what."""
    texts = call.texts()
    own_end = next((place for place, text in enumerate(texts) if text in ("-exec", "-execdir", "-ok")), len(texts))
    deletes = "-delete" in texts or any(re.fullmatch("(?:.*/)?(?:rm|shred|unlink)", text) for text in texts[own_end:])
    tests = [text for text in texts[:own_end] if re.fullmatch("-[a-z]{2,}[a-z0-9]*", text) and text not in _SOMEWHERE]
    return deletes and not tests and any(is_far(word) and is_vital(word) for word in call.args[:own_end])


def _removes_drive(call: Call) -> bool:
    targets = [word for word in call.args if not re.fullmatch("-[A-Za-z]+|/[A-Za-z]", word.text)]
    lower = [text.lower() for text in call.texts()]
    # PowerShell takes every unambiguous beginning of an option.
    deep = any(text in ("/s", "-r") or (len(text) > 3 and "-recurse".startswith(text)) for text in lower)
    return deep and any(map(is_vital, targets))


def _erases_disk(call: Call) -> bool:
    return any(text.lower().startswith(("erase", "zerodisk", "partitiondisk")) for text in call.texts())


def _deletes_shadows(call: Call) -> bool:
    return "delete" in (text.lower() for text in call.texts())


def _copies_onto_disk(call: Call) -> bool:
    return any(word.text.startswith("of=") and is_disk(Word(word.text[3:])) for word in call.args)


def _is_told_to_make(call: Call) -> bool:
    return any(text not in ("--help", "-h", "--version", "-V") for text in call.texts())


def _moves_vital(call: Call) -> bool:
    return any(is_far(word) and is_vital(word) for word in call.operands()[:-1])


def _mirrors_onto_vital(call: Call) -> bool:
    deletes = any(text.startswith("--del") for text in call.texts())
    return deletes and any(is_far(word) and is_vital(word) for word in call.operands()[1:])


def _writes_disk(call: Call) -> bool:
    return any(map(is_disk, call.operands()))


def _ends_on_disk(call: Call) -> bool:
    return any(map(is_disk, call.operands()[1:]))


def _opens_everything(call: Call) -> bool:
    if not call.has_option("R", "--recursive"):
        return False
    words = [word for word in call.args if not re.fullmatch("-[A-Za-z]*R[A-Za-z]*|--.*|-[cfv]+", word.text)]
    targets = [word for word in words[1:] if is_far(word) and is_vital(word)]
    opens = bool(targets) and _OPEN_OR_CLOSED.fullmatch(words[0].text) is not None
    # A system breaks under any one mode; a home folder only when it opens up or closes.
    return opens or any(not _is_home(word) for word in targets)


def _is_home(word: Word) -> bool:
    return re.match(r"/(?:home|Users|root)(?:/|\Z)|~|\$", word.text) is not None


def _gives_everything_away(call: Call) -> bool:
    far = any(is_far(word) and is_vital(word) for word in call.operands()[1:])
    return far and call.has_option("R", "--recursive")


def _clears_history(call: Call) -> bool:
    return call.has_option("c")


def _removes_history(call: Call) -> bool:
    return any(map(is_history, call.operands()))


def _replaces_history(call: Call) -> bool:
    return any(map(is_history, call.operands()[1:]))


def _removes_repository(call: Call) -> bool:
    return call.has_option("rR", "--recursive") and any(re.search(r"(?:^|/)\.git/?\Z", text) for text in call.texts())


_DELETE = ("shell.delete", "delete a system, a home folder or everything in this folder")
_DRIVE = ("shell.delete", "delete a drive, a system folder or what backups need")
_MKFS = ("shell.mkfs", "make a new file system over an old one")
_DISK = ("shell.disk", "overwrite a disk")
_HISTORY = ("shell.history", "wipe a history")

FILE_RULES = (
    make_rule(*_DELETE, "rm srm rimraf", _removes_vital),
    make_rule(*_DELETE, "find", _finds_and_deletes),
    make_rule(*_DRIVE, "remove-item ri del erase rd rmdir rm", _removes_drive),
    make_rule(*_DRIVE, "vssadmin", _deletes_shadows),
    make_rule(
        *_MKFS,
        "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.fat mkfs.vfat mkfs.msdos mkfs.exfat mkfs.ntfs"
        " mkfs.f2fs mkfs.minix mkfs.bfs mkfs.cramfs mke2fs mkswap mkntfs mkdosfs newfs newfs_apfs newfs_hfs",
        _is_told_to_make,
    ),
    make_rule(*_DELETE, "mv", _moves_vital),
    make_rule(*_DELETE, "rsync", _mirrors_onto_vital),
    make_rule(*_DISK, "wipefs blkdiscard", has_arguments),
    make_rule(*_DISK, "diskutil", _erases_disk),
    make_rule(*_DISK, "dd dcfldd dc3dd", _copies_onto_disk),
    make_rule(*_DISK, "shred tee truncate", _writes_disk),
    make_rule(*_DISK, "cp install", _ends_on_disk),
    make_rule("shell.chmod", "open or close a whole system or home folder", "chmod", _opens_everything),
    make_rule("shell.chown", "change the owner of a whole system or home", "chown chgrp", _gives_everything_away),
    make_rule(*_HISTORY, "history", _clears_history),
    make_rule(*_HISTORY, "clear-history", always),
    make_rule(*_HISTORY, "rm shred truncate tee unlink", _removes_history),
    make_rule(*_HISTORY, "cp ln mv", _replaces_history),
    make_rule(*_HISTORY, "rm", _removes_repository),
)
