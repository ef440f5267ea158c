"""What a sealed value looks like, and a masked one. Knows no keys."""

import base64
import binascii
import re

from skales.core.errors import ConflictError

PREFIX = "enc:v1:"
ID_BYTES = 8
NONCE_BYTES = 12
TAG_BYTES = 16
_SEALED = re.compile(r"enc:v\d+:")
_DOT = "•"
_STARS = re.compile(r"[\w./:-]{0,12}\*{3,}")


class DamagedSecretError(ConflictError):
    """A sealed value that no key opens: it was cut, changed, or moved from another place."""

    def __init__(self) -> None:
        super().__init__(
            "The sealed secret is damaged or was moved from another place",
            hint="Enter the secret again",
            code="secret_damaged",
        )


def is_sealed(text: str) -> bool:
    """Whether a text is a sealed value, of whatever version."""
    return bool(_SEALED.match(text))


def is_mask(text: str) -> bool:
    """Whether a text is how a secret is shown: dots, or stars behind at most a prefix."""
    return _DOT in text or bool(_STARS.fullmatch(text))


def usable(text: str) -> str:
    """A secret to work with: nothing in place of one that is still sealed."""
    return "" if is_sealed(text) else text


def key_id_of(text: str) -> str:
    """The id of the key that a sealed value needs; empty when it is damaged."""
    try:
        return unpack(text)[:ID_BYTES].hex()
    except DamagedSecretError:
        return ""


def pack(key_id: str, nonce: bytes, sealed: bytes) -> str:
    """The text of a sealed value."""
    return PREFIX + base64.b64encode(bytes.fromhex(key_id) + nonce + sealed).decode()


def unpack(text: str) -> bytes:
    """The key's id, the nonce and what is sealed, one after the other. Raises DamagedSecretError."""
    if not text.startswith(PREFIX):
        raise DamagedSecretError
    try:
        data = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise DamagedSecretError from error
    if len(data) < ID_BYTES + NONCE_BYTES + TAG_BYTES:
        raise DamagedSecretError
    return data
