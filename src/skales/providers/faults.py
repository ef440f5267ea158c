"""One clear error per cause: what a status, a complaint or a failed connection means, in words and with advice.

Every sentence names the provider and where it is, none names the key. Spec: providers.md; orchestrator.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct, structs

from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import JsonValue
from skales.providers.complaints import Complaint, read_body, read_json, read_retry_after

# Where a person changes what an error is about.
SETTINGS = "Settings, Providers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Who was asked, for error messages. `address` is the base URL without credentials."""

    label: str
    address: str
    model: str = ""
    secret: str = field(default="", repr=False)
    is_local: bool = False
    key_hint: str = ""
    model_hint: str = ""
    start_hint: str = ""
    trust_hint: str = ""

    def conceal(self, text: str) -> str:
        """The text without the key; endpoints echo what they were sent."""
        return text.replace(self.secret, "…") if self.secret else text


class _Rule(Struct, frozen=True):
    """When a cause applies: the status alone settles it, or the words do for one of these statuses (0 = none given)."""

    fault: ProviderFault
    certain: frozenset[int] = frozenset()
    words: str = ""
    statuses: frozenset[int] = frozenset()


_CLIENT_FAULTS = frozenset({0, 400, 403, 404, 410, 413, 422})
_ALL_FAULTS = _CLIENT_FAULTS | {401, 402, 429, 500, 502, 503, 529}

# Where the person is, or where the proxy comes out.
_REGION = (
    r"unsupported_country|unsupported_region|(?:country|region|location|territory).{0,40}(?:not|isn't) "
    r"(?:supported|available|allowed)|not (?:supported|available|allowed) in (?:your|this) (?:country|region|location)"
    r"|geo.?block|地区.{0,10}(?:不|限制)"
)
# A limit that does not pass while a person waits.
_DAILY = re.compile(r"per[-_ ]?day|daily|requests? a day|per[-_ ]?month|monthly")
# A proxy answers with it in the name of the endpoint.
_PROXY_STATUS = 407

# Looked at from the top; the first that applies decides. Spellings as vendors write them, in lower case.
_RULES = (
    # Google says "you exceeded your current quota" also of the requests per minute.
    _Rule(
        ProviderFault.RATE_LIMITED,
        words=r"resource_exhausted.*exceeded your current quota|quota exceeded for (?:metric|quota metric)",
        statuses=frozenset({0, 429}),
    ),
    _Rule(
        ProviderFault.NO_CREDIT,
        frozenset({402}),
        r"insufficient[_ ](?:quota|balance|credit|funds)|credit[_ ]balance|out of credits|no credits|arrearage"
        r"|exceeded your current quota|credits are depleted|billing_hard_limit"
        r"|billing[_ ]not[_ ]active|spending limit|余额不足|欠费",
        _ALL_FAULTS,
    ),
    _Rule(
        ProviderFault.CONTEXT_OVERFLOW,
        frozenset({413}),
        r"context[_ ]length[_ ]exceeded|exceed_context_size|maximum context length|context (?:length|window|size)"
        r"|maximum prompt length|prompt is too long|input is too long|input length|too many (?:input )?tokens in"
        r"|reduce the length|exceeded model token limit|token count.{0,40}exceeds|token limit exceeded"
        r"|exceeds? the (?:model'?s? )?(?:maximum|max)[^.]{0,30}(?:context|token|length)|string_above_max_length"
        r"|range of input length|prompt contains .{0,20}tokens|超出.{0,10}(?:长度|上下文)",
        _CLIENT_FAULTS | {500, 503},
    ),
    _Rule(ProviderFault.CONTEXT_OVERFLOW, words=r"request too large|request_too_large", statuses=frozenset({429, 413})),
    _Rule(
        ProviderFault.BAD_KEY,
        frozenset({401}),
        r"invalid[_ ]?api[_ ]?key|incorrect api key|api[_ ]key (?:not valid|is invalid|invalid|expired)|missing api key"
        r"|authentication[_ ](?:error|failed|fails)|invalid authentication|unauthorized|no auth credentials|login fail"
        r"|invalid[_ ]token|token (?:is )?(?:invalid|expired)",
        frozenset({0, 400, 403}),
    ),
    # Before the model: "this model is not available in your country" is about the country.
    _Rule(ProviderFault.FORBIDDEN, words=_REGION, statuses=_CLIENT_FAULTS),
    _Rule(
        ProviderFault.UNKNOWN_MODEL,
        words=r"model_?not_?found|not_found_error.{0,10} model:"
        r"|model.{0,120}(?:does not exist|not exist|not found|is not available)"
        r"|model \S{1,100} is not supported"
        r"|model_decommissioned|has been decommissioned|not a valid model|invalid model|unknown model|no such model"
        r"|no model.{0,20}loaded|try pulling it|no endpoints found for",
        statuses=_CLIENT_FAULTS,
    ),
    _Rule(
        ProviderFault.FORBIDDEN,
        frozenset({403, 451}),
        r"permission[_ ]denied|forbidden",
        frozenset({0, 400}),
    ),
    _Rule(
        ProviderFault.RATE_LIMITED,
        frozenset({429}),
        r"rate.?limit|too many requests|throttl|resource_?exhausted",
        frozenset({0, 400, 500, 503}),
    ),
    _Rule(ProviderFault.TIMEOUT, frozenset({408}), r"timed? ?out", frozenset({0})),
    _Rule(
        ProviderFault.OVERLOADED,
        frozenset({409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}),
        r"overload|server_?error|internal[_ ](?:server[_ ])?error|unavailable|no capacity|upstream|loading model"
        r"|try again",
        frozenset({0}),
    ),
    _Rule(ProviderFault.BAD_ANSWER, frozenset({404, 405}) | frozenset(range(300, 400))),
    _Rule(ProviderFault.BAD_REQUEST, frozenset(range(400, 500)) | {501, 505}),
    _Rule(ProviderFault.OVERLOADED, frozenset(range(500, 600))),
)
# Message and hint of the causes that need no case distinction.
_SENTENCES = {
    ProviderFault.NO_CREDIT: ("The credit at {who} is used up", "Add credit there, or choose another provider"),
    ProviderFault.FORBIDDEN: (
        "{who} refuses access",
        "The key, the account or this region may not use it; choose another model or provider",
    ),
    ProviderFault.CONTEXT_OVERFLOW: (
        "The conversation is too long for {model} of {who}",
        "Start a new conversation, attach less, or choose a model with a larger window",
    ),
    ProviderFault.RATE_LIMITED: (
        "{who} takes no more requests for now",
        "Wait a moment, or choose another model or provider",
    ),
    ProviderFault.OVERLOADED: ("{who} has trouble answering", "Try again later, or choose another provider"),
    ProviderFault.TIMEOUT: ("{who} did not finish in time", "Try again later, or choose another provider"),
    ProviderFault.BAD_ANSWER: ("{who} reported an error", "Ask again, or choose another model or provider"),
}
_REGION_HINT = "Choose another provider; when a proxy or VPN is on, its country counts, not yours"
_RETRYABLE = frozenset(
    {ProviderFault.RATE_LIMITED, ProviderFault.OVERLOADED, ProviderFault.TIMEOUT, ProviderFault.STREAM_CUT}
)


def status_fault(peer: Peer, status: int, headers: Mapping[str, str], body: str, now_ms: int) -> ProviderError:
    """The error for a response that is no success. `headers` has lower-case names."""
    complaint = read_body(peer.conceal(body))
    if status == _PROXY_STATUS:
        return proxy_fault(peer, "it asks for a user name and a password")
    fault = _decide(status, complaint)
    message, hint = _explain(peer, fault, complaint, status)
    if 300 <= status < 400:
        target = peer.conceal(headers.get("location", "")).partition("?")[0]
        message = f"{peer.label} at {peer.address} sends us to {target or 'another address'}"
        hint = f"A key is not sent on to another address; if the new one is right, set it in {SETTINGS}"
    return _worth_a_retry(ProviderError(message, fault=fault, hint=hint), complaint, headers, now_ms)


def stream_fault(peer: Peer, error: JsonValue, now_ms: int) -> ProviderError:
    """The error for an error object inside a response whose status was a success."""
    raw = read_json(error)
    complaint = structs.replace(raw, message=peer.conceal(raw.message), codes=peer.conceal(raw.codes))
    fault = _decide(complaint.status, complaint)
    message, hint = _explain(peer, fault, complaint, complaint.status)
    return _worth_a_retry(ProviderError(message, fault=fault, hint=hint), complaint, {}, now_ms)


def no_stream_fault(peer: Peer, body: str) -> ProviderError:
    """The error for a successful response that is neither an event stream nor a JSON answer."""
    complaint = read_body(peer.conceal(body))
    what = "a web page" if complaint.is_page else "something that is no chat answer"
    said = f": {complaint.message}" if complaint.message else ""
    return ProviderError(
        f"{peer.label} at {peer.address} answered with {what}{said}",
        fault=ProviderFault.BAD_ANSWER,
        hint=_path_hint(peer),
    )


def broken_chunk_fault(peer: Peer) -> ProviderError:
    """The error for a chunk of an answer that is damaged; leaving it out would change what the model said."""
    return ProviderError(
        f"{peer.label} at {peer.address} sent a damaged piece of its answer",
        fault=ProviderFault.BAD_ANSWER,
        hint="Ask again",
        retryable=True,
    )


def cut_fault(peer: Peer) -> ProviderError:
    """The error for an answer that just ends."""
    return ProviderError(
        f"The answer of {peer.label} at {peer.address} was cut off",
        fault=ProviderFault.STREAM_CUT,
        hint="What came so far is kept; ask again or write `continue`",
        retryable=True,
    )


def proxy_fault(peer: Peer, reason: str) -> ProviderError:
    """The error for a proxy of the environment that does not do its work."""
    said = f": {reason}" if reason else ""
    return ProviderError(
        f"The proxy on the way to {peer.label} at {peer.address} failed{said}",
        fault=ProviderFault.UNREACHABLE,
        hint="Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; a password belongs in http://user:password@host",
    )


def unconfigured(message: str, hint: str) -> ProviderError:
    """The error for a provider that cannot be asked as it is set up; no request was made."""
    return ProviderError(message, fault=ProviderFault.NOT_CONFIGURED, hint=hint)


def _worth_a_retry(
    error: ProviderError, complaint: Complaint, headers: Mapping[str, str], now_ms: int
) -> ProviderError:
    """The error with whether and when the same request may succeed; a limit per day does not pass in a minute."""
    if error.fault is ProviderFault.RATE_LIMITED and _DAILY.search(complaint.words):
        error.hint = "The limit for the day or the month is used up; choose another model or provider until it renews"
    elif error.fault in _RETRYABLE:
        error.retryable = True
        error.retry_after_s = read_retry_after(headers, complaint, now_ms)
    return error


def _decide(status: int, complaint: Complaint) -> ProviderFault:
    for rule in _RULES:
        if status in rule.certain:
            return rule.fault
        if status in rule.statuses and re.search(rule.words, complaint.words):
            return rule.fault
    return ProviderFault.BAD_ANSWER


def _explain(peer: Peer, fault: ProviderFault, complaint: Complaint, status: int) -> tuple[str, str]:
    """Message and hint of a cause."""
    who = f"{peer.label} at {peer.address}"
    said = f": {complaint.message}" if complaint.message else ""
    match fault:
        case ProviderFault.BAD_KEY if not peer.secret:
            return f"{who} asks for a key{said}", peer.key_hint or f"Enter one in {SETTINGS}"
        case ProviderFault.BAD_KEY:
            return f"{who} does not accept the key{said}", peer.key_hint or f"Check the key in {SETTINGS}"
        case ProviderFault.FORBIDDEN if re.search(_REGION, complaint.words):
            return f"{who} is not offered in this country or region{said}", _REGION_HINT
        case ProviderFault.UNKNOWN_MODEL:
            hint = peer.model_hint or f"Choose a model from the list in {SETTINGS}"
            return f"{who} does not offer the model {peer.model!r}{said}", hint
        case ProviderFault.BAD_ANSWER if status:
            return f"{who} has nothing at this path ({status}){said}", _path_hint(peer)
        case ProviderFault.BAD_REQUEST:
            return f"{who} refused the request ({status}){said}", _request_hint(complaint)
        case _:
            sentence, hint = _SENTENCES[fault]
            return sentence.format(who=who, model=peer.model or "the model") + said, hint


def _request_hint(complaint: Complaint) -> str:
    if re.search(r"image|vision|multimodal", complaint.words):
        return "This model may not take pictures; choose one that does"
    if re.search(r"tool|function", complaint.words):
        return "This model may not support tools; choose one that does"
    return "Choose another model, or report this with the message above"


def _path_hint(peer: Peer) -> str:
    if re.search(r"/v\d+[^/]*(?:/|$)", peer.address):
        return f"Check the base URL in {SETTINGS}"
    return "The base URL probably lacks /v1"
