"""Requests of tools reach only what the rules allow, whatever names, redirects and servers do."""

import asyncio
import csv
import json
import ssl
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx2
import pytest

from skales import __version__
from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.security.network import NetworkPolicy
from skales.tools.web.client import Limits, WebRequest, Wire, find_proxy, open_reply, open_transport, resolve_name
from tests.conftest import CASES
from tests.tools.web.conftest import LocalServer, reply, resolver

pytestmark = pytest.mark.anyio

PUBLIC = "93.184.215.14"
STRICT = NetworkPolicy()


@dataclass
class Script:
    """Plays answers instead of a network; keeps the requests as they would have gone out."""

    answers: list[httpx2.Response | Exception]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    requests: list[httpx2.Request] = field(default_factory=list)
    proxies: list[str] = field(default_factory=list)

    def wire(self, proxy: str = "", limits: Limits | None = None) -> Wire:
        answers = iter(self.answers)

        def answer(request: httpx2.Request) -> httpx2.Response:
            self.requests.append(request)
            found = next(answers, None) or httpx2.Response(200, text="end")
            if isinstance(found, Exception):
                raise found
            return found

        def transport(proxy: str) -> httpx2.AsyncBaseTransport:
            self.proxies.append(proxy)
            return httpx2.MockTransport(answer)

        async def resolve(host: str, port: int) -> Sequence[str]:
            return self.names.get(host, [PUBLIC])

        return Wire(
            resolve=resolve,
            find_proxy=lambda _scheme, _host: proxy,
            open_transport=transport,
            limits=limits or Limits(),
        )


def redirect(status: int, location: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, headers={"Location": location, **headers})


async def get(
    url: str, wire: Wire, policy: NetworkPolicy = STRICT, request: WebRequest | None = None, most_bytes: int = 1_000
) -> str:
    async with open_reply(url, policy, request, wire) as answer:
        body, is_cut = await answer.read(most_bytes)
        return body.decode() + ("…" if is_cut else "")


# --- addresses ---------------------------------------------------------------------------------------------------


def rows() -> Iterator[dict[str, str]]:
    with (CASES / "network" / "NET-01-urls.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


REFUSED = [row["url"] for row in rows() if not row["verdict"].startswith("allow")]
ALLOWED = [row["url"] for row in rows() if row["verdict"].startswith("allow")]


@pytest.mark.parametrize("url", REFUSED)
async def test_forbidden_address_is_refused_before_anything_is_sent(url: str) -> None:
    script = Script([])
    with pytest.raises((ToolRefusedError, InputError)):
        await get(url, script.wire())
    assert script.requests == []


@pytest.mark.parametrize("url", ALLOWED)
async def test_allowed_address_is_requested_at_the_host_that_was_judged(url: str) -> None:
    script = Script([])
    assert await get(url, script.wire()) == "end"
    assert script.requests[0].url.host in {PUBLIC, "192.168.7.20", "fd12:3456::1", "100.101.102.103"}


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["169.254.169.254"], ["::1"], ["::ffff:127.0.0.1"], [PUBLIC, "127.0.0.1"], [PUBLIC, "fe80::1"]],
)
async def test_name_that_leads_to_a_forbidden_address_is_refused(addresses: Sequence[str]) -> None:
    script = Script([], {"rebind.example": addresses})
    with pytest.raises(ToolRefusedError, match=r"rebind\.example is not what it seems"):
        await get("http://rebind.example/", script.wire())
    assert script.requests == []


async def test_setting_lets_a_name_lead_to_this_computer() -> None:
    script = Script([], {"here.example": ["127.0.0.1"]})
    assert await get("http://here.example/", script.wire(), NetworkPolicy(allow_loopback=True)) == "end"


async def test_connection_goes_to_the_judged_address_under_the_asked_name() -> None:
    script = Script([])
    await get("https://user:pw@example.org:8443/a?b=c", script.wire())
    sent = script.requests[0]
    assert (sent.url.host, sent.url.port, sent.url.raw_path) == (PUBLIC, 8443, b"/a?b=c")
    assert sent.headers["host"] == "example.org:8443"
    assert sent.extensions["sni_hostname"] == "example.org"
    assert sent.headers["user-agent"] == f"Skales/{__version__}"


async def test_address_without_a_name_needs_no_name_in_the_handshake() -> None:
    script = Script([])
    await get("https://[fd12:3456::1]/", script.wire())
    assert script.requests[0].url.host == "fd12:3456::1"
    assert "sni_hostname" not in script.requests[0].extensions


async def test_next_address_is_tried_when_one_cannot_be_connected_to() -> None:
    script = Script([httpx2.ConnectError("no route")], {"two.example": ["2606:4700::1", PUBLIC]})
    assert await get("http://two.example/", script.wire()) == "end"
    assert [request.url.host for request in script.requests] == ["2606:4700::1", PUBLIC]


async def test_name_without_an_address_is_an_error() -> None:
    with pytest.raises(ToolError, match="has no address"):
        await get("http://empty.example/", Script([], {"empty.example": []}).wire())


async def test_system_resolves_names() -> None:
    assert "127.0.0.1" in await resolve_name("127.0.0.1", 80)
    with pytest.raises(ToolError, match="cannot be found"):
        await resolve_name("a" * 70, 80)


# --- redirects ---------------------------------------------------------------------------------------------------


CHAINS = json.loads((CASES / "network" / "NET-01-redirects.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("chain", [chain for chain in CHAINS if "requests_sent" in chain])
async def test_redirect_to_a_forbidden_address_is_not_followed(chain: Mapping[str, object]) -> None:
    steps = chain["chain"]
    assert isinstance(steps, list)
    script = Script([redirect(step["status"], step["location"]) for step in steps])
    with pytest.raises(ToolRefusedError, match=r"example\.org redirects to an address that is not allowed"):
        await get(str(chain["start"]), script.wire())
    assert len(script.requests) == chain["requests_sent"]


async def test_redirect_in_a_circle_ends_after_five_hops() -> None:
    start = CHAINS[3]["start"]
    script = Script([redirect(302, start)] * 20)
    with pytest.raises(ToolError, match="redirects more than 5 times"):
        await get(start, script.wire())
    assert len(script.requests) == 6


async def test_credentials_do_not_follow_a_redirect_to_another_host() -> None:
    chain = CHAINS[4]
    script = Script([redirect(302, chain["chain"][0]["location"], **{"Set-Cookie": "a=b"})])
    headers = {**chain["sent_headers"], "X-Api-Key": "k", "Accept": "text/html"}
    await get(chain["start"], script.wire(), request=WebRequest(headers=headers))
    first, second = script.requests
    assert first.headers["authorization"] == "Bearer x"
    assert second.headers["host"] == "other.example"
    assert second.headers["accept"] == "text/html"
    assert not {"authorization", "cookie", "x-api-key"} & set(second.headers)


@pytest.mark.parametrize("location", ["https://example.org/b", "http://example.org:8080/b", "http://www.example.org/"])
async def test_another_scheme_port_or_subdomain_is_another_host(location: str) -> None:
    script = Script([redirect(302, location)])
    await get("http://example.org/", script.wire(), request=WebRequest(headers={"Authorization": "x"}))
    assert "authorization" not in script.requests[1].headers


async def test_credentials_and_cookies_stay_within_their_host() -> None:
    script = Script([redirect(302, "/b", **{"Set-Cookie": "a=b"})])
    await get("http://example.org/a", script.wire(), request=WebRequest(headers={"Authorization": "x"}))
    assert script.requests[1].headers["authorization"] == "x"
    assert script.requests[1].headers["cookie"] == "a=b"


async def test_every_hop_is_resolved_and_judged_anew() -> None:
    script = Script([redirect(302, "http://inside.example/")], {"inside.example": ["169.254.169.254"]})
    with pytest.raises(ToolRefusedError, match=r"inside\.example is not what it seems"):
        await get("http://example.org/", script.wire())
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    ("status", "method", "goes_on_as"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (302, "PUT", "PUT"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
    ],
)
async def test_method_goes_on_as_in_browsers(status: int, method: str, goes_on_as: str) -> None:
    script = Script([redirect(status, "/b")])
    request = WebRequest(method=method, headers={"Content-Type": "text/plain"}, body=b"x")
    await get("http://example.org/", script.wire(), request=request)
    sent = script.requests[1]
    assert (sent.method, sent.content, "content-type" in sent.headers) == (
        goes_on_as,
        b"" if goes_on_as == "GET" else b"x",
        goes_on_as != "GET",
    )


@pytest.mark.parametrize("answer", [httpx2.Response(302), httpx2.Response(304, headers={"Location": "/b"})])
async def test_answer_that_leads_nowhere_is_the_answer(answer: httpx2.Response) -> None:
    script = Script([answer])
    assert await get("http://example.org/", script.wire()) == ""
    assert len(script.requests) == 1


# --- a real connection -------------------------------------------------------------------------------------------


async def test_page_is_fetched_by_name(server: LocalServer, here: NetworkPolicy) -> None:
    server.page("/a", "hello")
    wire = Wire(resolve=resolver({"page.example": ["127.0.0.1"]}))
    async with open_reply(server.url("/a", "page.example"), here, wire=wire) as answer:
        assert (answer.status, answer.reason, answer.url) == (200, "OK", f"http://page.example:{server.port}/a")
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert await answer.read(100) == (b"hello", False)
    assert f"Host: page.example:{server.port}" in server.requests[0]


async def test_two_names_of_one_address_share_no_connection(server: LocalServer, here: NetworkPolicy) -> None:
    target = server.url("/b", "two.example")
    server.answers["/a"] = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
    server.page("/b", "second")
    wire = Wire(resolve=resolver({"one.example": ["127.0.0.1"], "two.example": ["127.0.0.1"]}))
    assert await get(server.url("/a", "one.example"), wire, here) == "second"
    assert [request.split("\r\n")[1] for request in server.requests] == [
        f"Host: one.example:{server.port}",
        f"Host: two.example:{server.port}",
    ]


async def test_name_is_in_the_tls_handshake_though_the_address_is_dialled(here: NetworkPolicy) -> None:
    hello = asyncio.get_running_loop().create_future()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.set_result(await reader.read(4096))
        writer.close()

    listener = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    wire = Wire(resolve=resolver({"secure.example": ["127.0.0.1"]}), find_proxy=lambda _scheme, _host: "")
    with pytest.raises(ToolError):
        await get(f"https://secure.example:{port}/", wire, here)
    listener.close()
    assert b"secure.example" in await hello


async def test_body_beyond_the_limit_is_cut(server: LocalServer, here: NetworkPolicy) -> None:
    server.page("/long", "x" * 5_000)
    assert await get(server.url("/long"), Wire(), here, most_bytes=10) == "x" * 10 + "…"
    assert await get(server.url("/long"), Wire(), here, most_bytes=5_000) == "x" * 5_000


async def test_compressed_body_is_cut_by_what_comes_out(server: LocalServer, here: NetworkPolicy) -> None:
    bomb = zlib.compress(b"x" * 50_000_000)
    server.answers["/bomb"] = reply(bomb, headers={"Content-Encoding": "deflate"})
    assert await get(server.url("/bomb"), Wire(), here, most_bytes=3) == "xxx…"


async def test_server_that_never_answers_is_given_up(server: LocalServer, here: NetworkPolicy) -> None:
    async def wait(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    server.answers["/wait"] = wait
    with pytest.raises(ToolError, match="did not answer in time"):
        await get(server.url("/wait"), Wire(limits=Limits(total_s=0.05)), here)
    with pytest.raises(ToolError, match="did not answer in time"):
        await get(server.url("/wait"), Wire(limits=Limits(idle_s=0.05)), here)


async def test_server_that_drips_is_given_up(server: LocalServer, here: NetworkPolicy) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(1_000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    server.answers["/drip"] = drip
    with pytest.raises(ToolError, match="did not answer in time"):
        await get(server.url("/drip"), Wire(limits=Limits(total_s=0.2)), here)


async def test_closed_port_is_named_as_unreachable(server: LocalServer, here: NetworkPolicy) -> None:
    listener = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    with pytest.raises(ToolError, match=r"127\.0\.0\.1 cannot be reached"):
        await get(f"http://127.0.0.1:{port}/", Wire(), here)


@pytest.mark.parametrize(
    "answer",
    [
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
        b"",
    ],
)
async def test_broken_answer_is_an_error(server: LocalServer, here: NetworkPolicy, answer: bytes) -> None:
    server.answers["/broken"] = answer
    with pytest.raises(ToolError, match="cannot be read"):
        await get(server.url("/broken"), Wire(), here)


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (ssl.SSLCertVerificationError("self-signed"), "The certificate of example.org is not valid"),
        (ssl.SSLError("wrong version number"), "No secure connection to example.org could be made"),
    ],
)
async def test_failed_handshake_says_what_is_wrong(cause: Exception, message: str) -> None:
    failure = httpx2.ConnectError("handshake")
    failure.__cause__ = cause
    with pytest.raises(ToolError, match=message):
        await get("https://example.org/", Script([failure]).wire())


# --- proxies -----------------------------------------------------------------------------------------------------


async def test_proxy_gets_the_name_and_only_the_written_address_is_judged() -> None:
    script = Script([], {"example.org": ["127.0.0.1"]})
    assert await get("http://example.org/", script.wire("http://proxy.example:3128")) == "end"
    assert (script.requests[0].url.host, script.proxies) == ("example.org", ["http://proxy.example:3128"])
    with pytest.raises(ToolRefusedError):
        await get("http://169.254.169.254/", script.wire("http://proxy.example:3128"))


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def set_variables(**variables: str) -> None:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_variables


async def test_proxy_is_that_of_the_environment(environment: Callable[..., None]) -> None:
    environment(https_proxy="proxy.example:3128", all_proxy="http://all.example", no_proxy="inside.example,10.0.0.1")
    assert find_proxy("https", "example.org") == "http://proxy.example:3128"
    assert find_proxy("http", "example.org") == "http://all.example"
    assert [find_proxy("https", host) for host in ("inside.example", "10.0.0.1", "localhost.", "127.0.0.1", "::1")] == [
        ""
    ] * 5
    environment()
    assert find_proxy("https", "example.org") == ""


async def test_unsupported_kind_of_proxy_is_named() -> None:
    await open_transport("http://proxy.example:3128").aclose()
    for proxy in ("socks5://proxy.example", "ftp://proxy.example"):
        with pytest.raises(ToolError, match="proxy is of a kind"):
            open_transport(proxy)


# --- settings, and servers that mean ill ---------------------------------------------------------------------------


async def test_blocked_domain_is_closed_also_by_a_redirect() -> None:
    policy = NetworkPolicy(blocked_domains=("bad.example",))
    script = Script([redirect(302, "https://www.bad.example/x")])
    with pytest.raises(ToolRefusedError, match=r"closed by the entry bad\.example"):
        await get("http://example.org/", script.wire(), policy)
    assert len(script.requests) == 1


async def test_name_that_leads_into_the_closed_local_network_is_refused() -> None:
    script = Script([], {"inside.example": ["192.168.1.1"]})
    assert await get("http://inside.example/", script.wire()) == "end"
    with pytest.raises(ToolRefusedError, match="allowLan"):
        await get("http://inside.example/", script.wire(), NetworkPolicy(allow_lan=False))


async def test_name_is_resolved_once_so_that_it_cannot_change_before_the_connection(
    server: LocalServer, here: NetworkPolicy
) -> None:
    server.page("/", "first")
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    assert await get(server.url("/", "rebind.example"), Wire(resolve=rebinding), here) == "first"
    assert asked == ["rebind.example"]


@pytest.mark.parametrize("location", ["ftp://example.org/", "file:///etc/passwd", "data:text/plain,x", "gopher://x/"])
async def test_redirect_to_another_scheme_is_refused(location: str) -> None:
    with pytest.raises(ToolRefusedError, match="redirects to an address that is not allowed"):
        await get("http://example.org/", Script([redirect(302, location)]).wire())


@pytest.mark.parametrize("location", ["http://other.example/", "https://example.org/", "http://example.org:81/"])
async def test_request_that_stays_does_not_follow_to_another_origin(location: str) -> None:
    script = Script([redirect(307, location)])
    with pytest.raises(ToolRefusedError, match="redirects to another host"):
        await get("http://example.org/", script.wire(), request=WebRequest(stays=True))
    assert len(script.requests) == 1


async def test_request_that_stays_follows_on_its_own_host() -> None:
    script = Script([redirect(302, "/b")])
    assert await get("http://example.org/", script.wire(), request=WebRequest(stays=True)) == "end"


async def test_one_byte_a_minute_is_given_up_by_the_wait_for_each(server: LocalServer, here: NetworkPolicy) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
        await writer.drain()
        await asyncio.sleep(60)

    server.answers["/drip"] = drip
    with pytest.raises(ToolError, match="did not answer in time"):
        await get(server.url("/drip"), Wire(limits=Limits(idle_s=0.05)), here)


async def test_endless_headers_are_no_answer(server: LocalServer, here: NetworkPolicy) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(100_000):
            writer.write(b"X-%d: %s\r\n" % (number, b"y" * 100))
            await writer.drain()

    server.answers["/endless"] = endless
    with pytest.raises(ToolError, match="cannot be read"):
        await get(server.url("/endless"), Wire(), here)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnot hex\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 999999 \r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + zlib.compress(b"x"),
        b"\x16\x03\x01\x02\x00",
    ],
)
async def test_garbage_is_an_error_in_plain_words(server: LocalServer, here: NetworkPolicy, answer: bytes) -> None:
    server.answers["/garbage"] = answer
    with pytest.raises(ToolError, match="cannot be read"):
        await get(server.url("/garbage"), Wire(), here)


async def test_bomb_takes_no_more_memory_than_what_is_read(server: LocalServer, here: NetworkPolicy) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1_000_000)
    bomb = b"".join(packer.compress(zeros) for _ in range(300)) + packer.flush()
    server.answers["/bomb"] = reply(bomb, headers={"Content-Encoding": "gzip"})
    tracemalloc.start()
    try:
        async with open_reply(server.url("/bomb"), here) as answer:
            body, is_cut = await answer.read(1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(body), is_cut) == (1_000_000, True)
    assert peak < 20_000_000
