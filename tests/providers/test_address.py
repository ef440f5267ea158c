import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.address import parse_base_url

# As pasted, where requests go, as shown, on this machine or network, plain HTTP to this machine.
PASTED = [
    ("https://api.acme.example/v1", "https://api.acme.example/v1/x", "https://api.acme.example/v1", False, False),
    (" https://api.acme.example/v1/ \n", "https://api.acme.example/v1/x", "https://api.acme.example/v1", False, False),
    ("https://a.example/v1/chat/completions", "https://a.example/v1/x", "https://a.example/v1", False, False),
    ("https://a.example/v1/chat/completions/", "https://a.example/v1/x", "https://a.example/v1", False, False),
    ("https://a.example/v1/models", "https://a.example/v1/x", "https://a.example/v1", False, False),
    ("https://a.example/v1/messages", "https://a.example/v1/x", "https://a.example/v1", False, False),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080", True, True),
    ("https://localhost:8080/v1", "https://localhost:8080/v1/x", "https://localhost:8080/v1", True, False),
    ("http://LocalHost./v1", "http://LocalHost./v1/x", "http://localhost./v1", True, True),
    ("http://[::1]:8080/v1", "http://[::1]:8080/v1/x", "http://[::1]:8080/v1", True, True),
    ("http://192.168.1.7/v1", "http://192.168.1.7/v1/x", "http://192.168.1.7/v1", True, False),
    ("http://nas.local/v1", "http://nas.local/v1/x", "http://nas.local/v1", True, False),
    ("https://me:pw@a.example/v1", "https://me:pw@a.example/v1/x", "https://a.example/v1", False, False),
    (
        "https://a.example/v1?api-version=2",
        "https://a.example/v1/x?api-version=2",
        "https://a.example/v1",
        False,
        False,
    ),
]


@pytest.mark.parametrize(("text", "target", "shown", "is_local", "is_loopback"), PASTED)
def test_a_base_url_is_read_the_way_people_paste_it(
    text: str, target: str, shown: str, is_local: bool, is_loopback: bool
) -> None:
    base = parse_base_url(text, "Acme")
    assert (base.join("/x"), base.shown, base.is_local, base.is_loopback) == (target, shown, is_local, is_loopback)


def test_credentials_in_an_address_do_not_show() -> None:
    assert "pw" not in repr(parse_base_url("https://me:pw@a.example/v1?k=pw", "Acme"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Acme has no base URL"),
        ("  ", "Acme has no base URL"),
        ("https://a.example/accounts/{account_id}/ai/v1", "still holds {account_id}"),
        ("localhost:1234/v1", "is not usable"),
        ("a.example/v1", "is not usable"),
        ("ftp://a.example/v1", "is not usable"),
        ("https:///v1", "is not usable"),
        ("https://a.example:port/v1", "is not usable"),
        ("https://a.example/v 1", "is not usable"),
        ("http://[::1/v1", "is not usable"),
    ],
)
def test_an_unusable_base_url_is_refused_before_anything_is_sent(text: str, says: str) -> None:
    with pytest.raises(ProviderError) as caught:
        parse_base_url(text, "Acme")
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
    assert says in caught.value.message
    assert caught.value.hint
