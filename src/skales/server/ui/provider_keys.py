"""Keys are written and never read back: what a page shows of one must not come back as one."""

import re

from skales.core.errors import InputError
from skales.data.endpoints import mask_key, parse_api_key
from skales.server.words import _

# Signs that stand for others in masks. Two dots in a row occur in real tokens (RFC 7516), three do not.
_STAND_INS = re.compile(r"[\u2022\u25cf\u25cb\u2219\u00b7\u2024-\u2027\u22c5\u2217\uff0a\u2588\u25a0]|\*{2,}|\.{3,}")
_SAME_AGAIN = re.compile(r"(.)\1{7,}|[xX]{6,}|#{4,}")
_PLACEHOLDER = re.compile(
    r"[\[<({][^\[\]<>(){}]*[\])}>]|redacted|masked|hidden|unchanged|(your|my)[-_ ]?(api[-_ ]?)?key([-_ ]?here)?",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[^A-Za-z0-9]+")
_TAIL = 4


def read_key(text: str, stored: str) -> str:
    """The key that was typed. Raises InputError for a mask of whatever make, which never repeats the text."""
    key = text.strip()
    if looks_masked(key, stored):
        raise InputError(
            _("This is the masked form of a key, not the key itself"), hint=_("Paste the whole key"), code="masked_key"
        )
    return parse_api_key(key)


def looks_masked(key: str, stored: str) -> bool:
    """Whether a text is no key but what somebody shows in its place."""
    if not key or key == stored:
        return False
    if _STAND_INS.search(key) or _SAME_AGAIN.search(key) or _PLACEHOLDER.fullmatch(key):
        return True
    return bool(stored) and _is_shown_of(key, stored)


def _is_shown_of(key: str, stored: str) -> bool:
    """Whether it is what a mask of the stored key leaves, whatever stood for the rest."""
    letters = _SIGNS.sub("", key)
    mask = _SIGNS.sub("", mask_key(stored))
    return letters in (mask, "") or (len(letters) <= _TAIL and stored.endswith(letters))
