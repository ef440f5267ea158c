"""Turns what the operating system refuses into a ToolError with the cause and the next step."""

import errno
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skales.core.errors import ToolError

# Cause and next step by errno. The old file is intact in every case; `changes` sees to that.
_CAUSES: Mapping[int, tuple[str, str]] = {
    errno.ENOENT: ("it does not exist", "Look for it with find_files or list_directory"),
    errno.EACCES: ("the system does not permit it", "Check who owns it, or choose another place"),
    errno.EPERM: ("the system does not permit it", "Check who owns it, or choose another place"),
    errno.EROFS: ("the disk is read-only", "Choose a place on another disk"),
    errno.ENOSPC: ("the disk is full", "Free some space, then try again"),
    errno.EDQUOT: ("the disk quota is used up", "Free some space, then try again"),
    errno.EFBIG: ("it would be larger than the system allows", "Split the content over several files"),
    errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter name"),
    errno.EISDIR: ("it is a folder", "Name a file inside it"),
    errno.ENOTDIR: ("a part of its path is a file, not a folder", "Check the path with list_directory"),
    errno.EEXIST: ("something with that name is there already", "Choose another name, or overwrite on purpose"),
    errno.ENOTEMPTY: ("something with that name is there already", "Choose another name, or overwrite on purpose"),
    errno.EBUSY: ("another program uses it", "Close that program, then try again"),
    errno.ETXTBSY: ("another program uses it", "Close that program, then try again"),
    errno.EINVAL: ("the name is not valid on this disk", "Choose another name"),
    errno.EILSEQ: ("the name is not valid on this disk", "Choose another name"),
    errno.EMFILE: ("too many files are open", "Try again in a moment"),
    errno.EIO: ("the disk reports a fault", "Check the disk, then try again"),
}


@contextmanager
def disk_errors(doing: str, path: Path) -> Generator[None]:
    """Raise ToolError in place of an OSError of the block: `'a.txt' cannot be written: the disk is full`.

    Args:
        doing: The participle for the sentence: `read`, `written`, `moved`.
        path: What the person knows the thing by.
    """
    try:
        yield
    except OSError as error:
        cause, hint = _CAUSES.get(error.errno or 0, (error.strerror or str(error), "Check the path, then try again"))
        raise ToolError(f"{str(path)!r} cannot be {doing}: {cause}", hint=hint, code=_code(error)) from error


def _code(error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return "not_found"
        case FileExistsError():
            return "exists"
        case _:
            return "disk"
