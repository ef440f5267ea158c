"""Keys of many services, made up by their published shapes, bare and wrapped; and names and ids that only look alike.

They are put together from parts, so that no scanner takes this file for a leak.
"""

import base64
import json
import urllib.parse

import pytest

from skales.security.redact import redact

HEX = "0a1b2c3d4e5f6789"
MIXED = "aB3dE5fG7hJ9kL1mN3pQ"
UPPER = "A1B2C3D4E5F6G7H8J9K0"
LOWER = "a1b2c3d4e5f6g7h8j9k0"
UUID = "1b2c3d4e-1111-4abc-9def-0a1b2c3d4e5f"

# (text before, secret). No twelve characters of the secret may be left.
KEYS = {
    "Mailgun": HEX * 2 + "-" + HEX[:8] + "-" + HEX[8:],
    "Resend": "re" + "_" + MIXED[:8] + "_" + MIXED + "Ab12",
    "New Relic licence": HEX * 2 + HEX[:4] + "NR" + "AL",
    "New Relic insert": "NRIQ" + "-" + MIXED + MIXED[:12],
    "Cloudflare origin": "v1.0" + "-" + HEX + HEX[:8] + "-" + HEX * 9,
    "HubSpot": "pat" + "-na1-" + UUID,
    "HubSpot Europe": "pat" + "-eu1-" + UUID,
    "1Password": "A3" + f"-{UPPER[:6]}-{UPPER[:11]}-{UPPER[:5]}-{UPPER[5:10]}-{UPPER[10:15]}",
    "PayPal": "access_token" + f"$production${LOWER[:16]}${HEX * 2}",
    "Flutterwave": "FLWSECK" + f"_TEST-{HEX * 2}-X",
    "EasyPost": "EZAK" + MIXED * 2 + MIXED[:14],
    "Lob": "live" + "_" + HEX * 2 + "abc",
    "Dropbox": "sl" + "." + MIXED * 7,
    "Dynatrace": "dt0c01" + f".{UPPER}ABCD.{UPPER * 3}ABCD",
    "Vault of old": "s" + "." + MIXED + "4rT6",
    "Yandex": "t1" + f".{MIXED * 2}.{MIXED * 4}",
    "DeepL": UUID + ":fx",
    "Alibaba": "LTAI" + MIXED,
    "Tencent": "AKID" + MIXED + MIXED[:12],
    "Artifactory": "AKCp" + MIXED * 4,
    "wallet": "xprv" + ("9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD" * 4)[:107],
    "Firebase": "AAAA" + f"{MIXED[:7]}:APA91b{MIXED * 7}",
    "CircleCI": "CCIPAT" + f"_{MIXED}_{HEX * 2}",
    "Buildkite": "bkua" + f"_{HEX * 2}{HEX[:8]}",
    "Sonar": "squ" + f"_{HEX * 2}{HEX[:8]}",
    "ReadMe": "rdme" + "_" + LOWER * 3 + LOWER[:10],
    "Prefect": "pnu" + "_" + LOWER + LOWER[:16],
    "Pulumi": "pul" + f"-{HEX * 2}{HEX[:8]}",
    "Typeform": "tfp" + "_" + MIXED * 2 + "abcd",
    "Contentful": "CFPAT" + "-" + MIXED * 2 + "abc",
    "Duffel": "duffel" + "_live_" + MIXED * 2 + "abc",
    "Shippo": "shippo" + f"_live_{HEX * 2}{HEX[:8]}",
    "Clojars": "CLOJARS" + f"_{HEX * 3}{HEX[:12]}",
    "ClickUp": "pk" + "_76174135_" + UPPER + UPPER[:12],
    "Infracost": "ico" + "-" + MIXED + MIXED[:12],
    "Twitch": "oauth" + ":" + LOWER + LOWER[:10],
    "Octopus": "API" + "-" + UPPER + UPPER[:6],
    "Grafana of old": "eyJrIjoi" + MIXED * 3,
    "GitHub": "ghp" + "_" + MIXED + MIXED[:16],
    "OpenAI": "sk" + "-proj-" + MIXED * 3,
    "Slack": "xoxb" + f"-123456789012-123456789012-{MIXED}abcd",
}
WRAPPERS = {
    "bare": lambda key: key,
    "quoted": lambda key: f'"{key}"',
    "in a sentence": lambda key: f"Use {key} for it.",
    "in JSON": lambda key: json.dumps({"x": key}),
    "in JSON in JSON": lambda key: json.dumps(json.dumps({"x": [key]})),
    "in an address": lambda key: f"https://x.example/?q={urllib.parse.quote(key, safe='')}&a=1",
    "on a line": lambda key: f"one\n{key}\ntwo",
    "as a variable": lambda key: f"export X={key}",
    "in YAML": lambda key: f"x:\n  - {key}\n",
    "in Markdown": lambda key: f"`{key}`",
    "in a table": lambda key: f"a,{key},b",
    "in XML": lambda key: f"<x>{key}</x>",
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS.keys())
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_key_goes_in_every_wrapper(key: str, wrap: object) -> None:
    assert callable(wrap)
    shown = redact(wrap(key))
    assert "***" in shown
    assert [key[at : at + 12] for at in range(len(key) - 11) if key[at : at + 12] in shown] == []


FORMS = [
    (
        "a password in an address, encoded",
        urllib.parse.quote("postgres://mira:s3cretpw77@db.example/app", safe=""),
        "s3cretpw77",
    ),
    ("a header, encoded", "Authorization%3A%20Basic%20dXNlcjpwYXNzd29yZA%3D%3D", "dXNlcjpwYXNzd29yZA"),
    (
        "encoded twice",
        urllib.parse.quote(urllib.parse.quote("redis://:s3cretpw77@h/0", safe=""), safe=""),
        "s3cretpw77",
    ),
    (
        "a web hook, encoded",
        urllib.parse.quote("https://hooks.slack.com/services/T0/B0/aB3dE5fG7hJ9kL1m", safe=""),
        "aB3dE5fG7hJ9kL1m",
    ),
    ("a key in base64", base64.b64encode(("ghp" + f"_{MIXED}{MIXED[:16]}").encode()).decode(), "ghp"),
    (
        "a configuration in base64",
        base64.b64encode(b"db: postgres://mira:s3cretpw77@db.example/app\n").decode(),
        "cG9zdGdyZXM6Ly9taXJh",
    ),
    (
        "a secret of a cluster",
        "kind: Secret\nmetadata:\n  name: x\ndata:\n  colour: U3VwM3JTZWNyZXRQdw==\n",
        "U3VwM3JTZWNyZXRQdw",
    ),
    ("PuTTY", "Private-Lines: 1\n" + MIXED * 2 + "\nPrivate-MAC: x", MIXED),
    (
        "SSH2",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n" + MIXED * 3 + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        MIXED,
    ),
    ("an answer to a server", 'Authorization: Digest username="m", response="' + HEX * 2 + '"', HEX),
    ("a signed address", "https://x.example/k?X-Amz-Signature=" + HEX * 4, HEX),
    ("signing in to a registry", "docker login -u mira -p hunter2abc r.example", "hunter2abc"),
    ("Okta", "Authorization: SSWS " + MIXED * 2, MIXED),
    ("Zapier", "https://hooks.zapier.com/hooks/catch/1234567/abcdefg/", "abcdefg"),
    ("IFTTT", "https://maker.ifttt.com/trigger/door/with/key/" + MIXED, MIXED),
    ("WLAN", 'psk="MyWifiPass123"', "MyWifiPass123"),
    ("pw", "pw: Xk29$fla!q", "Xk29$fla!q"),
    ("Passwort ist", "Das Passwort ist Xk29$fla!q", "Xk29$fla!q"),
    ("Passwort lautet", "Das Passwort lautet Xk29$fla!q.", "Xk29$fla!q"),
    ("Kennwort", "Kennwort: Hallo!Welt99", "Hallo!Welt99"),
    (
        "a seed phrase behind its name",
        "seed phrase: legal winner thank year wave sausage worth useful legal winner thank yellow",
        "yellow",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), [form[1:] for form in FORMS], ids=[form[0] for form in FORMS])
def test_other_forms_are_masked_as_well(text: str, secret: str) -> None:
    shown = redact(text)
    assert "***" in shown
    assert secret not in shown
    assert redact(shown) == shown


ORDINARY = """9fceb02d0ae598e95dc970b74767f19372d61af8
index 1a2b3c4..5d6e7f8 100644
sha512-Zx8s9d0f7g6h5j4k3l2m1n0b9v8c7x6z5a4s3d2f1g0h9j8k7l6m5n4b3v2c1x0zQwErTyUiOpAsDfGhJkLzXcVbNm==
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL
SGVsbG8gd29ybGQsIHRoaXMgaXMgb3JkaW5hcnkgdGV4dCBpbiBiYXNlNjQu
https://example.org/s?q=Passwort%20vergessen%3F&x=1
https://example.org/s?q=rye%20bread%3A%20500%20g
https://example.org/%C3%BCber/uns%20und%20euch
ISBN 978-3-16-148410-0
IBAN DE89 3704 0044 0532 0130 00
Sendungsnummer 1Z999AA10123456784
product code ABC-12345-DEF-67890
uuid 123e4567-e89b-12d3-a456-426614174000
const key = event.key; if (key === "Enter") { submit(); }
api_key = config["api_key"]
credentials: same-origin
fetch(url, { credentials: "omit" })
Passwort: erforderlich
Passwort: muss mindestens 12 Zeichen haben
Das Passwort ist falsch.
Das Kennwort lautet anders als erwartet
Kennwort ändern
PASS: test_user_can_login_123
tests pass = 120
PW: 12 kW
WPA2-PSK
the pw of the lamp
pa-system-for-large-venues-and-outdoor-events-2024
fw_update_2024_final_version_for_device
jina_embeddings_v3_model_card_and_license_text
sk-estimator-doc-link-span-element-in-css
npm_package_dependencies_react_dom_version_18_2_0
hf_home_directory_cache_location_on_this_machine
re_match_all_of_the_expressions_in_this_file
test_that_a_user_can_log_in_with_2_factors_v2
live_streaming_platform_comparison_2026_final
pk_live_51H8abcdefghijklmnopqrstuvwx
s.getElementsByClassNameFor(x)
b.addEventListenerOnlyOnce2('x')
sl.dependency-graph-of-the-project
API-Schlüssel anlegen
API-DOCUMENTATION-FOR-DEVELOPERS-2026
AAAAB3NzaC1yc2EAAAADAQABAAABAQDZ0x1y2z3
kind: ConfigMap
oauth:authorize
pat-a-cake
v1.0-beta.2
pul-ley and other words
A3-Format, 297 mm
docker login registry.example
docker run -p 8080:80 nginx
helm login-page
response="ok"
Signature=none
cus_NffrFeUfNV2Hib pi_3MtwBwLkdIwHu7ix28a3tqPa
toolu_01A09q90qw90lq917835lq9
arn:aws:iam::123456789012:role/Admin
""".splitlines()


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_like_a_key_stays(text: str) -> None:
    assert redact(text) == text


def test_a_map_of_a_cluster_that_holds_no_secret_stays() -> None:
    text = "kind: ConfigMap\ndata:\n  colour: U3VwM3JTZWNyZXRQdw==\n"
    assert redact(text) == text
