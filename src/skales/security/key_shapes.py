"""How keys of known services look: the part that names the service and may stay, and the part that is secret.

Data for `redact`. Sources: the services' own pages about their key formats, public rules of secret scanners. A kept
part has at most eleven characters, so that nobody can search for the key by it.
"""

import re
from functools import cache

# What a key may follow: no letter, digit, `_` or `-`, so that `task-…` is no `sk-…`; but escapes in JSON and in
# addresses end in a letter or digit themselves, and terminal colours end in `m`.
_START = (
    r"(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9]{2}m)|(?<=\x1b\[[01];[0-9]{2}m))"
)

_WORD = "[A-Za-z0-9_-]"
_DOTTED = r"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_.-]))"
_BASE64 = "[A-Za-z0-9+/=_-]"

# (kept, one character of the rest). Lookaheads in the kept part check lengths where the beginning alone proves little.
_SHAPES = (
    (r"sk-(?:proj-|ant-|or-|lf-|svcacct-|admin-|None-)?", _WORD),  # OpenAI and who copied it; Anthropic, OpenRouter
    (r"gh[pousr]_", _DOTTED),
    (r"github_pat_", _WORD),
    (r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|ffct|soat|imt|agent|oas|wt)-", _DOTTED),
    (r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA|ANVA|APKA|ASCA)(?=[A-Z0-9]{16}(?![A-Za-z0-9]))", "[A-Z0-9]"),
    (r"ABSK(?=[A-Za-z0-9+/]{40})", _BASE64),  # Amazon Bedrock
    (r"AIza|AQ\.(?=Ab)|ya29\.|1//0|GOCSPX-", _DOTTED),  # Google
    (r"xox[a-z]-|xox[a-z]\.xox[a-z]-|xapp-|xwfp-", _WORD),  # Slack
    (r"[sr]k_(?:live|test|prod)_|whsec_", _BASE64),  # Stripe, Clerk, Svix
    (r"sk_(?=[a-f0-9]{32})|SK(?=[a-f0-9]{32})", "[a-f0-9]"),  # ElevenLabs, Twilio
    (r"hf_|api_org_|gsk_|xai-|pplx-|csk-|nvapi-|tvly-|jina_|fw_|tgp_v1_|pcsk_|vck_|r8_(?=\w{30})", _WORD),
    (r"fc-(?=[a-f0-9]{32})|pa-(?=[\w-]{40})|key-(?=[a-f0-9]{32})|dapi(?=[a-f0-9]{32})", _WORD),
    (r"lsv2_(?:pt|sk)_|phx_|sntry[su]_|glsa_|glc_|NRAK-|sbp_|sb_secret_|fm[12]_|fo1_", _BASE64),
    (r"npm_|rubygems_|pypi-|dckr_[po]at_|cio(?=[A-Za-z0-9]{32})|oy2(?=[a-z0-9]{43})", _WORD),
    (r"ntn_|secret_(?=[A-Za-z0-9]{40})|lin_api_|figd_|PMAK-|shp(?:at|ca|pa|ss)_|do[opr]_v1_", _WORD),
    (r"hv[sb]\.|dp\.(?:pt|st|ct|sa|scim|audit)\.|tskey-(?:auth|api)?|HRKU-|nfp_|cf[au]t_|ops_(?=eyJ)", _DOTTED),
    (r"ATATT3|ATCTT3|EAA[A-Z](?=[A-Za-z0-9]{40})|sq0(?:atp|csp)-|AGE-SECRET-(?=KEY-1)|syt_", _BASE64),
    (r"SG\.(?=[\w-]{16,64}\.)|pat(?=[A-Za-z0-9]{14}\.[a-f0-9]{40})", _DOTTED),  # SendGrid, Airtable
    (r"(?=[a-f0-9]{32}-us[0-9])", _WORD),  # Mailchimp
    (r"A{10}(?=A{12})", "[A-Za-z0-9%]"),  # X
    (r"[0-9]{8,10}:(?=AA[\w-]{33})|bot[0-9]{6,8}(?=[0-9]{0,4}:AA[\w-]{33})", "[A-Za-z0-9:_-]"),  # Telegram
    (r"[MNO](?=[\w-]{22,28}\.[\w-]{6}\.[\w-]{27})|mfa\.(?=[\w-]{60})", _DOTTED),  # Discord
    (r"eyJ(?=[\w-]{6,8000}\.{1,2}[\w-]{8})", _DOTTED),  # JWT, JWE
)

# A terminal or a mail program may break a key over lines. A later line belongs to it when it begins with a long run
# of key characters that is no word, no other key, no name with a value, no path and no call.
_LINE_END = r"(?:\r?\n|\\n)[ \t]{0,16}"
_NO_KEY = (
    r"(?![A-Z]?[a-z]{11,20}(?![A-Za-z0-9_-])|sk-|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox|hf_|gsk_|xai-|eyJ)"
)
CONTINUATION = rf"(?:{_LINE_END}{_NO_KEY}[A-Za-z0-9_-]{{12,400}}+(?![=:/(]|\.[A-Za-z]{{2}})){{0,8}}"


@cache
def key_shape() -> re.Pattern[str]:
    """Finds what begins and goes on like a key; made at first use, because it takes a while to build."""
    return re.compile(_START + "(?:" + "|".join(f"({kept})(?:{char})++{CONTINUATION}" for kept, char in _SHAPES) + ")")


# Beginnings nobody writes by chance; what follows others must look random as well.
_UNMISTAKABLE = re.compile(
    r"sk-(?:proj|ant|or|svcacct|admin)-|gh[pousr]_|github_pat_|gl[a-z]+-|A[A-Z0-9]{3}$|AIza|ya29\.|xox|xapp-"
    r"|[sr]k_(?:live|test)_|eyJ|[0-9]+:|bot|SG\.|A{10}|shp|do[opr]_v1_|pypi-|AGE-"
)
_MIN_REST = 16


def mask_key(match: re.Match[str], mask: str) -> str:
    """What is shown for a match of `key_shape`: its beginning and the mask, or all of it when it is no key at all."""
    kept = match[match.lastindex or 0]
    rest = match[0][len(kept) :]
    if len(rest) < _MIN_REST or not (_UNMISTAKABLE.match(kept) or looks_random(rest)):
        return match[0]
    return kept + mask


def looks_random(text: str, *, at_least: int = 8) -> bool:
    """Whether a value looks made by a machine: digits among letters, changing case, or too long for a word."""
    if len(text) < at_least:
        return False
    if re.search("[0-9]", text) and re.search("[A-Za-z]", text):
        return True
    return len(text) >= max(at_least, 16) and (re.search("[a-z][A-Z]", text) is not None or len(text) >= 32)
