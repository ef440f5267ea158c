"""Identifier types and where new ones come from."""

import re
import secrets
from typing import NewType, Protocol

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
CallId = NewType("CallId", str)
ApprovalId = NewType("ApprovalId", str)

# Ids become file names; a leading dot would hide the file, a slash would leave the folder.
_SAFE_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


class IdSource(Protocol):
    """Where new ids come from; tests pass a counting one."""

    def token(self, length: int) -> str:
        """`length` lower-case hex digits that nobody can guess."""
        ...


class RandomIds:
    """Ids from the system's random source."""

    def token(self, length: int) -> str:
        """`length` lower-case hex digits that nobody can guess."""
        return secrets.token_hex((length + 1) // 2)[:length]


def is_safe_id(text: str) -> bool:
    """Whether an id from outside can name a file: letters, digits, `_ - .`, no leading dot, at most 128."""
    return _SAFE_ID.fullmatch(text) is not None
