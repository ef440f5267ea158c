"""Names of files that usually hold keys or passwords, which must not slip into an archive that is passed on."""

from fnmatch import fnmatchcase
from pathlib import PurePath

_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
_NAMES = (
    ".env", ".env.*", "*.env", ".envrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_*_sk", "*.pem", "*.key",
    "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg", "*.asc", ".netrc", "_netrc", ".npmrc",
    ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf", "credentials", "credentials.json",
    "secrets.json", "secrets.y*ml", "secrets.toml", "service-account*.json", ".dockercfg", "*.ovpn", "*.tfstate",
    ".encryption-key",
)  # fmt: skip
# The same endings without a secret in them.
_HARMLESS = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub", "*.pub.pem")


def is_secret_name(path: PurePath) -> bool:
    """Whether a relative path looks like a key or password file, by its name or a folder it is in."""
    if any(part.casefold() in _FOLDERS for part in path.parts):
        return True
    name = path.name.casefold()
    if any(fnmatchcase(name, pattern) for pattern in _HARMLESS):
        return False
    return any(fnmatchcase(name, pattern) for pattern in _NAMES)
