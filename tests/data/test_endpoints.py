import pytest

from skales.core.errors import InputError
from skales.data.endpoints import mask_key, parse_api_key, parse_base_url


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("", ""),
        ("   ", ""),
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("  https://api.example.com/v1//\n", "https://api.example.com/v1"),
        ("https://api.example.com", "https://api.example.com"),
        ("HTTPS://api.example.com/V1", "https://api.example.com/V1"),
        ("https://api.example.com/v1?", "https://api.example.com/v1"),
        ("https://api.example.com/accounts/{account_id}/v1", "https://api.example.com/accounts/{account_id}/v1"),
        ("https://8.8.8.8/v1", "https://8.8.8.8/v1"),
        ("https://[2001:db8::1]:8443/v1", "https://[2001:db8::1]:8443/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("http://LOCALHOST:11434/v1", "http://LOCALHOST:11434/v1"),
        ("http://models.localhost/v1", "http://models.localhost/v1"),
        ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
        ("http://127.8.9.1/v1", "http://127.8.9.1/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://[::ffff:192.168.1.5]/v1", "http://[::ffff:192.168.1.5]/v1"),
        ("http://[fd12:3456::7]/v1", "http://[fd12:3456::7]/v1"),
        ("http://10.1.2.3/v1", "http://10.1.2.3/v1"),
        ("http://172.31.255.1/v1", "http://172.31.255.1/v1"),
        ("http://192.168.0.20:8000", "http://192.168.0.20:8000"),
        ("http://100.101.102.103:11434", "http://100.101.102.103:11434"),
        ("http://nas.local:11434/v1", "http://nas.local:11434/v1"),
        ("http://NAS.LOCAL./v1", "http://NAS.LOCAL./v1"),
        ("http://ollama:11434/v1", "http://ollama:11434/v1"),
        ("http://model_server:11434/v1", "http://model_server:11434/v1"),
    ],
)
def test_an_address_that_may_be_used_is_kept_without_its_trailing_slash(typed: str, kept: str) -> None:
    assert parse_base_url(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "api.example.com/v1",
        "127.0.0.1:11434",
        "//api.example.com/v1",
        "ftp://api.example.com",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https:///v1",
        "https://:443/v1",
        "https://[::1/v1",
        "https://api.example.com:port/v1",
        "https://api.example.com:99999/v1",
        "https://ada:hunter2@api.example.com/v1",
        "https://@api.example.com/v1",
        "https://api.example.com/v1?key=hunter2",
        "https://api.example.com/v1#part",
        "https://api.example.com /v1",
        "https://api.exa\tmple.com/v1",
        "https://api.example.com\\@evil.example/v1",
        "https://bücher.example/v1",
        "http://１２７.0.0.1/v1",
        "https://.example.com/v1",
        "https://-/v1",
        "https://a%2eb/v1",
        # On the way to these, anybody could read along.
        "http://api.example.com/v1",
        "http://8.8.8.8/v1",
        "http://172.32.0.1/v1",
        "http://100.128.0.1/v1",
        "http://[2001:db8::1]/v1",
        "http://[::ffff:8.8.8.8]/v1",
        "http://nas.local.example.com/v1",
        "http://127.0.0.1.example.com/v1",
        "http://localhost.example.com/v1",
        # Resolvers read these as numbers: 8.8.8.8 and 127.0.0.1 in disguise.
        "http://134744072/v1",
        "http://0x08080808/v1",
        "http://0x7f.1/v1",
        "http://0177.0.0.1/v1",
        "http://127.1/v1",
        "http://10.0.0.256/v1",
        "https://0x/v1",
        # Cloud machines answer there with their own credentials.
        "http://169.254.169.254/latest",
        "https://169.254.169.254/latest",
        "http://[fe80::1]/v1",
        "http://[::ffff:169.254.169.254]/v1",
    ],
)
def test_an_address_that_must_not_be_used_is_refused(typed: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_base_url(typed)
    assert caught.value.code == "bad_address"
    assert caught.value.hint
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("", ""), ("  ", ""), (" sk-abc\n", "sk-abc"), ("a.b/c+d=", "a.b/c+d="), ("*", "*"), ("enc", "enc")],
)
def test_a_key_is_kept_without_the_blanks_around_it(typed: str, kept: str) -> None:
    assert parse_api_key(typed) == kept


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("sk-•••wxyz", "masked_key"),
        ("•••", "masked_key"),
        ("********wxyz", "masked_key"),
        ("sk-***", "masked_key"),
        ("enc:v1:QUFBQUFBQUFBQUFB", "sealed_key"),
        ("enc:v12:", "sealed_key"),
        ("Bearer sk-abc", "bad_key"),
        ("sk-abc\nsk-def", "bad_key"),
        ("sk-\u200babc", "bad_key"),
        ("sk-äbc", "bad_key"),
    ],
)
def test_what_cannot_be_a_key_is_refused_and_never_repeated(typed: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_api_key(typed)
    assert caught.value.code == code
    assert typed not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("", ""),
        ("ab", "•••"),
        ("abc", "•••c"),
        ("abcdefgh", "•••gh"),
        ("sk-abcdefghijklmnopqrs", "sk-•••pqrs"),
        ("sk-abcdefgh", "•••fgh"),
        ("gsk_0123456789abcdefghijklmn", "gsk_•••klmn"),
        ("nvapi-0123456789abcdefghijklmnop", "nvapi-•••mnop"),
        ("0123456789abcdefghijklmn", "•••klmn"),
        ("sk-12345678901", "•••8901"),
    ],
)
def test_a_key_is_shown_by_its_ends(key: str, shown: str) -> None:
    assert mask_key(key) == shown


@pytest.mark.parametrize("length", range(1, 60))
@pytest.mark.parametrize("prefix", ["", "sk-", "sk-proj-", "nvapi-"])
def test_a_mask_shows_at_most_a_third_and_is_not_taken_for_a_key(prefix: str, length: int) -> None:
    mask = mask_key(f"{prefix}{'x' * length}")
    assert 3 * len(mask.replace("•", "")) <= len(prefix) + length
    with pytest.raises(InputError):
        parse_api_key(mask)
