"""Cases NET-01: every spelling of a forbidden address, and redirects hop by hop."""

import csv
import json
from typing import Any

import httpx2
import pytest

from skales.core.errors import InputError
from skales.core.tool import Outcome
from skales.security.network import (
    CheckedUrl,
    NetworkPolicy,
    decide_address,
    decide_url,
    is_local_host,
    join_url,
    parse_domain,
    parse_url,
)
from tests.conftest import CASES

with (CASES / "network" / "NET-01-urls.csv").open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))
REDIRECTS: list[dict[str, Any]] = json.loads((CASES / "network" / "NET-01-redirects.json").read_text(encoding="utf-8"))

CLOSED, OPEN = NetworkPolicy(), NetworkPolicy(allow_loopback=True)
ALLOW, DENY = Outcome.ALLOW, Outcome.DENY


@pytest.mark.parametrize("row", ROWS, ids=[row["n"] for row in ROWS])
def test_address_cases(row: dict[str, str]) -> None:
    found = (decide_url(row["url"], CLOSED).outcome, decide_url(row["url"], OPEN).outcome)
    expected = {"allow": (ALLOW, ALLOW), "block": (DENY, ALLOW), "never": (DENY, DENY), "error": (DENY, DENY)}
    assert found == expected[row["verdict"].split(" ")[0]]


@pytest.mark.parametrize("row", [row for row in ROWS if row["class"] not in ("public", "lan", "tailnet")])
def test_a_refusal_names_its_class(row: dict[str, str]) -> None:
    named = {"invalid": "url"}.get(row["class"], row["class"])
    assert decide_url(row["url"], CLOSED).rule == f"network.{named}"


def test_a_refusal_of_this_computer_names_the_setting() -> None:
    assert "allowLoopback" in decide_url("http://127.1/", CLOSED).reason


@pytest.mark.parametrize("row", [row for row in ROWS if row["class"] not in ("scheme", "invalid")])
def test_the_client_sees_the_host_that_was_judged(row: dict[str, str]) -> None:
    checked = parse_url(row["url"])
    assert httpx2.URL(checked.url).host == checked.host
    assert parse_url(checked.url) == checked


@pytest.mark.parametrize("case", REDIRECTS, ids=[str(number) for number in range(len(REDIRECTS))])
def test_each_hop_of_a_redirect_is_judged_again(case: dict[str, Any]) -> None:
    expected = {"never": "DENY", "block": "DENY"}.get(case["verdict"], "ALLOW")
    current = parse_url(case["start"])
    outcome = Outcome.ALLOW
    for hop in case["chain"]:
        try:
            current = join_url(current, hop["location"])
        except InputError:
            outcome = Outcome.DENY
        else:
            outcome = decide_url(current.url, CLOSED).outcome
    assert outcome is Outcome[expected]


def test_origin_tells_when_credentials_must_stay_behind() -> None:
    start = parse_url("http://example.org/a")
    assert join_url(start, "/b").origin == start.origin
    for elsewhere in ("http://other.example/b", "https://example.org/b", "//example.org:8080/"):
        assert join_url(start, elsewhere).origin != start.origin


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("b?q=1", "http://example.org/b?q=1"),
        ("\\\\127.0.0.1\\x", "http://127.0.0.1/x"),
        ("/\\169.254.169.254/", "http://169.254.169.254/"),
        ("?x=\\y", "http://example.org/a?x=\\y"),
        (" //[::1]/ ", "http://[::1]/"),
    ],
)
def test_a_redirect_is_read_as_a_browser_reads_it(location: str, url: str) -> None:
    assert join_url(parse_url("http://example.org/a"), location).url == url


@pytest.mark.parametrize("location", ["http://[::1", "http://", "ftp://example.org/", "//"])
def test_a_redirect_to_no_address_is_an_error(location: str) -> None:
    with pytest.raises(InputError):
        join_url(parse_url("http://example.org/a"), location)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPS://Example.ORG", CheckedUrl("https", "example.org", 443, "https://example.org/")),
        ("http://example.org:80/a", CheckedUrl("http", "example.org", 80, "http://example.org/a")),
        ("http://example.org:/", CheckedUrl("http", "example.org", 80, "http://example.org/")),
        ("http://example.org:0080/", CheckedUrl("http", "example.org", 80, "http://example.org/")),
        ("http://example.org:8080?q", CheckedUrl("http", "example.org", 8080, "http://example.org:8080/?q")),
        ("\t http://exa\nmple.org/\r\n", CheckedUrl("http", "example.org", 80, "http://example.org/")),
        ("http:\\\\example.org\\a\\b", CheckedUrl("http", "example.org", 80, "http://example.org/a/b")),
        ("http://faß.de/", CheckedUrl("http", "xn--fa-hia.de", 80, "http://xn--fa-hia.de/")),
        ("http://xn--fa-hia.de/", CheckedUrl("http", "xn--fa-hia.de", 80, "http://xn--fa-hia.de/")),
        ("http://[2606:4700::0:1111]:81/", CheckedUrl("http", "2606:4700::1111", 81, "http://[2606:4700::1111]:81/")),
        ("http://%65xample.org/", CheckedUrl("http", "example.org", 80, "http://example.org/")),
        ("http://a_b.example.org/", CheckedUrl("http", "a_b.example.org", 80, "http://a_b.example.org/")),
        (
            "http://u:p@ss:w@example.org/ä b?q='ü'#f x",
            CheckedUrl("http", "example.org", 80, "http://u:p%40ss%3Aw@example.org/%C3%A4%20b?q=%27%C3%BC%27#f%20x"),
        ),
        ("http://example.org/%2e%41?a=%20#", CheckedUrl("http", "example.org", 80, "http://example.org/%2e%41?a=%20#")),
    ],
)
def test_an_address_has_one_spelling(text: str, expected: CheckedUrl) -> None:
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "/path",
        "http:example.org",
        "http:/example.org",
        "http:////example.org",
        "http://",
        "http://?q",
        "http://user@",
        "http://:80/",
        "http://exa mple.org/",
        "http://exa%20mple.org/",
        "http://exa%00mple.org/",
        "http://exa<mple.org/",
        "http://a%2fb/",
        "http://a..example/",
        "http://.example/",
        "http://a..",
        "http://example.org:65536/",
        "http://example.org:0/",
        "http://example.org:8o/",
        "http://example.org:-1/",
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[v1.x]/",
        "http://[::1.2.3.400]/",
        "http://[]/",
        "http://1.2.3.08/",
        "http://0x1g.1/",
        "http://a.1.2/",
        "http://4294967296/",
        "http://1.2.65536/",
        "http://0x100000000/",
        "http://" + "1" * 100,
        "http://" + "a" * 64 + ".org/",
        "http://" + "a." * 127 + "org/",
        "http://a.é..b/",
        "http://\u200b/",
        "http://☃.example/",
        "http://\ud800.example/",
        "http://example.org/" + "a" * 20_000,
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_url(text)
    assert caught.value.code == "bad_url"
    assert decide_url(text, OPEN).outcome is DENY


@pytest.mark.parametrize(
    "text", ["ws://example.org/", "about:blank", "blob:http://x/1", "view-source:http://x/", "C:\\x"]
)
def test_other_schemes_are_never_fetched(text: str) -> None:
    assert decide_url(text, OPEN).rule == "network.scheme"


def test_errors_never_repeat_user_password_or_query() -> None:
    with pytest.raises(InputError) as caught:
        parse_url("http://mira:hunter2@exa mple.org/?token=abc")
    assert not any(secret in str(caught.value) for secret in ("hunter2", "mira", "abc"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("8.8.8.8", ""),
        ("203.0.113.7", ""),
        ("198.18.0.5", ""),
        ("2606:4700::1111", ""),
        ("10.1.2.3", ""),
        ("172.31.255.255", ""),
        ("172.32.0.1", ""),
        ("100.64.0.1", ""),
        ("fd7a:115c:a1e0::1", ""),
        ("fc00::1", ""),
        ("64:ff9b::808:808", ""),
        ("64:ff9b::c0a8:714", ""),
        ("64:ff9b:1::808:808", ""),
        ("2002:808:808::1", ""),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "loopback"),
        ("::", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::127.0.0.1", "loopback"),
        ("::ffff:0:127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b:1::7f00:1", "loopback"),
        ("64:ff9b:1:7f00:0:100::", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("2001:0:7f00:1::f7f7:f7f7", "loopback"),
        ("2001:0:808:808::80ff:fffe", "loopback"),
        ("fd00::5efe:7f00:1", "loopback"),
        ("2606:4700::200:5efe:7f00:1", "loopback"),
        ("169.254.0.1", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("2002:a9fe:a9fe::", "link-local"),
        ("2001:0:808:808::5601:5601", "link-local"),
        ("168.63.129.16", "metadata"),
        ("192.0.0.192", "metadata"),
        ("fd20:ce::254", "metadata"),
        ("fd00:c1::a9fe:a9fe", "metadata"),
        ("::ffff:100.100.100.200", "metadata"),
        ("ff02::1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("255.255.255.255", "broadcast"),
        ("0.1.2.3", "reserved"),
        ("240.0.0.1", "reserved"),
        ("192.88.99.1", "reserved"),
        ("100::1", "reserved"),
        ("fec0::1", "reserved"),
        ("4000::1", "reserved"),
    ],
)
def test_each_resolved_address_has_a_class(text: str, kind: str) -> None:
    assert decide_address(text, CLOSED).rule == (f"network.{kind}" if kind else "")
    assert decide_address(text, OPEN).outcome is (ALLOW if kind in ("", "loopback") else DENY)


def test_a_name_is_no_resolved_address() -> None:
    with pytest.raises(InputError):
        decide_address("localhost", CLOSED)


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("localhost.localdomain", "loopback"),
        ("ip6-localhost", "loopback"),
        ("a.b.localhost.", "loopback"),
        ("ⓛocalhost", "loopback"),
        ("lo\u00adcalhost", "loopback"),
        ("%6c%6f%63alhost", "loopback"),
        ("127。0。0。1", "loopback"),
        ("0x7f000001", "loopback"),
        ("017700000001", "loopback"),
        ("127.0.0.1.", "loopback"),
        ("0x", "loopback"),
        ("0xa9.0376.43518", "link-local"),
        ("METADATA.google.internal.", "metadata"),
        ("metadata", "metadata"),
        ("x.metadata.goog", "metadata"),
        ("notlocalhost", ""),
        ("localhost.example.org", ""),
        ("metadata.example.org", ""),
    ],
)
def test_names_are_judged_in_every_spelling(host: str, kind: str) -> None:
    assert decide_url(f"http://{host}/", CLOSED).rule == (f"network.{kind}" if kind else "")


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.1", "::1", "[::1]", "192.168.1.2", "10.0.0.5", "fd12::1", "169.254.1.1", "fe80::1", "box.local",
     "Ollama", "printer.local.", "app.localhost", "::ffff:192.168.1.2"],
)  # fmt: skip
def test_near_hosts_are_local(host: str) -> None:
    assert is_local_host(host)


@pytest.mark.parametrize(
    "host", ["example.org", "8.8.8.8", "2606:4700::1", "local.example", "", "a b", "100.64.0.1", "::1::"]
)
def test_far_and_broken_hosts_are_not_local(host: str) -> None:
    assert not is_local_host(host)


# --- more of the kind of NET-01 ------------------------------------------------------------------------------------

NEVER = (
    "http://[fe80::1%25eth0]/",  # zone ids
    "http://[fe80::1%eth0]/",
    "http://[::1%25lo]/",
    "http://[fec0::1]/",
    "http://[64:ff9b::169.254.169.254]/",  # NAT64
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://[64:ff9b:1:a9fe:a9:fe00::]/",
    "http://[2002:a9fe:a9fe::]/",  # 6to4
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:a9fe:a9fe::1]/",  # Teredo: server, and the client's address inverted
    "http://[2001:0:4136:e378:8000:63bf:5601:5601]/",
    "http://[::a9fe:a9fe]/",  # IPv4-compatible and -translated
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://[2606:4700::5efe:a9fe:a9fe]/",  # ISATAP
    "http://169。254。169。254/",  # dots of other scripts
    "http://169．254．169．254/",
    "http://169｡254｡169｡254/",
    "http://①⑥⑨.②⑤④.169.254/",
    "http://%31%36%39.254.169.254/",  # escapes
    "http://169%2e254%2e169%2e254/",
    "http://%2531%2536%2539.254.169.254/",
    "http://0251.0376.0251.0376/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0xa9fea9fe/",
    "http://025177524776/",
    "http://169.254.169.254./",
    "http://169.254.169.254../",
    "http://4294967296/",
    "http://1.2.3.256/",
    "http://0x100000000/",
    "http://a:b@169.254.169.254/",
    "http://example.org:80@169.254.169.254/",
    "http://example.org%40x@169.254.169.254/",
    "http://example.org#@169.254.169.254/".replace("#", "%23"),
    "http://169.254.169.254\\@example.org/",
    "http://169.254.169.254:0/",
    "http://example.org:0/",
    "http://example.org:99999/",
    "http://example.org:８０/",
    f"http://{'a' * 64}.example.org/",
    f"http://{'.'.join(['a' * 60] * 5)}/",
    f"http://{'a' * 20_000}.example.org/",
    "http://metadata/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://x.metadata.google.internal/",
    "http://instance-data/latest/",
    "http://[fd00:ec2::254]/",
    "http://[fd00:ec2:0:0:0:0:0:254]/",
    "http://[fd20:ce::254]/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://[ff02::1]/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://0.1.2.3/",
    "ftp://169.254.169.254/",
    "ws://example.org/",
    "unix:///run/docker.sock",
    "file://localhost/etc/passwd",
    "view-source:http://example.org/",
    "jar:http://example.org/a!/",
    "//example.org/",
)
THIS_COMPUTER = (
    "http://127.255.255.254/",
    "http://0177.1/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://127。0。0。1/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000::0001]/",
    "http://0/",
    "http://0.0.0.0:8080/",
    "http://[::]:80/",
    "http://[::ffff:0.0.0.0]/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://LocalHost:3000/",
    "http://a.b.localhost./",
    "http://%6cocalhost/",
    "http://ip6-localhost/",
    "http://user@localhost/",
)


@pytest.mark.parametrize("url", NEVER)
def test_no_spelling_reaches_what_is_never_reached(url: str) -> None:
    assert decide_url(url, OPEN).outcome is DENY


@pytest.mark.parametrize("url", THIS_COMPUTER)
def test_this_computer_is_known_under_every_name(url: str) -> None:
    assert decide_url(url, CLOSED).rule == "network.loopback"
    assert decide_url(url, OPEN).outcome is ALLOW


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.7.20/",
        "http://10.1/",
        "http://172.31.255.255/",
        "http://[fd12:3456::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://100.101.102.103/",
        "http://[fd7a:115c:a1e0::1]/",
    ],
)
def test_the_local_network_closes_by_a_setting(url: str) -> None:
    assert decide_url(url, CLOSED).outcome is ALLOW
    refused = decide_url(url, NetworkPolicy(allow_lan=False))
    assert refused.outcome is DENY
    assert "allowLan" in refused.reason


# --- the block list ------------------------------------------------------------------------------------------------

BLOCKING = NetworkPolicy(blocked_domains=("bad.example", "xn--bse-sna.example", "203.0.113.9"))


@pytest.mark.parametrize(
    "url",
    [
        "https://bad.example/",
        "https://BAD.example:8443/x?y",
        "https://bad.example./",
        "https://deep.below.bad.example/",
        "https://user:pw@bad.example/",
        "https://b%61d.example/",
        "https://ｂａｄ.example/",
        "https://böse.example/",
        "http://203.0.113.9/",
        "http://0xcb.0.0x71.9/",
    ],
)
def test_a_blocked_domain_is_closed_in_every_spelling(url: str) -> None:
    refused = decide_url(url, BLOCKING)
    assert (refused.outcome, refused.rule) == (DENY, "network.blocked")
    assert "blockedDomains" in refused.reason


@pytest.mark.parametrize("url", ["https://notbad.example/", "https://bad.example.org/", "https://example/bad.example"])
def test_another_domain_is_not_closed_by_a_likeness(url: str) -> None:
    assert decide_url(url, BLOCKING).outcome is ALLOW


def test_a_blocked_address_is_closed_to_names_that_lead_there() -> None:
    assert decide_address("203.0.113.9", BLOCKING).outcome is DENY


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("bad.example", "bad.example"),
        (" BAD.Example. ", "bad.example"),
        ("*.bad.example", "bad.example"),
        (".bad.example", "bad.example"),
        ("https://user@bad.example:8443/path?x", "bad.example"),
        ("böse.example", "xn--bse-sna.example"),
        ("127.1", "127.0.0.1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("zip", "zip"),
    ],
)
def test_an_entry_of_the_block_list_has_one_spelling(text: str, domain: str) -> None:
    assert parse_domain(text) == domain


@pytest.mark.parametrize("text", ["", "*", "a b.example", "bad..example", "https://", "bad.example/path", "a" * 70])
def test_what_names_no_host_is_no_entry(text: str) -> None:
    with pytest.raises(InputError):
        parse_domain(text)
