"""Closes the nameless ("abstract") unix sockets of other programs to a command whose network is open.

They belong to the network, not to any folder, so no mount hides them. Linux 6.12 and later can (Landlock, scopes); on
older ones they stay open. Landlock holds for a program and what it starts, so a small start program sets it.
"""

import sys
from collections.abc import Sequence

# landlock_create_ruleset with only `scoped` set, then landlock_restrict_self; numbers are the same on all processors.
_CODE = """\
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
rules = call(444, (ctypes.c_uint64 * 3)(0, 0, 1), ctypes.c_size_t(24), ctypes.c_uint32(0))
if rules >= 0:
    call(446, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr)
    sys.exit(127)
"""


def scope_words() -> Sequence[str]:
    """What stands before a program, inside the sandbox; nothing where no interpreter can be started."""
    return () if getattr(sys, "frozen", False) else (sys.executable, "-I", "-S", "-c", _CODE)
