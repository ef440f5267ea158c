"""Secrets without a telling beginning or a plain name: seed phrases, card numbers, lines and fields of known files.

A seed phrase counts only with a right checksum, a card number only with a right one and a word about cards beside it.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from skales.security.key_shapes import looks_random
from skales.security.marks import Mark, is_masked

_PHRASE = re.compile(r"(?<![A-Za-z])[A-Za-z]{3,8}(?:[^A-Za-z]{1,8}[A-Za-z]{3,8}){11,400}(?![A-Za-z])")
_BETWEEN = "0123456789.,;:()[]\"'-|"
# Every third word is looked up: twelve words of a phrase, numbered or not, hold four of those at least.
_STRIDE = 3
# By chance no phrase has fewer different ones; a word that is repeated forever is none.
_FEWEST_WORDS = 7
_HITS = "1111"
_SHORTEST = "1" * 12
_WORD = re.compile("[A-Za-z]+")
_LENGTHS = (24, 21, 18, 15, 12)

_CARD = re.compile(
    r"(?<![\w.-])[3-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{1,7}(?![\w-]|\.[0-9])"
    r"|(?<![\w.-])3[47][0-9]{2} [0-9]{6} [0-9]{5}(?![\w-])"
)
_CARD_WORDS = re.compile(r"card|karte|visa|amex|american express|mastercard|\bcvv|\bcvc")
_CARD_HINTS = ("card", "karte", "visa", "amex", "american express", "cvv", "cvc")
_CARD_CONTEXT = 120

# `set -x NAME value`, `setx NAME value`, `ENV NAME value`: no sign stands between them.
_SET = re.compile(
    r"(?m)(^[ \t]{0,8}(?:set\s-[gxU]{1,3}x?|setx|setenv|env|arg)[ \t]{1,4}\w{0,60}"
    r"(?:key|token|secret|passw(?:or)?d|_pass|_pwd|passphrase)(?:_\d)?[ \t]{1,4}[\"']?)([^\s\"'=]{6,1000})",
    re.IGNORECASE,
)
# `<add key="ApiKey" value="…"/>`, `{"name": "API_KEY", "value": "…"}`
_NAMED_PAIR = re.compile(
    r"((?:key|name)[\"']?\s{0,4}[=:]\s{0,4}[\"']?[\w.:-]{0,60}"
    r"(?:key|token|secret|passwor[dt]|_pass|_pwd|passphrase)[\"']?\s{0,4},?\s{0,40}"
    r"[\"']?value[\"']?\s{0,4}[=:]\s{0,4}[\"']?)([^\s\"'<>]{6,4000})",
    re.IGNORECASE,
)
# `"auth": "dXNlcjpwYXNz"` of Docker's configuration; `client-key-data:` of a kubeconfig
_FILE_FIELD = re.compile(
    r"((?:[\"']auth[\"']\s{0,4}:\s{0,4}[\"']|\b_auth\s{0,4}=\s{0,4}[\"']?|\bclient-key-data[\"']?\s{0,4}:\s{0,4}[\"']?))([A-Za-z0-9+/=]{8,16384})",
    re.IGNORECASE,
)
# host:port:database:user:password
_PGPASS = re.compile(
    r"(?m)(^(?:[\w.*-]{1,100}|\[[0-9a-f:]{2,45}\]):(?:[0-9]{2,5}|\*):[\w.*-]{1,60}:[\w.@-]{1,60}:)((?:[^\s:\\]|\\.){3,200})$"
)

# Options of known programs that are followed by a password, with or without a blank.
_OPTION = re.compile(
    r"((?:sshpass\s{1,4}-p\s{0,4}|\b(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;]{0,200}?\s-p"
    r"|\bredis-cli\b[^\n|;]{0,200}?\s-a\s{1,4}|\bldap\w{3,9}\b[^\n|;]{0,200}?\s-w\s{1,4}"
    r"|\b(?:docker|podman|helm|oras|skopeo|buildah|az|ncftp)\b[^\n|;]{0,40}?\blogin\b[^\n|;]{0,200}?\s-p\s{1,4}"
    r"|\bsmbclient\b[^\n|;]{0,200}?\s-U\s{0,4}[\"']?[\w.\\-]{1,60}%)[\"']?)([^\s\"'$-][^\s\"']{3,200})"
)
# The secret part of a key file of PuTTY.
_PUTTY = re.compile(
    r"(Private-Lines: [0-9]{1,4}(?:\r?\n|\\r|\\n){1,2})((?:[A-Za-z0-9+/=]{4,100}(?:\r?\n|\\r|\\n|\Z)){1,200})"
)
# Answers to a server's question, and signatures of requests: good for a while.
_ANSWER = re.compile(
    r"((?:\bdigest\s[^\n]{0,400}?\bresponse=\\{0,3}[\"']?|\bx-amz-signature=|\bsignature=))([a-f0-9]{32,128})\b",
    re.IGNORECASE,
)
_SSWS = re.compile(r"(\bSSWS )([\w-]{30,100})")
# A hook's path is all that protects it, also where its words look harmless.
_HOOK_PATH = re.compile(
    r"(\bhooks\.zapier\.com/hooks/(?:catch/)?[0-9]{4,12}/|\bmaker\.ifttt\.com/trigger/[\w-]{1,80}/(?:json/)?with/key/)([\w-]{5,80})"
)
# What a secret of Kubernetes holds, whatever its names are.
_CLUSTER_KIND = re.compile(r"(?m)^kind:[ \t]{1,4}[\"']?Secret\b")
_CLUSTER_DATA = re.compile(r"(?m)^(?:data|stringData):[ \t]{0,4}\r?\n((?:[ \t]{1,20}[^\n]{0,16384}(?:\n|\Z)){1,200})")
_CLUSTER_LINE = re.compile(r"(?m)^([ \t]{1,20}[\w.-]{1,253}:[ \t]{1,4}[\"']?)([^\s\"'|>*\[][^\s\"']{2,16384})")
# What signs an address to a store of Azure
_SIGNATURE = re.compile(r"([?&]sig=)([A-Za-z0-9%+/=_-]{16,400})")
# `<password>two words</password>`
_ELEMENT = re.compile(
    r"(<(?:\w{0,30}:)?\w{0,30}(?:password|passwd|passphrase|secret|apikey|api_key|token)>\s{0,40})([^<\s][^<]{2,4000}?)(?=\s{0,40}</)",
    re.IGNORECASE,
)
# YAML: the value stands on the lines below.
_BLOCK = re.compile(
    r"((?:key|token|secret|password|passwd|passphrase)[\"']?:[ \t]{1,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,40})"
    r"([^\s]{8,4000})",
    re.IGNORECASE,
)


def mask_rare(text: str, lowered: str, mark: Mark) -> str:
    """The text with such secrets masked; `lowered` is the same in small letters, of about the same length."""
    for hints, look in _LOOKS.items():
        if any(hint in lowered for hint in hints):
            text = look(text, mark)
    if any(word in lowered for word in _CARD_HINTS):
        text = _CARD.sub(lambda match: _mask_card(match, mark), text)
    if _may_hold_phrase(lowered):
        text = _PHRASE.sub(lambda match: _mask_phrase(match[0], mark), text)
    return text


def _mask_value(pattern: re.Pattern[str], kind: str) -> Callable[[str, Mark], str]:
    def look(text: str, mark: Mark) -> str:
        def replace(match: re.Match[str]) -> str:
            is_secret = not is_masked(match[2]) and looks_random(match[2], at_least=6)
            return match[1] + mark(kind, match[2]) if is_secret else match[0]

        return pattern.sub(replace, text)

    return look


def _mask_all_of(pattern: re.Pattern[str], kind: str) -> Callable[[str, Mark], str]:
    def look(text: str, mark: Mark) -> str:
        return pattern.sub(lambda match: match[0] if is_masked(match[2]) else match[1] + mark(kind, match[2]), text)

    return look


def _mask_lines(text: str, mark: Mark) -> str:
    def replace(match: re.Match[str]) -> str:
        is_place = is_masked(match[2]) or match[2].isdigit()
        return match[0] if is_place else match[1] + mark("password", match[2])

    return _PGPASS.sub(replace, text)


def _mask_cluster(text: str, mark: Mark) -> str:
    def replace(match: re.Match[str]) -> str:
        inner = _CLUSTER_LINE.sub(
            lambda line: line[0] if is_masked(line[2]) else line[1] + mark("secret", line[2]), match[1]
        )
        return match[0][: match.start(1) - match.start()] + inner

    return _CLUSTER_DATA.sub(replace, text) if _CLUSTER_KIND.search(text) else text


_LOOKS: Mapping[tuple[str, ...], Callable[[str, Mark], str]] = {
    ("setx ", "setenv ", "set -", "env ", "arg "): _mask_value(_SET, "secret"),
    ("value=", 'value"', "value:", "value'"): _mask_value(_NAMED_PAIR, "secret"),
    ('"auth"', "'auth'", "_auth=", "_auth =", "client-key-data"): _mask_value(_FILE_FIELD, "credentials"),
    (":5432:", ":5433:", ":3306:", ":*:"): _mask_lines,
    ("sshpass", "mysql", "mariadb", "redis-cli", " login ", "ldap", "smbclient"): _mask_value(_OPTION, "password"),
    ("private-lines",): _mask_value(_PUTTY, "private key"),
    ("signature=", "response="): _mask_value(_ANSWER, "signature"),
    ("ssws ",): _mask_value(_SSWS, "token"),
    ("hooks.zapier.com", "maker.ifttt.com"): _mask_all_of(_HOOK_PATH, "webhook"),
    ("kind:",): _mask_cluster,
    ("sig=",): _mask_value(_SIGNATURE, "signature"),
    ("</",): _mask_value(_ELEMENT, "secret"),
    (": |", ": >"): _mask_value(_BLOCK, "secret"),
}


def _mask_card(match: re.Match[str], mark: Mark) -> str:
    digits = re.sub("[^0-9]", "", match[0])
    near = match.string[max(0, match.start() - _CARD_CONTEXT) : match.end() + _CARD_CONTEXT].lower()
    is_card = 13 <= len(digits) <= 19 and _has_luhn_sum(digits) and _CARD_WORDS.search(near)
    return mark("card number", match[0]) if is_card else match[0]


def _has_luhn_sum(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _may_hold_phrase(lowered: str) -> bool:
    words = lowered.split()
    return _HITS in _mark_words(words[::_STRIDE]) and _SHORTEST in _mark_words(words)


def _mark_words(words: Sequence[str]) -> str:
    """One character for each word, 1 for those of a phrase; numbers and signs between them are nothing."""
    numbers = _numbers()
    return "".join(["1" if word in numbers else "0" for text in words if (word := text.strip(_BETWEEN))])


def _mask_phrase(run: str, mark: Mark) -> str:
    """The words of a run without the seed phrase in it."""
    words = list(_WORD.finditer(run))
    if len({word[0].lower() for word in words}) < _FEWEST_WORDS:
        return run
    spans = [
        (words[first].start(), words[first + length - 1].end())
        for length in _LENGTHS
        for first in range(len(words) - length + 1)
        if _is_seed_phrase([word[0].lower() for word in words[first : first + length]])
    ]
    if not spans:
        return run
    # One in sixteen windows fits by chance, such as one that begins with the words "seed phrase".
    start, end = min(start for start, _ in spans), max(end for _, end in spans)
    return run[:start] + mark("seed phrase", run[start:end]) + run[end:]


@cache
def _numbers() -> Mapping[str, int]:
    from skales.security.seed_words import SEED_WORDS  # most texts have no twelve such words in a row

    return {word: number for number, word in enumerate(SEED_WORDS.split())}


def _is_seed_phrase(words: list[str]) -> bool:
    numbers = [_numbers().get(word, -1) for word in words]
    if -1 in numbers:
        return False
    total_bits = len(words) * 11
    sum_bits = total_bits // 33
    bits = 0
    for number in numbers:
        bits = bits << 11 | number
    entropy = (bits >> sum_bits).to_bytes((total_bits - sum_bits) // 8)
    return hashlib.sha256(entropy).digest()[0] >> (8 - sum_bits) == bits & ((1 << sum_bits) - 1)
