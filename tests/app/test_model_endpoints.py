"""Whose certificates a provider's connections trust besides the usual ones."""

import hashlib
import ssl
from pathlib import Path

import pytest

from skales.app.model_endpoints import Asked, authority_file
from skales.data.setting_shapes import ProviderSettings
from skales.providers.catalog import find_entry, load_catalog

# As the vendor publishes it and as certificate transparency logs know it.
RUSSIAN_ROOT = "d26d2d0231b7c39f92cc738512ba54103519e4405d68b5bd703e9788ca8ecf31"


def gigachat(**own: str) -> Asked:
    return Asked("gigachat", find_entry("gigachat"), ProviderSettings.model_validate(own))


def test_the_bundled_root_is_the_one_that_is_meant() -> None:
    text = Path(authority_file(gigachat())).read_text(encoding="utf-8")
    der = ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN") :])
    assert hashlib.sha256(der).hexdigest() == RUSSIAN_ROOT


def test_the_bundled_root_can_be_loaded() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cafile=authority_file(gigachat()))
    assert [entry["notAfter"] for entry in context.get_ca_certs()] == ["Feb 27 21:04:15 2032 GMT"]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param({"caFile": "/mine.pem"}, "/mine.pem", id="a file of one's own instead"),
        pytest.param({"caFile": "system"}, "", id="none but the usual ones"),
        pytest.param({"baseUrl": "https://proxy.example/v1"}, "", id="not for another address"),
        pytest.param({"tokenUrl": "https://login.example/token"}, "", id="not for another place to get tokens"),
        pytest.param({"baseUrl": "https://proxy.example/v1", "caFile": "/mine.pem"}, "/mine.pem", id="own file there"),
    ],
)
def test_the_bundled_root_is_for_the_vendor_alone(own: dict[str, str], expected: str) -> None:
    assert authority_file(gigachat(**own)) == expected


def test_no_other_provider_trusts_it() -> None:
    trusting = [
        provider_id
        for provider_id, entry in load_catalog().items()
        if authority_file(Asked(provider_id, entry, ProviderSettings()))
    ]
    assert trusting == ["gigachat"]
