"""Each kind of secret loses what is secret, in each of its usual forms, and what replaces it says its kind.

Keys are made up and stand in parts, so that no scanner takes this file for a leak.
"""

import base64
import json
import urllib.parse

import pytest

from skales.security.key_shapes import key_shape
from skales.security.marks import MARKER
from skales.security.redact import conceal, redact

HEX = "0123456789abcdef"
MIXED = "aB3dE5fG7hJ9kL1mN3pQ"
PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
LONGER = (
    "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd "
    "amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless"
)

# (kind as shown, the text before it, the secret, the text behind it)
SECRETS = [
    ("Anthropic key", "x ", "sk" + f"-ant-api03-{MIXED}-{MIXED}", " y"),
    ("OpenAI key", "", "sk" + f"-proj-{MIXED}{MIXED}", ""),
    ("OpenRouter key", "", "sk" + f"-or-v1-{HEX * 4}", ""),
    ("GitHub token", "export GH=", "ghp" + f"_{MIXED * 2}", "\n"),
    ("GitLab token", "(", "glpat" + f"-{MIXED}", ")"),
    ("AWS key", "id ", "AKIA" + "QWERTYUIOPASDFGH", ""),
    ("Azure secret", "azure ", "abc8Q~" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q", ""),
    ("key", "AccountKey=", MIXED * 4 + "==", ";EndpointSuffix=x"),
    ("signature", "https://x.blob.example/c?sv=2024&sig=", "abC%2B123def456ghi789%3D", "&x=1"),
    ("Google key", "?key=", "AIza" + MIXED + "SyABCDEFGHIJKLM", "&q=tea"),
    ("Slack token", "", "xoxb" + f"-123456789012-{MIXED}", ""),
    ("Stripe key", "", "sk" + f"_live_{MIXED}", ""),
    ("Twilio key", "", "SK" + HEX * 2, ""),
    ("Twilio key", "", "AC" + HEX * 2 + ":" + HEX * 2, ""),
    ("SendGrid key", "", f"SG.{MIXED}.{MIXED * 2}", ""),
    ("Brevo key", "", "xkeysib" + f"-{HEX * 4}-{MIXED}", ""),
    ("Hugging Face token", "", "hf" + f"_{MIXED * 2}", ""),
    ("Groq key", "", "gsk" + f"_{MIXED * 2}", ""),
    ("xAI key", "", "xai" + f"-{MIXED * 3}", ""),
    ("Perplexity key", "", "pplx" + f"-{MIXED * 2}", ""),
    ("NVIDIA key", "", "nvapi" + f"-{MIXED * 2}", ""),
    ("npm token", "//r.example/:_authToken=", "npm" + f"_{MIXED * 2}", ""),
    ("PyPI token", "", "pypi" + f"-AgEIcHlwaS5vcmc{MIXED}", ""),
    ("Telegram token", "", "1234567890:" + "AA" + MIXED + MIXED[:13], ""),
    ("Discord token", "", f"MTA{MIXED}0.Cl2FMQ.{MIXED}{MIXED}", ""),
    ("webhook", "https://discord.com/api/webhooks/123456/", MIXED * 3, ""),
    ("Atlassian token", "", "ATATT3" + MIXED * 3, ""),
    ("HashiCorp token", "", f"abcdEFGH123456.atlasv1.{MIXED * 4}", ""),
    ("Mapbox token", "", f"sk.eyJ1IjoibWlyYSJ9.{MIXED}", ""),
    ("web token", "Bearer ", f"eyJhbGciOiJub25lIn0.eyJ{MIXED}.{MIXED}", ""),
    ("private key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", MIXED * 3, "\n-----END OPENSSH PRIVATE KEY-----"),
    ("password", "smtp://mira:", "pw1/x", "@mail.example:587"),
    ("password", "postgres://mira:", "s3cret", "@db.example/app"),
    ("password", "mongodb+srv://mira:", "p%40ss", "@db.example/app"),
    ("password", "redis://:", "p4ss", "@db.example:6379/0"),
    ("password", "amqp://mira:", "pa55", "@mq.example/v"),
    ("password", "db.example:5432:app:mira:", "s3cret!pw", "\n"),
    ("password", "machine x.example login mira password ", "geheim", "\n"),
    ("password", "$env:DB_PASSWORD = '", "hunter2", "'"),
    ("secret", "set -gx DB_PASSWORD ", "hunter2abc", "\n"),
    ("secret", 'setx OPENAI_API_KEY "', MIXED, '"'),
    ("secret", "ENV API_TOKEN ", MIXED, "\n"),
    ("secret", '<add key="ApiKey" value="', MIXED, '"/>'),
    ("secret", '{"name": "DB_PASSWORD", "value": "', "hunter2abc", '"}'),
    ("secret", "<db_password>", "two words 2", "</db_password>"),
    ("secret", "api_key: |\n  ", MIXED, "\nnext: 1"),
    ("credentials", '{"auths": {"x.example": {"auth": "', "dXNlcjpwYXNzd29yZA==", '"}}}'),
    ("credentials", "    client-key-data: ", "LS0tLS1CRUdJTiBSU0E=", "\n"),
    ("password", "sshpass -p ", "hunter2", " ssh mira@x.example"),
    ("password", "mysql -u root -p", "hunter2", " app"),
    ("password", "password%3D", "hunter2", ""),
    ("token", '{\\"token\\": \\"', HEX, '\\"}'),
    ("authorization", "Authorization: Basic ", "dXNlcjpwYXNzd29yZA", ""),
    ("cookie", "Cookie: sid=", "31d4cd", "; x"),
    ("seed phrase", "words: ", PHRASE, " and so on"),
    ("seed phrase", "words: ", LONGER, "."),
    ("card number", "card ", "4242 4242 4242 4242", " until 12/29"),
]


@pytest.mark.parametrize(("kind", "before", "secret", "behind"), SECRETS)
def test_a_secret_becomes_a_marker_that_says_its_kind(kind: str, before: str, secret: str, behind: str) -> None:
    shown, found = conceal(before + secret + behind)
    assert [one.kind for one in found] == [kind]
    assert secret not in shown
    assert shown.startswith(before[:-1])
    assert shown.endswith(behind)
    assert len(MARKER.findall(shown)) == 1


@pytest.mark.parametrize(("kind", "before", "secret", "behind"), SECRETS)
def test_what_was_masked_stays_as_it_is(kind: str, before: str, secret: str, behind: str) -> None:
    text = before + secret + behind
    shown = conceal(text)[0]
    assert conceal(shown) == (shown, [])
    assert redact(shown) == shown, kind
    stars = redact(text)
    assert redact(stars) == stars
    assert conceal(stars) == (stars, [])


def test_a_marker_shows_beginning_and_end_of_a_long_key_only() -> None:
    assert conceal("ghp" + f"_{MIXED}a1b2")[0] == "[secret: GitHub token ghp_…a1b2]"
    assert conceal("AKIA" + "QWERTYUIOPASDFGH")[0] == "[secret: AWS key AKIA…]"
    assert conceal("DB_PASSWORD=hunter2")[0] == "DB_PASSWORD=[secret: password]"


def test_the_secrets_come_in_the_order_of_the_text() -> None:
    found = conceal(f"password=hunter2, then ghp_{MIXED}{MIXED}, then AKIA" + "QWERTYUIOPASDFGH")[1]
    assert [one.kind for one in found] == ["password", "GitHub token", "AWS key"]


def test_the_cloud_key_file_loses_its_key_and_keeps_the_rest() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{MIXED * 3}\n-----END PRIVATE KEY-----\n"
    text = json.dumps({"type": "service_account", "project_id": "demo", "private_key": key})
    shown = conceal(text)[0]
    assert MIXED not in shown
    assert '"project_id": "demo"' in shown


@pytest.mark.parametrize(
    "text",
    [
        "number 4242 4242 4242 4242 alone",
        "card 4242 4242 4242 4243",
        PHRASE.replace("yellow", "year"),
        " ".join(["abandon"] * 11),
        "12:30:5432:x",
        "a:5432:b:c:5",
        "mysql -u root -p app",
        "the env token is set",
        '{"name": "title", "value": "aB3dE5fG7hJ9"}',
        "http://user:password@host",
        'e.exports=[{key:"wrapMatchesAcrossElements",value:function(){}}]',
        "password%3D",
        "[secret: password] and [secret: GitHub token ghp_…a1b2]",
        "Basic authentication; basic understanding",
        "\U00100000 ***\U00100005",
    ],
)
def test_what_only_looks_like_one_of_these_stays(text: str) -> None:
    assert conceal(text) == (text, [])


def test_every_known_beginning_is_looked_for() -> None:
    """The quick search for beginnings must not pass over a shape: the slow one finds nothing more."""
    rests = (MIXED * 4, HEX * 4, "QWERTYUIOPASDFGH" * 4, f"{MIXED}.{MIXED * 3}", "eyJ" + MIXED * 3, "AA" + MIXED * 3)
    for beginning in _spell_beginnings():
        for rest in rests:
            text = f"x {beginning}{rest} y"
            slow = key_shape().search(text)
            if slow:
                assert redact(text) != text or len(slow[0]) < 20, text


def _spell_beginnings() -> list[str]:
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    plain = [f"{word}{sign}" for word in ("sk", "rk", "hf", "gsk", "npm", "pat", "oy2", "cio") for sign in "-_."]
    listed = (
        "ghp_ gho_ ghu_ ghs_ ghr_ glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glffct- glsoat- glimt- glagent- gloas- "
    )
    listed += (
        "glwt- AKIA ASIA ABIA ACCA AROA AIDA AGPA ANPA ANVA APKA ASCA ABSK AIza AQ. ya29. 1//0 GOCSPX- xapp- xwfp- "
    )
    listed += "whsec_ api_org_ xai- pplx- csk- nvapi- tvly- jina_ fw_ tgp_v1_ pcsk_ vck_ r8_ BSA fc- pa- key- dapi "
    listed += "lsv2_pt_ lsv2_sk_ phx_ phc_ sntrys_ sntryu_ glsa_ glc_ NRAK- NRII- sbp_ sb_secret_ fm1_ fm2_ fo1_ pypi- "
    listed += (
        "rubygems_ dckr_pat_ dckr_oat_ ntn_ secret_ lin_api_ lin_oauth_ figd_ PMAK- pscale_tkn_ shpat_ shpca_ shppa_ "
    )
    listed += (
        "shpss_ doo_v1_ dop_v1_ dor_v1_ hvs. hvb. dp.pt. dp.st. tskey- HRKU- nfp_ cfat_ cfut_ ops_ ATATT3 ATCTT3 ATBB "
    )
    listed += "EAAA sq0atp- sq0csp- sk. AGE-SECRET- syt_ SG. xkeysib- xsmtpsib- mfa. eyJ gAAAAA SK AC M N O bot123456"
    slack = [f"xox{letter}-" for letter in alphabet[:26]]
    return [*plain, *listed.split(), *slack]


@pytest.mark.parametrize(
    "spell",
    [
        urllib.parse.quote,
        lambda text: json.dumps({"said": text}),
        lambda text: f"'{text}'",
        lambda text: f"`{text}`",
        lambda text: f"<code>{text}</code>",
        lambda text: f"\x1b[32m{text}\x1b[0m",
        lambda text: f"https://x.example/?a=1&b={text}&c=2",
        lambda text: f"**{text}**",
    ],
)
def test_a_key_is_found_however_it_is_wrapped(spell: object) -> None:
    key = "ghp" + f"_{MIXED * 2}"
    assert callable(spell)
    assert key not in conceal(str(spell(f"key {key} end")))[0]


def test_base64_of_nothing_secret_stays() -> None:
    picture = base64.b64encode(bytes(range(256)) * 8).decode()
    assert conceal(f"data:image/png;base64,{picture}")[1] == []
