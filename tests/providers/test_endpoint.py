import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.catalog import find_entry
from skales.providers.endpoint import Endpoint


def endpoint(provider_id: str, base_url: str = "", api_key: str = "", timeout_s: float = 0) -> Endpoint:
    return Endpoint(
        entry=find_entry(provider_id),
        provider_id=provider_id,
        base_url=base_url,
        api_key=api_key,
        inactivity_timeout_s=timeout_s,
    )


def test_the_key_does_not_show() -> None:
    assert "sk-1" not in repr(endpoint("openai", api_key="sk-1"))
    address = endpoint("openai", api_key="sk-1").address()
    assert "sk-1" not in repr(endpoint("openai", api_key="sk-1").peer(address))


@pytest.mark.parametrize(
    ("point", "key"),
    [
        (endpoint("openai", api_key=" sk-1\n"), "sk-1"),
        (endpoint("ollama"), ""),
        (endpoint("ollama", api_key="cloud"), "cloud"),
        (endpoint("custom", "http://127.0.0.1:1/v1", "own"), "own"),
        (endpoint("openai", "http://127.0.0.1:4000/v1"), ""),
    ],
    ids=["trimmed", "keyless", "optional", "custom", "a proxy of one's own"],
)
def test_the_key_is_sent_when_there_is_one(point: Endpoint, key: str) -> None:
    assert point.key() == key


@pytest.mark.parametrize(
    ("point", "says"),
    [
        (endpoint("openai"), "OpenAI needs a key"),
        (endpoint("openai", "https://api.openai.com/v1/", "  "), "OpenAI needs a key"),
        (endpoint("openai", api_key="sk-é"), "cannot be sent"),
        (endpoint("openai", api_key="sk-1\nsk-2"), "cannot be sent"),
        (endpoint("openai", api_key="sk 1"), "cannot be sent"),
    ],
)
def test_a_missing_or_damaged_key_is_found_before_anything_is_sent(point: Endpoint, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        point.key()
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("point", "timeout_s"),
    [
        (endpoint("openai"), 60),
        (endpoint("ollama"), 200),
        (endpoint("custom", "http://192.168.1.5/v1"), 200),
        (endpoint("custom", "https://a.example/v1"), 60),
        (endpoint("nvidia_nim"), 200),
        (endpoint("nvidia_nim", timeout_s=30), 30),
        (endpoint("ollama", timeout_s=600), 600),
    ],
)
def test_an_endpoint_may_be_silent_for_as_long_as_its_place_needs(point: Endpoint, timeout_s: float) -> None:
    assert point.timeout_s(point.address()) == timeout_s


def test_errors_name_the_entry_and_the_address() -> None:
    point = endpoint("ollama", "http://127.0.0.1:9999/v1/")
    peer = point.peer(point.address(), "phi3")
    assert (peer.label, peer.address, peer.model, peer.is_local) == ("Ollama", "http://127.0.0.1:9999/v1", "phi3", True)
