"""How keys of known services look: the part that names the service and may stay, and the part that is secret.

Data for `redact`. Sources: the services' own pages about their key formats, public rules of secret scanners. A kept
part has at most eleven characters, so that nobody can search for the key by it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from skales.security.marks import plain

# What a key may follow: no letter, digit, `_` or `-`, so that `task-…` is no `sk-…`; but escapes in JSON and in
# addresses end in a letter or digit themselves, and terminal colours end in `m`.
_START = (
    r"(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9]{2}m)|(?<=\x1b\[[01];[0-9]{2}m)"
    # `backup-ghp_…`: some are unmistakable behind a dash, too.
    r"|(?<=[_-])(?=gh[pousr]_[A-Za-z0-9]{20}|github_pat_|glpat-|AIza|sk-(?:proj|ant)-|xox[bp]-|[sr]k_live_))"
)

_WORD = "[A-Za-z0-9_-]"
_DOTTED = r"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_.-]))"
_BASE64 = "[A-Za-z0-9+/=_-]"

# (kind, kept, one character of the rest). Lookaheads in the kept part check lengths where the beginning alone proves
# little.
_SHAPES = (
    ("Anthropic key", r"sk-ant-", _WORD),
    ("OpenRouter key", r"sk-or-", _WORD),
    ("OpenAI key", r"sk-(?:proj-|svcacct-|admin-|None-)", _WORD),
    ("API key", r"sk-(?:lf-)?", _WORD),  # OpenAI's older ones and those of who copied it; Langfuse
    ("GitHub token", r"gh[pousr]_", _DOTTED),
    ("GitHub token", r"github_pat_", _WORD),
    ("GitLab token", r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|ffct|soat|imt|agent|oas|wt)-|GR1348941", _DOTTED),
    (
        "AWS key",
        r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA|ANVA|APKA|ASCA)(?=[A-Z0-9]{16}(?![A-Za-z0-9]))",
        "[A-Z0-9]",
    ),
    ("AWS key", r"ABSK(?=[A-Za-z0-9+/]{40})", _BASE64),  # Amazon Bedrock
    ("Azure secret", r"(?=[\w.~-]{3}[78]Q~[\w.~-]{31,34}(?![\w~-]))", "[A-Za-z0-9_.~-]"),
    ("Google key", r"AIza|AQ\.(?=Ab)|ya29\.|1//0|GOCSPX-", _DOTTED),
    ("Slack token", r"xox[a-z]-|xox[a-z]\.xox[a-z]-|xapp-|xwfp-", _WORD),
    ("Stripe key", r"[sr]k_(?:live|test|prod)_|whsec_", _BASE64),  # also Clerk and Svix
    ("ElevenLabs key", r"sk_(?=[a-f0-9]{32})", "[a-f0-9]"),
    ("Twilio key", r"SK(?=[a-f0-9]{32})|AC(?=[a-f0-9]{32}:[a-f0-9]{32})", "[a-f0-9:]"),
    ("Hugging Face token", r"hf_|api_org_", _WORD),
    ("Groq key", r"gsk_", _WORD),
    ("xAI key", r"xai-", _WORD),
    ("Perplexity key", r"pplx-", _WORD),
    ("Cerebras key", r"csk-", _WORD),
    ("NVIDIA key", r"nvapi-", _WORD),
    ("API key", r"tvly-|jina_|fw_|tgp_v1_|pcsk_|vck_|r8_(?=\w{30})|BSA(?=[\w-]{28}(?![\w-]))", _WORD),
    ("API key", r"fc-(?=[a-f0-9]{32})|pa-(?=[\w-]{40})|key-(?=[a-f0-9]{32})|dapi(?=[a-f0-9]{32})", _WORD),
    ("API key", r"lsv2_(?:pt|sk)_|ph[cx]_|sntry[su]_|glsa_|glc_|NRAK-|NRII-|sbp_|sb_secret_|fm[12]_|fo1_", _BASE64),
    ("npm token", r"npm_", _WORD),
    ("PyPI token", r"pypi-", _WORD),
    ("package registry token", r"rubygems_|dckr_[po]at_|cio(?=[A-Za-z0-9]{32})|oy2(?=[a-z0-9]{43})", _WORD),
    ("API key", r"ntn_|secret_(?=[A-Za-z0-9]{40})|lin_(?:api|oauth)_|figd_|PMAK-|pscale_(?:tkn|pw|oauth)_", _WORD),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_", _WORD),
    ("DigitalOcean token", r"do[opr]_v1_", _WORD),
    ("HashiCorp token", r"hv[sb]\.|[A-Za-z0-9]{3}(?=[A-Za-z0-9]{11}\.atlasv1\.[\w=-]{60})", _DOTTED),
    (
        "API token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.|tskey-(?:auth|api|client)?|HRKU-|nfp_|cf[au]t_|ops_(?=eyJ)",
        _DOTTED,
    ),
    ("Atlassian token", r"AT(?:ATT|CTT|BB)3|ATBB(?=[A-Za-z0-9]{28})", _BASE64),
    ("Meta token", r"EAA[A-Z](?=[A-Za-z0-9]{40})", _BASE64),
    ("Square token", r"sq0(?:atp|csp)-|EAAA(?=[\w-]{60})", _BASE64),
    ("Mapbox token", r"sk\.(?=eyJ)", _DOTTED),
    ("age key", r"AGE-SECRET-(?=KEY-1)", _BASE64),
    ("Matrix token", r"syt_", _BASE64),
    ("SendGrid key", r"SG\.(?=[\w-]{16,64}\.)", _DOTTED),
    ("Brevo key", r"xkeysib-|xsmtpsib-", _WORD),
    ("Airtable token", r"pat(?=[A-Za-z0-9]{14}\.[a-f0-9]{40})", _DOTTED),
    ("Mailchimp key", r"(?=[a-f0-9]{32}-us[0-9])", _WORD),
    ("X token", r"A{10}(?=A{12})", "[A-Za-z0-9%]"),
    ("Telegram token", r"[0-9]{8,10}:(?=AA[\w-]{33})|bot[0-9]{6,8}(?=[0-9]{0,4}:AA[\w-]{33})", "[A-Za-z0-9:_-]"),
    ("Discord token", r"[MNO](?=[\w-]{22,28}\.[\w-]{6}\.[\w-]{27})|mfa\.(?=[\w-]{60})", _DOTTED),
    ("web token", r"eyJ(?=[\w-]{6,8000}\.{1,2}[\w-]{8})", _DOTTED),  # JWT, JWE
    ("Mailgun key", r"(?=[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![\w-]))", "[a-f0-9-]"),
    ("New Relic key", r"(?=[a-f0-9]{36}NRAL(?!\w))|NRIQ-|NRJS-", "[A-Za-z0-9]"),
    ("Cloudflare key", r"v1\.0-(?=[a-f0-9]{24}-[a-f0-9]{100})", "[a-f0-9-]"),
    ("HubSpot token", r"pat-(?:na|eu|ap)[0-9]-(?=[a-f0-9]{8}-[a-f0-9]{4}-)", "[a-f0-9-]"),
    (
        "1Password secret key",
        r"A3-(?=[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?!\w))",
        "[A-Z0-9-]",
    ),
    ("payment token", r"access_tok(?=en\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32})", "[a-z0-9$]"),
    (
        "payment key",
        r"FLWSECK(?=(?:_TEST)?-[A-Za-z0-9]{12,})|EZ[AT]K(?=[A-Za-z0-9]{54})|(?:live|test)_(?=[a-f0-9]{35}(?!\w))",
        _WORD,
    ),
    ("Dropbox token", r"sl\.(?=(?:u\.)?[A-Za-z0-9_-]{100})", _DOTTED),
    ("Dynatrace token", r"dt0c01\.(?=[A-Z0-9]{24}\.[A-Z0-9]{64})", _DOTTED),
    (
        "Vault token",
        r"(?:s|b)\.(?=[A-Za-z0-9]*[0-9])(?=[A-Za-z0-9]*[a-z])(?=[A-Za-z0-9]*[A-Z])(?=[A-Za-z0-9]{24}(?![\w.(]))",
        "[A-Za-z0-9]",
    ),
    ("Yandex token", r"t1\.(?=[\w-]{20,}\.[\w-]{60})|AQVN(?=[\w-]{35})", _DOTTED),
    ("DeepL key", r"(?=[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}:fx(?!\w))", "[a-f0-9:x-]"),
    ("Grafana key", r"eyJrIjoi(?=[A-Za-z0-9+/]{40})", _BASE64),
    ("cloud key", r"LTAI(?=[A-Za-z0-9]{16,26}(?!\w))|AKID(?=[A-Za-z0-9]{32}(?!\w))", "[A-Za-z0-9]"),
    ("Artifactory key", r"AKCp(?=[A-Za-z0-9]{60})|cmVmdGtu(?=[A-Za-z0-9]{50})", "[A-Za-z0-9]"),
    ("wallet key", r"[xyz]prv(?=[A-HJ-NP-Za-km-z1-9]{100})", "[A-Za-z0-9]"),
    ("Firebase key", r"AAAA(?=[\w-]{7}:APA91b[\w-]{100})", "[A-Za-z0-9:_-]"),
    (
        "API key",
        r"re_(?=[A-Za-z0-9]{8}_[A-Za-z0-9]{20})|CCI(?:PAT|PRJ)_|bk(?:ua|ct|pat)_(?=[a-f0-9]{40})|sq[upa]_(?=[a-f0-9]{40})"
        r"|rdme_(?=[a-z0-9]{70})|pn[ub]_(?=[A-Za-z0-9]{36})|pul-(?=[a-f0-9]{40})|tfp_(?=[\w-]{40})|CFPAT-(?=[\w-]{40})"
        r"|duffel_(?=live_|test_)|fio-u-(?=[\w-]{60})|shippo_(?=live_|test_)|CLOJARS_(?=[a-f0-9]{60})|pk_(?=[0-9]{6,9}_[A-Z0-9]{32})"
        r"|ico-(?=[A-Za-z0-9]{32}(?!\w))|oauth:(?=[a-z0-9]{30}(?!\w))|API-(?=[A-Z0-9]*[0-9][A-Z0-9]*(?!\w))(?=[A-Z0-9]{25,})",
        _WORD,
    ),
    ("Fernet token", r"gAAAAA(?=[\w-]{90})", _BASE64),
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
    return re.compile(
        _START + "(?:" + "|".join(f"({kept})(?:{char})++{CONTINUATION}" for _, kept, char in _SHAPES) + ")"
    )


# How each of them begins. Looking for these first passes over text without keys many times faster.
_BEGINNINGS = (
    "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-", "gldt-", "glrt-", "glrtr-",
    "glcbt-", "glft-", "glffct-", "glsoat-", "glimt-", "glagent-", "gloas-", "glwt-", "GR1348941", "AKIA", "ASIA",
    "ABIA", "ACCA", "AROA", "AIDA", "AGPA", "ANPA", "ANVA", "APKA", "ASCA", "ABSK", "AIza", "AQ.Ab", "ya29.",
    "1//0", "GOCSPX-", "xox", "xapp-", "xwfp-", "sk_", "rk_", "whsec_", "hf_", "api_org_", "gsk_", "xai-", "pplx-",
    "csk-", "nvapi-", "tvly-", "jina_", "fw_", "tgp_v1_", "pcsk_", "vck_", "r8_", "BSA", "fc-", "pa-", "key-",
    "dapi", "lsv2_", "phx_", "phc_", "sntrys_", "sntryu_", "glsa_", "glc_", "NRAK-", "NRII-", "sbp_", "sb_secret_",
    "fm1_", "fm2_", "fo1_", "npm_", "pypi-", "rubygems_", "dckr_", "cio", "oy2", "ntn_", "secret_", "lin_api_",
    "lin_oauth_", "figd_", "PMAK-", "pscale_", "shpat_", "shpca_", "shppa_", "shpss_", "doo_v1_", "dop_v1_",
    "dor_v1_", "hvs.", "hvb.", "dp.", "tskey-", "HRKU-", "nfp_", "cfat_", "cfut_", "ops_eyJ", "ATATT3", "ATCTT3",
    "ATBB", "EAA", "sq0atp-", "sq0csp-", "sk.eyJ", "AGE-SECRET-", "syt_", "SG.", "xkeysib-", "xsmtpsib-", "pat",
    "AAAAAAAAAAAAAAAAAAAAAA", "mfa.", "eyJ", "gAAAAA", "NRIQ-", "NRJS-", "v1.0-", "pat-", "A3-", "access_token$",
    "FLWSECK", "EZAK", "EZTK", "live_", "test_", "sl.", "dt0c01.", "s.", "b.", "t1.", "AQVN", "LTAI", "AKID", "AKCp",
    "cmVmdGtu", "xprv", "yprv", "zprv", "AAAA", "re_", "CCIPAT_", "CCIPRJ_", "bkua_", "bkct_", "bkpat_", "squ_", "sqp_",
    "sqa_", "rdme_", "pnu_", "pnb_", "pul-", "tfp_", "CFPAT-", "duffel_", "fio-u-", "shippo_", "CLOJARS_", "pk_",
    "ico-", "oauth:", "API-",
)  # fmt: skip
# Those that begin with anything, by what follows; the beginning of the match is a candidate.
_OTHER_BEGINNINGS = (
    (":AA", re.compile(r"(?:bot)?[0-9]{8,10}:AA[\w-]{33}")),
    ("Q~", re.compile(r"[A-Za-z0-9_.~-]{3}[78]Q~")),
    ("NRAL", re.compile("[a-f0-9]{36}NRAL")),
    (":fx", re.compile("[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}:fx")),
    ("-", re.compile("(?<![a-f0-9])[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}")),
    ("-us", re.compile("[a-f0-9]{32}-us[0-9]")),
    (".atlasv1.", re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.")),
    ("", re.compile("(?:SK|AC)[a-f0-9]{32}")),
    ("", re.compile(r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}")),
)


def find_keys(text: str) -> Iterator[re.Match[str]]:
    """What looks like a key, in order; `read_key` says whether it is one."""
    done = 0
    for start in _find_starts(plain(text)):
        if start >= done and (match := key_shape().match(text, start)):
            yield match
            done = match.end()


def _find_starts(text: str) -> Sequence[int]:
    starts: set[int] = set()
    for beginning in _BEGINNINGS:
        at = text.find(beginning)
        while at >= 0:
            starts.add(at)
            at = text.find(beginning, at + 1)
    for hint, pattern in _OTHER_BEGINNINGS:
        if hint in text:
            starts.update(match.start() for match in pattern.finditer(text))
    return sorted(starts)


# Beginnings nobody writes by chance; what follows others must look random as well.
_UNMISTAKABLE = re.compile(
    r"sk-(?:proj|ant|or|svcacct|admin)-|gh[pousr]_|github_pat_|gl[a-z]+-|A[A-Z0-9]{3}$|AIza|ya29\.|xox|xapp-"
    r"|[sr]k_(?:live|test)_|eyJ|[0-9]+:|bot|SG\.|A{10}|shp|do[opr]_v1_|pypi-|AGE-"
)
_MIN_REST = 16
# `fw_update_2024_final`, `sk-estimator-doc-link`: names made of words and numbers.
_WORDS = re.compile(r"(?:(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,12}|v?[0-9]{1,4})(?:[-_]+|\Z)){3,}")
# Behind these, even words are a key.
_ALWAYS = frozenset({"sk-proj-", "sk-ant-", "github_pat_", "AIza", "xoxb-", "xoxp-", "glpat-"})


def read_key(match: re.Match[str]) -> tuple[str, str] | None:
    """What kind of key a match of `find_keys` is and which of its beginning may stay; None when it is no key at all."""
    group = match.lastindex or 1
    kept = match[group]
    rest = match[0][len(kept) :]
    if len(rest) < _MIN_REST or (_WORDS.fullmatch(rest) and kept not in _ALWAYS):
        return None
    if not (_UNMISTAKABLE.match(kept) or looks_random(rest)):
        return None
    return _SHAPES[group - 1][0], kept


def looks_random(text: str, *, at_least: int = 8) -> bool:
    """Whether a value looks made by a machine: digits among letters, changing case, or too long for a word."""
    if len(text) < at_least:
        return False
    if re.search("[0-9]", text) and re.search("[A-Za-z]", text):
        return True
    return len(text) >= max(at_least, 16) and (re.search("[a-z][A-Z]", text) is not None or len(text) >= 32)
