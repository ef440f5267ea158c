"""Locks of the system on an open file: they end with the program that holds them, however that ends.

What a lock means is its holder's business.
"""

import errno
import os
import sys

if sys.platform == "win32":  # pragma: no cover - the other half is what runs here
    import msvcrt

    # Windows locks bytes against reading too; this one is far behind the process id.
    _LOCKED_BYTE = 1 << 30

    def try_lock(descriptor: int, *, exclusive: bool) -> bool:  # noqa: ARG001 - the other half needs it
        """False when another program holds it. Windows knows no shared lock here: one program at a time."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give it back; closing is not enough where a child was forked off."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(descriptor: int, *, exclusive: bool) -> bool:
        """False when another program holds it."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give it back; closing is not enough where a child was forked off."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
