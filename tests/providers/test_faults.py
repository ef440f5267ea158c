import json
from dataclasses import dataclass, field

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import JsonValue
from skales.providers.faults import Peer, no_stream_fault, status_fault, stream_fault

NOW_MS = 1_930_000_000_000
PEER = Peer(label="Acme", address="https://acme.example/v1", model="demo-large", secret="sk-secret")


def fault_of(status: int, body: JsonValue, headers: dict[str, str] | None = None, peer: Peer = PEER) -> ProviderError:
    text = body if isinstance(body, str) else json.dumps(body)
    return status_fault(peer, status, headers or {}, text, NOW_MS)


def openai(message: str, code: str = "", kind: str = "invalid_request_error") -> JsonValue:
    return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}


# Status, body as vendors write it, cause.
RESPONSES: list[tuple[int, JsonValue, ProviderFault]] = [
    (401, openai("Incorrect API key provided: sk-ab***yz.", "invalid_api_key"), ProviderFault.BAD_KEY),
    (401, {"message": "Unauthorized", "request_id": "1"}, ProviderFault.BAD_KEY),
    (401, "", ProviderFault.BAD_KEY),
    (
        400,
        [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}],
        ProviderFault.BAD_KEY,
    ),
    (403, {"code": "InvalidApiKey", "message": "Invalid API-key provided."}, ProviderFault.BAD_KEY),
    (401, {"status": 401, "title": "Unauthorized", "detail": "Authentication failed"}, ProviderFault.BAD_KEY),
    (402, openai("Insufficient Balance"), ProviderFault.NO_CREDIT),
    (402, {"error": {"message": "This request requires more credits", "code": 402}}, ProviderFault.NO_CREDIT),
    (
        429,
        openai("You exceeded your current quota, please check your plan", "insufficient_quota"),
        ProviderFault.NO_CREDIT,
    ),
    (
        429,
        {"error": {"code": "1113", "message": "Insufficient balance or no resource package"}},
        ProviderFault.NO_CREDIT,
    ),
    (400, openai("Your credit balance is too low to access the API"), ProviderFault.NO_CREDIT),
    (403, openai("Your account spending limit is reached"), ProviderFault.NO_CREDIT),
    (
        403,
        openai("Country, region, or territory not supported", "unsupported_country_region_territory"),
        ProviderFault.FORBIDDEN,
    ),
    (403, "<html><head><title>Just a moment...</title></head></html>", ProviderFault.FORBIDDEN),
    (451, "", ProviderFault.FORBIDDEN),
    (
        404,
        openai("The model `demo` does not exist or you do not have access to it.", "model_not_found"),
        ProviderFault.UNKNOWN_MODEL,
    ),
    (404, {"error": {"message": 'model "demo" not found, try pulling it first'}}, ProviderFault.UNKNOWN_MODEL),
    (400, openai("Model Not Exist"), ProviderFault.UNKNOWN_MODEL),
    (400, {"error": {"message": "demo is not a valid model ID", "code": 400}}, ProviderFault.UNKNOWN_MODEL),
    (400, openai("The model `x` has been decommissioned", "model_decommissioned"), ProviderFault.UNKNOWN_MODEL),
    (
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError"},
        ProviderFault.UNKNOWN_MODEL,
    ),
    (404, {"error": {"message": "No endpoints found for demo.", "code": 404}}, ProviderFault.UNKNOWN_MODEL),
    (404, {"detail": "Not Found"}, ProviderFault.BAD_ANSWER),
    (404, "404 page not found", ProviderFault.BAD_ANSWER),
    (405, {"detail": "Method Not Allowed"}, ProviderFault.BAD_ANSWER),
    (
        413,
        openai("Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000"),
        ProviderFault.CONTEXT_OVERFLOW,
    ),
    (413, "<html><head><title>413 Request Entity Too Large</title></head></html>", ProviderFault.CONTEXT_OVERFLOW),
    (
        429,
        openai("Request too large for gpt-5.5 on tokens per min (TPM)", "rate_limit_exceeded"),
        ProviderFault.CONTEXT_OVERFLOW,
    ),
    (
        429,
        openai("Rate limit reached for gpt-5.5 on tokens per min. Try again in 7.66s", "rate_limit_exceeded"),
        ProviderFault.RATE_LIMITED,
    ),
    (429, "Too Many Requests", ProviderFault.RATE_LIMITED),
    (408, "", ProviderFault.TIMEOUT),
    (500, openai("The server had an error", kind="server_error"), ProviderFault.OVERLOADED),
    (502, "<html><head><title>502 Bad Gateway</title></head></html>", ProviderFault.OVERLOADED),
    (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, ProviderFault.OVERLOADED),
    (503, openai("Rate limit: 3 requests a minute"), ProviderFault.RATE_LIMITED),
    (524, "", ProviderFault.OVERLOADED),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ProviderFault.OVERLOADED),
    (599, "", ProviderFault.OVERLOADED),
    (307, "", ProviderFault.BAD_ANSWER),
    (400, openai("Unsupported value: 'temperature'"), ProviderFault.BAD_REQUEST),
    (
        422,
        {"detail": [{"loc": ["body", "store"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]},
        ProviderFault.BAD_REQUEST,
    ),
    (400, "", ProviderFault.BAD_REQUEST),
    (418, "", ProviderFault.BAD_REQUEST),
]


@pytest.mark.parametrize(("status", "body", "fault"), RESPONSES)
def test_a_response_that_is_no_success_has_one_cause(status: int, body: JsonValue, fault: ProviderFault) -> None:
    error = fault_of(status, body)
    assert error.fault is fault
    assert error.code == fault.value
    assert "Acme" in error.message
    assert error.hint
    assert not error.message.endswith(".")
    assert "sk-" not in str(error)


# The many spellings of one cause.
OVERFLOWS = [
    (400, "This model's maximum context length is 131072 tokens. However, you requested 141403 tokens"),
    (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (400, "prompt is too long: 213462 tokens > 200000 maximum"),
    (400, "Input is too long for requested model."),
    (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)"),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens"),
    (400, "Please reduce the length of the messages or completion."),
    (400, "request (9120 tokens) exceeds the available context size (8192 tokens), try increasing it"),
    (400, "The number of tokens to keep from the initial prompt is greater than the context length"),
    (400, "invalid params, context window exceeds limit (2013)"),
    (400, "Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)"),
    (400, "Range of input length should be [1, 30720]"),
    (400, "Prompt contains 40001 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
    (403, "Input token count + max_tokens parameter must be less than the context length of the model being queried."),
    (422, "inputs tokens + max_new_tokens must be <= 4096: exceeds the model's maximum token length"),
    (500, "the request exceeds the available context size"),
]


@pytest.mark.parametrize(("status", "message"), OVERFLOWS)
def test_a_conversation_that_is_too_long_is_recognised(status: int, message: str) -> None:
    error = fault_of(status, openai(message))
    assert error.fault is ProviderFault.CONTEXT_OVERFLOW
    assert not error.retryable


def test_a_code_alone_is_enough_to_recognise_it() -> None:
    assert fault_of(400, openai("Sorry", "context_length_exceeded")).fault is ProviderFault.CONTEXT_OVERFLOW


@pytest.mark.parametrize("status", [401, 429])
def test_a_length_in_another_complaint_is_no_overflow(status: int) -> None:
    message = "Too many requests; maximum context length 8192"
    assert fault_of(status, openai(message)).fault is not ProviderFault.CONTEXT_OVERFLOW


@dataclass
class Wording:
    status: int
    body: JsonValue
    message: str
    hint: str
    peer: Peer = field(default=PEER)


LOCAL = Peer(label="Ollama", address="http://127.0.0.1:11434/v1", model="phi3", is_local=True, model_hint="Pull it")
ROOT = Peer(label="Custom", address="http://127.0.0.1:8080", model="m")
HINTED = Peer(label="GigaChat", address="https://giga.example/v1", secret="k", key_hint="It ran out")
WORDINGS = {
    "key": Wording(
        401,
        openai("Incorrect API key provided: sk-secret. See sk-se*****et"),
        "Acme at https://acme.example/v1 does not accept the key: Incorrect API key provided: …. See …",
        "Check the key in Settings, Providers",
    ),
    "no key": Wording(
        401, "", "Ollama at http://127.0.0.1:11434/v1 asks for a key", "Enter one in Settings, Providers", LOCAL
    ),
    "key of a vendor": Wording(
        401, "", "GigaChat at https://giga.example/v1 does not accept the key", "It ran out", HINTED
    ),
    "model": Wording(
        404,
        openai("model 'phi3' not found"),
        "Ollama at http://127.0.0.1:11434/v1 does not offer the model 'phi3': model 'phi3' not found",
        "Pull it",
        LOCAL,
    ),
    "path": Wording(
        404,
        "Not Found",
        "Custom at http://127.0.0.1:8080 has nothing at this path (404): Not Found",
        "The base URL probably lacks /v1",
        ROOT,
    ),
    "path with a version": Wording(
        404,
        "Not Found",
        "Acme at https://acme.example/v1 has nothing at this path (404): Not Found",
        "Check the base URL in Settings, Providers",
    ),
    "pictures": Wording(
        400,
        openai("Image input is not supported"),
        "Acme at https://acme.example/v1 refused the request (400): Image input is not supported",
        "This model may not take pictures; choose one that does",
    ),
    "tools": Wording(
        400,
        openai("demo does not support tools"),
        "Acme at https://acme.example/v1 refused the request (400): demo does not support tools",
        "This model may not support tools; choose one that does",
    ),
    "field": Wording(
        422,
        {"detail": [{"loc": ["body", "store"], "msg": "Extra inputs are not permitted"}]},
        "Acme at https://acme.example/v1 refused the request (422): body.store: Extra inputs are not permitted",
        "Choose another model, or report this with the message above",
    ),
    "router": Wording(
        400,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": '{"error":{"message":"Bad schema"}}'},
            }
        },
        "Acme at https://acme.example/v1 refused the request (400): Bad schema",
        "Choose another model, or report this with the message above",
    ),
    "unknown JSON": Wording(
        400,
        {"ok": False},
        'Acme at https://acme.example/v1 refused the request (400): {"ok": false}',
        "Choose another model, or report this with the message above",
    ),
    "nested too deeply": Wording(
        400,
        {"error": {"error": {"error": {"error": {"error": {"error": {"error": {"error": {"error": "x"}}}}}}}}},
        "Acme at https://acme.example/v1 refused the request (400): "
        + json.dumps(
            {"error": {"error": {"error": {"error": {"error": {"error": {"error": {"error": {"error": "x"}}}}}}}}}
        ),
        "Choose another model, or report this with the message above",
    ),
    "router that quotes text": Wording(
        400,
        {"error": {"message": "Provider returned error", "metadata": {"raw": "{broken"}}},
        "Acme at https://acme.example/v1 refused the request (400): {broken",
        "Choose another model, or report this with the message above",
    ),
    "cloudflare": Wording(
        400,
        {"success": False, "errors": [{"code": 5007, "message": "No such thing"}]},
        "Acme at https://acme.example/v1 refused the request (400): No such thing",
        "Choose another model, or report this with the message above",
    ),
    "long text": Wording(
        500,
        "x " * 1000,
        "Acme at https://acme.example/v1 has trouble answering: " + "x " * 199 + "x…",
        "Try again later, or choose another provider",
    ),
    "control characters": Wording(
        500,
        openai("a\nb\x1b[31m\u202e c"),
        "Acme at https://acme.example/v1 has trouble answering: a b[31m c",
        "Try again later, or choose another provider",
    ),
    "page without a title": Wording(
        502,
        "<html><h1>Bad <b>Gateway</b></h1></html>",
        "Acme at https://acme.example/v1 has trouble answering: Bad Gateway",
        "Try again later, or choose another provider",
    ),
    "page without words": Wording(
        502,
        "<html></html>",
        "Acme at https://acme.example/v1 has trouble answering",
        "Try again later, or choose another provider",
    ),
}


@pytest.mark.parametrize("name", WORDINGS)
def test_each_cause_has_its_words_and_advice(name: str) -> None:
    wording = WORDINGS[name]
    error = fault_of(wording.status, wording.body, peer=wording.peer)
    assert (error.message, error.hint) == (wording.message, wording.hint)


REGIONS = [
    (403, openai("Country, region, or territory not supported", "unsupported_country_region_territory")),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "User location is not supported for the API use.",
                "status": "FAILED_PRECONDITION",
            }
        },
    ),
    (403, {"error": {"message": "This model is not available in your region"}}),
    (403, {"error": {"message": "Your country isn't supported"}}),
    (451, {"message": "Access from this country is not allowed"}),
]


@pytest.mark.parametrize(("status", "body"), REGIONS)
def test_a_region_that_is_not_served_is_told_from_a_key_that_may_not(status: int, body: JsonValue) -> None:
    error = fault_of(status, body)
    assert error.fault is ProviderFault.FORBIDDEN
    assert error.message.startswith("Acme at https://acme.example/v1 is not offered in this country or region")
    assert "VPN" in error.hint
    assert "refuses access" in fault_of(403, openai("You have no permission")).message


def google_limit(quota: str, delay: str) -> JsonValue:
    return {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
                {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"description": "Learn more"}]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
            ],
        }
    }


@pytest.mark.parametrize(
    ("delay", "wait_s"),
    [("34s", 34.0), ("26.914853131s", 26.914853131), ("0s", 0.0), ("3600s", 60.0), ("soon", None), ("-5s", None)],
)
@pytest.mark.parametrize("is_stream", [False, True], ids=["status", "stream"])
def test_the_delay_of_google_is_honoured(delay: str, wait_s: float | None, is_stream: bool) -> None:
    body = google_limit("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", delay)
    error = stream_fault(PEER, body, NOW_MS) if is_stream else fault_of(429, body)
    assert (error.fault, error.retryable, error.retry_after_s) == (ProviderFault.RATE_LIMITED, True, wait_s)


def test_a_header_counts_more_than_the_body() -> None:
    assert fault_of(429, google_limit("x", "34s"), {"retry-after": "2"}).retry_after_s == 2.0


@pytest.mark.parametrize(
    "body",
    [
        google_limit("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "34s"),
        openai("Rate limit reached on requests per day (RPD): Limit 200, Used 200. Please try again in 7m12s."),
        openai("Rate limit exceeded: free-models-per-day", "429"),
        openai("Monthly limit of the free plan reached"),
    ],
)
def test_a_limit_of_the_day_is_not_waited_for(body: JsonValue) -> None:
    error = fault_of(429, body)
    assert (error.fault, error.retryable, error.retry_after_s) == (ProviderFault.RATE_LIMITED, False, None)
    assert "another model" in error.hint


def test_a_proxy_that_wants_a_password_is_not_taken_for_the_endpoint() -> None:
    error = fault_of(407, "<html><title>Proxy Authentication Required</title></html>")
    assert error.message.startswith("The proxy on the way to Acme")
    assert (error.fault, error.retryable) == (ProviderFault.UNREACHABLE, False)
    assert "HTTPS_PROXY" in error.hint


@pytest.mark.parametrize(
    ("headers", "message", "wait_s"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after": "-3"}, "", 0.0),
        ({"retry-after": "86400"}, "", 60.0),
        ({"retry-after": "Thu, 27 Feb 2031 23:06:50 GMT"}, "", 10.0),
        ({"retry-after": "Sun, 27 Feb 2000 15:06:50 GMT"}, "", 0.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after-ms": "250", "retry-after": "7"}, "", 0.25),
        ({}, "Please try again in 7.66s", 7.66),
        ({}, "Please try again in 1m2.5s", 60.0),
        ({}, "Please retry after 350ms", 0.35),
        ({}, "Slow down", None),
    ],
)
def test_the_wish_to_wait_is_read_and_capped(headers: dict[str, str], message: str, wait_s: float | None) -> None:
    error = fault_of(429, openai(message or "Slow down"), headers)
    assert error.retryable
    assert error.retry_after_s == (pytest.approx(wait_s) if wait_s is not None else None)


def test_a_wish_to_wait_means_nothing_where_waiting_does_not_help() -> None:
    error = fault_of(401, "", {"retry-after": "7"})
    assert (error.retryable, error.retry_after_s) == (False, None)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_trouble_is_worth_another_try(status: int) -> None:
    assert fault_of(status, "").retryable


@pytest.mark.parametrize("status", [302, 400, 401, 402, 403, 404, 413, 422, 501])
def test_lasting_trouble_is_not(status: int) -> None:
    assert not fault_of(status, "").retryable


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ({"code": "server_error", "message": "Upstream closed"}, ProviderFault.OVERLOADED),
        ({"type": "overloaded_error", "message": "Overloaded"}, ProviderFault.OVERLOADED),
        ({"code": 429, "message": "x"}, ProviderFault.RATE_LIMITED),
        ({"code": "502", "message": "x"}, ProviderFault.OVERLOADED),
        ({"type": "insufficient_quota", "message": "x"}, ProviderFault.NO_CREDIT),
        ({"message": "request timed out"}, ProviderFault.TIMEOUT),
        ({"message": "permission denied"}, ProviderFault.FORBIDDEN),
        ({"message": "something odd"}, ProviderFault.BAD_ANSWER),
        ("CUDA out of memory", ProviderFault.BAD_ANSWER),
        (
            {"error": {"error": {"error": {"error": {"error": {"error": {"error": {"error": "429"}}}}}}}},
            ProviderFault.BAD_ANSWER,
        ),
        ({"message": None, "code": True}, ProviderFault.BAD_ANSWER),
    ],
)
def test_an_error_inside_a_stream_has_a_cause_by_its_words(error: JsonValue, fault: ProviderFault) -> None:
    assert stream_fault(PEER, error, NOW_MS).fault is fault


def test_an_error_inside_a_stream_never_quotes_the_key() -> None:
    error = stream_fault(PEER, {"message": "bad sk-secret", "code": "sk-secret"}, NOW_MS)
    assert "sk-secret" not in str(error)


def test_the_key_does_not_show_in_the_description_of_a_peer() -> None:
    assert "sk-secret" not in repr(PEER)


def test_a_web_page_is_named_by_its_title() -> None:
    error = no_stream_fault(ROOT, "<!doctype html><TITLE>\n Sign\n in </TITLE>")
    assert error.message == "Custom at http://127.0.0.1:8080 answered with a web page: Sign in"
    assert error.hint == "The base URL probably lacks /v1"
