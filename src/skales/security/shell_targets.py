"""Places whose loss is a disaster: the root, system folders, home folders, everything here, disks. Pure."""

import posixpath
import re

from skales.security.shell_tree import Word

# First-level folders of Linux and macOS that hold a system, programs or everybody's files. `/tmp` may be emptied.
_VITAL_FOLDERS = frozenset(
    {
        "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "nix", "opt", "proc",
        "root", "run", "sbin", "snap", "srv", "sys", "usr", "var",
        "Applications", "Library", "System", "Users", "Volumes", "private",
    }
)  # fmt: skip
_VITAL_PARENTS = frozenset({"home", "Users", "mnt", "Volumes", "cygdrive"})

_HOME = re.compile(r"\$(?:HOME|PWD|USERPROFILE|env:USERPROFILE|env:HOME)|%USERPROFILE%|~[A-Za-z0-9_.-]*", re.IGNORECASE)
_DRIVE = re.compile(
    r"[A-Za-z]:[\\/]*(?:(?:windows|users|program ?files(?: ?\(x86\))?|programdata|system32)[\\/]*)?(?:\*(?:\.\*)?)?"
    r"|\$env:SystemDrive[\\/]*|%SystemDrive%[\\/]*|(?:HKLM|HKCU|HKCR|HKU):.*",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(r"(?:\*+|\.\*|\*\.\*|\.\[!?\^?\.\]\*|\.\?\?\*|\{\*,\.\*\}|\{\.\*,\*\}|\?\*)")
_DISK = re.compile(
    r"/dev/(?:r?disk[0-9*?{\[]|[hsv]d[a-z*?{\[]|\[|xvd|nvme|mmcblk|md[0-9]|dm-|mapper/|disk/|loop[0-9]|k?mem\Z|port\Z|sr[0-9]"
    r"|nbd[0-9]|zd[0-9]|block/|\*)|\\\\\.\\PhysicalDrive[0-9]",
    re.IGNORECASE,
)


def is_vital(word: Word) -> bool:
    """Whether deleting or opening up everything below this path ruins a system, a home or the whole folder."""
    text = word.text
    is_computed = not word.known and text.startswith("$")
    home = _HOME.match(text) if word.tilde or is_computed or text.startswith("%") else None
    if home:
        return _is_all_of(text[home.end() :] or "/")
    if _DRIVE.fullmatch(text) or text == "\\":
        return True
    path = posixpath.normpath(text) if text else "."
    parts = [part for part in path.split("/") if part]
    while word.globbed and parts and _EVERYTHING.fullmatch(parts[-1]):
        parts.pop()
    if path.startswith("/"):
        return _is_vital_absolute(parts)
    return all(part in (".", "..") for part in parts) and text != ""


def is_far(word: Word) -> bool:
    """Whether a path is spelled from the root or a home folder, so that the working folder does not matter."""
    return word.text.startswith(("/", "~", "$", "%"))


def is_history(word: Word) -> bool:
    """Whether a file holds what was typed into a shell."""
    return re.search(r"(?:^|/)\.?(?:bash|zsh|sh|fish|python|psql|mysql)_history\Z", word.text) is not None


def is_disk(word: Word) -> bool:
    """Whether writing there overwrites a disk or the memory."""
    return _DISK.match(re.sub("/{2,}", "/", word.text)) is not None


def _is_all_of(rest: str) -> bool:
    """Whether what follows a home folder means all of it."""
    if not rest.startswith(("/", "\\")):
        return False
    parts = [part for part in posixpath.normpath(rest.replace("\\", "/")).split("/") if part]
    return not parts or (len(parts) == 1 and _EVERYTHING.fullmatch(parts[0]) is not None)


def _is_vital_absolute(parts: list[str]) -> bool:
    if not parts or re.search(r"[*?\[{]", parts[0]):
        return True
    if len(parts) == 1:
        return parts[0] in _VITAL_FOLDERS or re.fullmatch("[a-z]", parts[0]) is not None
    if parts[0] == "mnt" and len(parts) == 3 and len(parts[1]) == 1:
        return parts[2].lower() in ("users", "windows", "program files", "program files (x86)", "programdata")
    # Somebody's home, a drive under Windows' Linux, a mounted disk.
    return len(parts) == 2 and parts[0] in _VITAL_PARENTS
