"""Cases RED-01: secrets in every current shape, and text that only looks like one.

Keys are made up and stand in parts here, so that no scanner takes this file for a leak.
"""

import json
from typing import Any

import pytest

from skales.core.json import JsonValue
from skales.security.redact import redact, redact_value
from tests.conftest import CASES

CASE: dict[str, Any] = json.loads((CASES / "redaction" / "RED-01-secrets.json").read_text(encoding="utf-8"))

# Sixteen and more characters without meaning, in the alphabets keys use.
HEX = "0123456789abcdef"
MIXED = "aB3dE5fG7hJ9kL1mN3pQ"
UPPER = "QWERTYUIOPASDFGH"


def pieces(secret: str) -> list[str]:
    return [secret[at : at + 12] for at in range(max(1, len(secret) - 11))]


@pytest.mark.parametrize("row", CASE["rows"], ids=[row["id"] for row in CASE["rows"]])
def test_secret_cases(row: dict[str, Any]) -> None:
    text = "".join(row["parts"])
    secret = "".join(row["parts"][slice(*row["secret"])])
    shown = redact(text)
    assert [piece for piece in pieces(secret) if piece in shown] == []
    assert [kept for kept in row["keep"] if kept not in shown] == []
    assert redact(shown) == shown


@pytest.mark.parametrize("row", CASE["unchanged"], ids=[row["id"] for row in CASE["unchanged"]])
def test_lookalike_cases(row: dict[str, str]) -> None:
    assert redact(row["text"]) == row["text"]


SHAPES = [
    ("sk" + "-proj-", MIXED),
    ("sk" + "-svcacct-", MIXED),
    ("sk" + "-ant-", f"api03-{MIXED}-{MIXED}"),
    ("sk" + "-or-", f"v1-{HEX * 4}"),
    ("sk" + "-", HEX * 2),
    ("ghp" + "_", MIXED * 2),
    ("gho" + "_", MIXED * 2),
    ("ghs" + "_", f"123_{MIXED}.{MIXED}.{MIXED}"),
    ("github" + "_pat_", MIXED * 3),
    ("glpat" + "-", f"{MIXED}.01.{MIXED}"),
    ("gldt" + "-", MIXED),
    ("AKIA", UPPER),
    ("ASIA", UPPER),
    ("ABSK", MIXED * 3),
    ("AIza", MIXED + "SyABCDEFGHIJKLM"),
    ("AQ.", "Ab8" + MIXED * 2),
    ("ya29.", MIXED * 2),
    ("GOCSPX-", MIXED),
    ("xoxb" + "-", f"123456789012-{MIXED}"),
    ("xoxe.xoxp" + "-", f"1-{MIXED}"),
    ("xapp" + "-", f"1-A0-{MIXED}"),
    ("sk" + "_live_", MIXED),
    ("rk" + "_test_", MIXED),
    ("whsec" + "_", MIXED + "=="),
    ("sk_", HEX * 3),
    ("SK", HEX * 2),
    ("hf" + "_", "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),
    ("gsk" + "_", MIXED * 2),
    ("xai" + "-", MIXED * 3),
    ("pplx" + "-", MIXED * 2),
    ("nvapi" + "-", MIXED * 3),
    ("tvly" + "-", f"dev-{MIXED}"),
    ("r8_", MIXED * 2),
    ("key-", HEX * 2),
    ("dapi", HEX * 2),
    ("lsv2" + "_pt_", HEX * 2),
    ("glsa" + "_", MIXED),
    ("npm" + "_", MIXED * 2),
    ("pypi" + "-", "AgEIcHlwaS5vcmc" + MIXED),
    ("dckr" + "_pat_", MIXED),
    ("ntn" + "_", MIXED * 2),
    ("shpat" + "_", HEX * 2),
    ("dop" + "_v1_", HEX * 4),
    ("hvs.", MIXED * 3),
    ("tskey" + "-auth", f"-{MIXED}-{MIXED}"),
    ("AGE-SECRET-", "KEY-1" + UPPER * 3),
    ("SG.", f"{MIXED}.{MIXED * 2}"),
    ("", f"{HEX * 2}-us12"),
    ("A" * 10, "A" * 12 + MIXED + "%2B" + MIXED),
    ("1234567890:", "AA" + MIXED + MIXED[:13]),
    ("M", f"TA{MIXED}0.Cl2FMQ.{MIXED}{MIXED}"),
    ("eyJ", f"hbGciOiJub25lIn0.eyJ{MIXED}.{MIXED}"),
    ("eyJ", f"hbGciOiJkaXIifQ..{MIXED}.{MIXED}.{MIXED}"),
]


@pytest.mark.parametrize(("kept", "rest"), SHAPES, ids=[f"{kept}{number}" for number, (kept, _) in enumerate(SHAPES)])
def test_a_known_key_keeps_its_beginning_only(kept: str, rest: str) -> None:
    assert redact(f"before {kept}{rest}, after") == f"before {kept}***, after"
    assert redact(f'"{kept}{rest}"') == f'"{kept}***"'


@pytest.mark.parametrize(
    "before", ["backup-", "my_", "\\n", "\\t", "%3D", "%20", "\x1b[0m", "\x1b[32m", "\x1b[1;31m", "(", "=", "\n"]
)
def test_a_key_is_found_behind_escapes_and_colours(before: str) -> None:
    assert redact(f"{before}ghp_{MIXED}{MIXED}") == f"{before}ghp_***"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n    ", "\\n"])
def test_a_key_broken_over_lines_is_masked_to_its_end(line_end: str) -> None:
    text = f"sk-proj-{MIXED}{line_end}{MIXED}{line_end}{MIXED} end"
    assert redact(text) == "sk-proj-*** end"


@pytest.mark.parametrize(
    "following", ["Authentication failed", "OPENAI_API_KEY=x", "short", "src/long_folder_name/x", f"ghp_{MIXED}{MIXED}"]
)
def test_the_line_behind_a_key_stays(following: str) -> None:
    assert redact(f"sk-proj-{MIXED}\n{following}").startswith(f"sk-proj-***\n{following[:4]}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=***"),
        ("SMTP_PASS=abc", "SMTP_PASS=***"),
        ("smtpPass: abc", "smtpPass: ***"),
        ("password: sesame", "password: ***"),
        ("Passwort: geheim", "Passwort: ***"),
        ("machine x.example login mira password geheim", "machine x.example login mira password ***"),
        ("password: sesame\nuser: mira", "password: ***\nuser: mira"),
        ("password => 'open'", "password => '***'"),
        ("PASSWORD := `open`", "PASSWORD := `***`"),
        ('{"password": "pa\\"ss 1", "x": 1}', '{"password": "***", "x": 1}'),
        ('{"pin_password": 123456}', '{"pin_password": ***}'),
        (f'{{\\"apiKey\\": \\"{HEX}\\"}}', '{\\"apiKey\\": \\"***\\"}'),
        (f"api_key: {HEX}", "api_key: ***"),
        (f"API key: {HEX}", "API key: ***"),
        (f"myapikey={HEX}", "myapikey=***"),
        (f"x-api-key: {HEX}", "x-api-key: ***"),
        (f"GROQ_KEY={HEX}", "GROQ_KEY=***"),
        (f"SECRET_KEY_BASE={HEX}", "SECRET_KEY_BASE=***"),
        ("secret1=abc", "secret1=***"),
        (f"X-Skales-Token: {HEX}", "X-Skales-Token: ***"),
        ("auth_token=abc:def123", "auth_token=***"),
        ("access_token=abcdefghijklmnopqrstuvwxyzabcdefg", "access_token=***"),
        ("refresh_token=aBcDeFgHiJkLmNoPqR", "refresh_token=***"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        ("authorization: Token abc", "authorization: Token ***"),
        (f"Authorization: {HEX}", "Authorization: ***"),
        (f"Bearer {HEX}", "Bearer ***"),
        ("bearer abcdefghijklmnopqrstuvwxyz", "bearer ***"),
        (f"https://x.example/?token={HEX}&x=1", "https://x.example/?token=***&x=1"),
        (f"--api-key {HEX} -v", "--api-key *** -v"),
        ("--password hunter2 -v", "--password *** -v"),
        ("--password=hunter2", "--password=***"),
        ("<password>hunter2</password>", "<password>***</password>"),
        ("Password=ab,c;d1;Database=y", "Password=***;Database=y"),
        ("(password=hunter2)", "(password=***)"),
        ("password=hunter2\\nnext", "password=***\\nnext"),
        ('password="unclosed', 'password="unclosed'),
        ("my password is hunter2x", "my password is ***"),
        ('the password was "open"', 'the password was "***"'),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPx", "aws_secret_access_key = ***"),
        (f"AccountKey={MIXED}==;EndpointSuffix=x", "AccountKey=***;EndpointSuffix=x"),
        ("curl -u mira:hunter2 https://x.example", "curl -u mira:*** https://x.example"),
        ("curl --user 'mira:hunter2' x", "curl --user 'mira:***' x"),
        ("Cookie: session=abc; theme=dark", "Cookie: session=***; theme=***"),
        ("Set-Cookie: sid=31d4; HttpOnly", "Set-Cookie: sid=***; HttpOnly"),
        (f"token={HEX}{HEX}\n{HEX} end", "token=*** end"),
        (f"token={HEX}{HEX}\nNEXT_VARIABLE=1", "token=***\nNEXT_VARIABLE=1"),
        (f"password=${{X}}, secret={HEX}", "password=${X}, secret=***"),
    ],
)
def test_named_values_are_masked(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://:p4ss@host:6379/0", "redis://:***@host:6379/0"),
        ("mongodb+srv://u:p%40ss@host/db", "mongodb+srv://u:***@host/db"),
        ("amqp://u:pa/ss@host/v", "amqp://u:***@host/v"),
        ("postgres:\\/\\/u:pw@host\\/db", "postgres:\\/\\/u:***@host\\/db"),
        ("ftp://u:a@b:c@host/x@y", "ftp://u:***@host/x@y"),
        (f"https://{HEX}@host/x", "https://***@host/x"),
        (f"https://ghp_{MIXED}{MIXED}@github.com/a", "https://ghp_***@github.com/a"),
        (f"https://discord.com/api/webhooks/123456789/{MIXED}", "https://discord.com/api/webhooks/123456789/***"),
        (f"https://hooks.slack.com/services/T01/B01/{MIXED}?x=1", "https://hooks.slack.com/services/T01/B01/***?x=1"),
        ("https://hooks.zapier.com/hooks/catch/123456/ab12cde/", "https://hooks.zapier.com/hooks/catch/123456/***/"),
        (
            f"https://api.telegram.org/bot1234567890:AA{MIXED}{MIXED[:13]}/x",
            "https://api.telegram.org/bot12345678***/x",
        ),
    ],
)
def test_addresses_lose_passwords_and_hooks(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


PEM, PEM_END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
PGP, PGP_END = "-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{PEM}\nProc-Type: 4,ENCRYPTED\n\n{MIXED}\n{PEM_END}\nx", f"{PEM}\n***\n{PEM_END}\nx"),
        (f"{PEM}\\n{MIXED}\\n{PEM_END}", f"{PEM}\n***\n{PEM_END}"),
        (f"{PEM}\n{MIXED}\n{MIXED}\nand so on", f"{PEM}\n***\n\nand so on"),
        (f"A block begins with {PEM} and has lines", f"A block begins with {PEM} and has lines"),
        (f"{PEM}\n{MIXED}\n{PEM}\n{MIXED}", f"{PEM}\n***\n\n{PEM}\n***\n"),
        (f"{PGP}\n\nlQ1\n{PGP_END}", f"{PGP}\n***\n{PGP_END}"),
    ],
)
def test_private_key_blocks_are_emptied(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "password: required",
        "password: must be at least 8 characters",
        "password: choose something long",
        "password: correct",
        "the password is wrong",
        "password is required",
        "Enter password:",
        "password=",
        "PASSWORD=${PASSWORD}",
        "password=$DB_PASSWORD",
        "password: <your password>",
        "password: your-password-here",
        "password = get_password(user)",
        'api_key = os.environ["API_KEY"]',
        "const key = config.apiKey;",
        "token: str | None = None",
        "secret: ''",
        "secret: 12",
        "PWD=/home/mira/work",
        "OLDPWD=~/work",
        "compass: north1234567",
        "token limit: 4096",
        "next_page_token: 2",
        "token: C#minor",
        "primary key: user_id_123456789abc",
        "primary_key=user_id_123456789abc",
        f"public_key={HEX}",
        "keyboard: qwerty1234567890abc",
        "monkey=banana12345678901",
        "Press key: ctrl+shift+p",
        "the key is under the mat",
        "see the pass at 12:30",
        f"git show {HEX * 2}",
        "sk-learn-contrib-project-name",
        "sk-SK locale, xoxo, hf_transfer_enabled",
        "npm_config_registry and fw_some_long_identifier",
        "AKIA is a prefix; AKIAIOSFODNN7EXAMPLELONGER is none",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB mira@example",
        "git@github.com:org/repo.git and ssh://git@github.com/org/repo",
        "http://localhost:3000/path@v2 and http://[::1]:80/x@y",
        "https://example.org/a:b@c",
        "https://docs.example/webhooks/getting-started",
        "https://hooks.example/services/1234567890",
        f"https://example.org/{HEX}",
        "Bearer token required; Basic authentication is used",
        "a cookie: chocolate chip",
        "curl --user-agent x https://example.org",
        "mira:hunter@example.org",
        "password: ***",
    ],
)
def test_text_that_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"apiKey": "x"}, {"apiKey": "***"}),
        ({"password": 123456, "pass": 12, "secret": True}, {"password": "***", "pass": 12, "secret": True}),
        ({"maxTokens": 4096, "tokens": 1500, "token": None}, {"maxTokens": 4096, "tokens": 1500, "token": None}),
        ({"token": "missing", "key": "ctrl+c", "apiKey": ""}, {"token": "missing", "key": "ctrl+c", "apiKey": ""}),
        ({"token": HEX, "key": HEX}, {"token": "***", "key": "***"}),
        ({"apiKey": "${API_KEY}"}, {"apiKey": "${API_KEY}"}),
        ({"headers": {"Authorization": f"Bearer {HEX}"}}, {"headers": {"Authorization": "Bearer ***"}}),
        ({"authorization": "open sesame"}, {"authorization": "***"}),
        ({"apiKey": "sk" + f"-proj-{MIXED}"}, {"apiKey": "sk" + "-proj-***"}),
        ({"passwords": ["x", "q"], "keys": ["a1b2c3d4"]}, {"passwords": ["***", "***"], "keys": ["a1b2c3d4"]}),
        ({"credentials": "mira", "Cookie": "a=b"}, {"credentials": "***", "Cookie": "***"}),
        ({"text": f"key ghp_{MIXED}{MIXED}", "n": [1, 2.5, "x"]}, {"text": "key ghp_***", "n": [1, 2.5, "x"]}),
        ({f"ghp_{MIXED}{MIXED}": 1}, {"ghp_***": 1}),
        ("password=hunter2", "password=***"),
        ((1, "a"), [1, "a"]),
        (None, None),
    ],
)
def test_values_are_masked_by_their_names(value: JsonValue, shown: JsonValue) -> None:
    assert redact_value(value) == shown


def test_values_nested_beyond_reason_are_masked_whole() -> None:
    deep: JsonValue = "bottom"
    for _ in range(200):
        deep = {"in": [deep]}
    assert json.dumps(redact_value(deep)).count("***") == 1


# Each is repeated to 200,000 characters; a pattern that backtracks would run into the time-out of the suite.
HOSTILE = [
    "sk-proj-", "sk-proj-aaaaaaaaaaaa1\naaaaaaaaaaaaaa1\n", "key=", "token:", "password=${", 'password="',
    "password=a&",
    "password=<", "password=a_b(", "password is ", 'key=\\"', PEM, f"{PEM}\nAAAAAAAAAAAA\n", "eyJ.", "eyJaaaaaaa.",
    "a.",
    "http://a:b", "http://hook/", "@", "bearer ", "curl ", "cookie: a=b ", "\\", "\\n", "AKIA", "1",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_done_in_time(piece: str) -> None:
    text = (piece * (200_000 // len(piece) + 1))[:200_000]
    assert len(redact(text)) <= 2 * len(text)
