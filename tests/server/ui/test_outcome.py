"""Every cause of a failed answer reaches the card below it: what happened, what to do, and the button for it."""

import json

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import TurnEnd, TurnEnded
from skales.core.message import Usage
from skales.providers.faults import Peer, proxy_fault, status_fault
from skales.server.live import describe_end
from skales.server.ui.pages import render

PEER = Peer(label="Lab", address="https://lab.example/v1", model="m1", secret="sk-0123456789")
RETRY, MODEL, SETTINGS, PATIENCE = "Try again", "Choose another model", "Open settings", "Change how long to wait"


def refused(status: int, message: str) -> ProviderError:
    return status_fault(PEER, status, {}, json.dumps({"error": {"message": message}}), 0)


CAUSES = {
    "bad key": (refused(401, "Incorrect API key provided"), "does not accept the key", [RETRY, SETTINGS]),
    "no credit": (refused(402, "Insufficient balance"), "credit at Lab", [RETRY, MODEL, SETTINGS]),
    "unknown model": (refused(404, "model_not_found"), "does not offer the model 'm1'", [RETRY, MODEL]),
    "too long": (refused(400, "maximum context length is 8192 tokens"), "too long for m1", [RETRY, MODEL]),
    "region": (refused(403, "unsupported_country_region_territory"), "country or region", [RETRY, MODEL, SETTINGS]),
    "busy": (refused(529, "Overloaded"), "has trouble answering", [RETRY, MODEL]),
    "limit": (refused(429, "Rate limit reached"), "takes no more requests", [RETRY, MODEL]),
    "proxy": (proxy_fault(PEER, "it does not answer"), "The proxy on the way to Lab", [RETRY, MODEL, SETTINGS]),
    "network": (
        ProviderError("Lab cannot be reached", fault=ProviderFault.UNREACHABLE, hint="Check the network"),
        "cannot be reached",
        [RETRY, MODEL, SETTINGS],
    ),
    "certificate": (
        ProviderError("The certificate of Lab is not trusted", fault=ProviderFault.TLS, hint="Check the clock"),
        "not trusted",
        [RETRY, MODEL, SETTINGS],
    ),
    "silence": (
        ProviderError("Lab said nothing for 60 s", fault=ProviderFault.TIMEOUT, hint="Try again later"),
        "said nothing",
        [RETRY, MODEL, PATIENCE],
    ),
    "not set up": (
        ProviderError("No key for Lab", fault=ProviderFault.NOT_CONFIGURED, hint="Enter one"),
        "No key",
        [RETRY, SETTINGS],
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_has_its_words_its_advice_and_its_buttons(cause: str) -> None:
    error, words, buttons = CAUSES[cause]
    end = TurnEnded(TurnEnd.FAILED, Usage(), 0, error=error.message, hint=error.hint, code=error.code)
    outcome = describe_end(end, explained=False)
    assert outcome is not None
    card = HTMLParser(render(outcome))
    assert words in card.text()
    assert error.hint
    assert error.hint in card.text()
    assert [node.text(strip=True) for node in card.css(".button")] == buttons


def test_choosing_another_model_opens_the_picker_of_the_message_field() -> None:
    error = CAUSES["unknown model"][0]
    end = TurnEnded(TurnEnd.FAILED, Usage(), 0, error=error.message, hint=error.hint, code=error.code)
    outcome = describe_end(end, explained=True)
    assert outcome is not None
    assert HTMLParser(render(outcome)).css_first("button[popovertarget=picker]") is not None
