"""Which names of fields, headers, variables and options hold secrets, and which values behind them are none.

Data and pure questions for `redact`.
"""

import re
from enum import IntEnum


class Strength(IntEnum):
    """How surely a name holds a secret, and so how little its value must look like one."""

    NONE = 0
    # `key` may be anything: the value must be long and random.
    GENERIC = 1
    # A token may be counted or named: the value must look random.
    WEAK = 2
    # Every value but a status word or a reference is masked.
    STRONG = 3


CORE = r"(?:key|token|secret|passw(?:or[dt]|d)|passphrase|passcode|pass|pwd|credentials?|authorization|kennwort|psk|pw)"
SUFFIX = r"(?:[_-]?(?:base|value|hash|prod|dev|test|live|old|new|[0-9]{1,3}))?"
_NAME_END = re.compile(rf"({CORE}){SUFFIX}\Z", re.IGNORECASE)

# `api_key`, `accessKey`, `myapikey`
_SECRET_KEY = re.compile(
    r"(?:api|access|secret|private|auth|encryption|signing|signature|master|service|account|license|subscription"
    r"|client|app|application|shared|server|session|admin|deploy|webhook|storage|ssh|project|integration|security"
    r"|hmac|aes|jwt)\Z"
)
# `public_key`, `sortKey`
_OPEN_KEY = re.compile(
    r"public|primary|foreign|sort|partition|cache|object|group|row|hot|shortcut|short|idempotency|routing"
    r"|translation|i18n|message|dictionary|map|lookup|dedupe|dedup|host|unique|composite|range|index|arrow|modifier"
    r"|meta|registry|issue|answer"
)

# What stands behind a secret's name when the secret does not.
_STATUS = frozenset(
    {
        "a", "absent", "accepted", "allowed", "always", "an", "and", "any", "are", "as", "ask", "at", "authenticated",
        "authorization", "auto", "basic", "bearer", "bool", "boolean", "by", "bytes", "can", "changed", "code",
        "configured", "confirmed", "contains", "correct", "created", "credentials", "default", "deleted", "denied",
        "digest", "disabled", "empty", "enabled", "encrypted", "error", "example", "expired", "failed", "failure",
        "false", "float", "for", "forbidden", "found", "from", "granted", "has", "have", "here", "hidden", "if",
        "ignored", "in", "incorrect", "inherit", "insufficient", "int", "integer", "interactive", "invalid", "is",
        "issued", "key", "keyring", "loaded", "login", "long", "manual", "masked", "may", "mismatch", "mismatched",
        "missing", "must", "my", "name", "needed", "negotiate", "never", "nil", "no", "none", "not", "null", "number",
        "oauth", "oauth2", "object", "of", "off", "ok", "omitted", "on", "only", "optional", "or", "password",
        "passwords", "pending", "placeholder", "present", "prompt", "protected", "provided", "redacted", "refreshed",
        "rejected", "removed", "required", "reset", "revoked", "rotated", "saved", "secret", "sent", "set", "short",
        "should", "stored", "str", "string", "strong", "success", "successful", "supported", "tbd", "text", "that",
        "the", "this", "to", "todo", "token", "too", "true", "type", "unauthorized", "unavailable", "unconfigured",
        "undefined", "unknown", "unset", "unsupported", "unused", "unverified", "updated", "used", "valid", "value",
        "verified", "via", "was", "weak", "when", "will", "with", "wrong", "yes", "your", "same-origin", "include",
        "omit", "abgelaufen", "abgelehnt", "anzeigen", "bereits", "bitte", "darf", "das", "dein", "der", "die", "ein",
        "eingeben", "erforderlich", "falsch", "fehlt", "festlegen", "für", "geändert", "gesetzt", "gespeichert",
        "gültig", "hier", "ihr", "ist", "ja", "keine", "keines", "keins", "korrekt", "leer", "mein", "mindestens",
        "muss", "nein", "neu", "nicht", "notwendig", "nötig", "oder", "richtig", "sicher", "und", "unbekannt",
        "ungültig", "unsicher", "unverändert", "verbergen", "vergeben", "vergessen", "verschlüsselt", "versteckt",
        "von", "vorhanden", "wählen", "wiederholen", "wird", "wurde", "zeigen", "zu", "zurücksetzen", "ändern",
    }
)  # fmt: skip
# `config.apiKey`, `self.token`
_ATTRIBUTE = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
_REFERENCE = re.compile(
    # `${NAME}`, `$NAME`, `$token`, `$env:NAME`, `{{ name }}`, `%NAME%`
    r"\$\{[^}\n]{0,200}\}|\$\([^)\n]{0,200}\)|\$[A-Z_][A-Z0-9_]{0,80}\b|\$\w{0,40}(?i:pass|token|key|secret|pwd)\w{0,40}"
    r"|\$env:\w{1,80}|\{\{[^}\n]{0,200}\}\}|%[A-Za-z_]\w{0,80}%"
    # `<your key>`, `[hidden]`, `(none)`, `...`, `xxxx`, `your-key`, `changeme`
    r"|<[^>\n]{1,200}>|\[[A-Za-z][^\]\n]{1,60}\]|\([a-z][^)\n]{0,60}\)|\.{3}|…|[xX*•]{3,}(?!\w)"
    r"|(?i:your[_ -]\w{0,60}|change[_-]?me\b)"
)
# A call or a look-up that yields the value: `get_password(`, `os.environ[`, `getenv(`
_CALL = re.compile(
    r"[A-Za-z]+(?:[._][A-Za-z_]+)+[(\[]|(?:getenv|getpass|input|prompt|env|open|lambda|str|bytes|dict|list)[(\[]"
    r"|[A-Za-z_]\w{0,40}\[[\"']"
)


def split_name_end(name: str) -> tuple[str, str] | None:
    """What precedes the telling word of a name, and the word; None when the name tells nothing."""
    match = _NAME_END.search(name)
    return (name[: match.start()], match[1]) if match else None


def name_strength(before: str, core: str) -> Strength:
    """How surely `before + core` names a secret: `("api_", "key")`, `("client", "Secret")`."""
    word = core.lower()
    own_word = not before or not before[-1].isalnum() or (core[0].isupper() and before[-1].islower())
    qualifier = re.split(r"[^a-z0-9]", re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", before).lower().rstrip("_-. "))[-1]
    match word:
        case "key" if _OPEN_KEY.fullmatch(qualifier):
            return Strength.NONE
        case "key" if _SECRET_KEY.search(qualifier):
            return Strength.STRONG
        case "key":
            return Strength.GENERIC if own_word else Strength.NONE
        case "token":
            return Strength.WEAK
        case "pw" | "psk":
            return Strength.WEAK if own_word else Strength.NONE
        case "pass" | "pwd":
            return Strength.STRONG if own_word else Strength.NONE
        case _:
            return Strength.STRONG


def find_reference(text: str, at: int, *, code: bool = False) -> int:
    """Where a placeholder or variable that stands for a value ends, in `code` also a call; `at` when there is none."""
    match = _REFERENCE.match(text, at) or (_CALL.match(text, at) if code else None)
    return match.end() if match else at


def is_status(value: str) -> bool:
    """Whether a value says something about a secret instead of being one."""
    bare = value.strip(".,;:!?()")
    return bare.lower() in _STATUS or _ATTRIBUTE.fullmatch(bare) is not None
