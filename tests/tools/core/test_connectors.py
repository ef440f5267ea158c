"""connector_request stays below its address, signs in without showing the key, and asks before it changes anything."""

import json
from urllib.parse import urlsplit

import pytest

from skales.core.errors import InputError, ToolError
from skales.core.json import JsonValue, as_object
from skales.core.tool import Effect, Safety, safety_of_call
from skales.data.connectors import AuthKind, Connector, ConnectorAuth, ConnectorStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.security.network import NetworkPolicy
from skales.tools.core.connectors import build_address
from skales.tools.registry import BuiltinToolbox
from tests.conftest import FixedClock
from tests.tools.conftest import Call, Rules
from tests.tools.web.conftest import LocalServer, reply

pytestmark = pytest.mark.anyio

SECRET = "s3cret/key+1=="


@pytest.fixture
def store(home: DataDirectory) -> ConnectorStore:
    return ConnectorStore(home, Quarantine(home.quarantine, FixedClock()))


def add(store: ConnectorStore, server: LocalServer, auth: ConnectorAuth | None = None, *methods: str) -> None:
    store.add(
        Connector(
            id="crm", name="CRM", base_url=server.url("/api/v1"), auth=auth or ConnectorAuth(),
            headers={"X-Team": "7"}, methods=methods or ("GET", "POST"),
        )
    )  # fmt: skip


def test_tool_is_offered_while_there_is_a_connector_and_names_it(
    toolbox: BuiltinToolbox, store: ConnectorStore, server: LocalServer
) -> None:
    assert not toolbox.is_enabled("connector_request")
    assert toolbox.why_off("connector_request").startswith("No connector is set up")
    add(store, server)
    assert toolbox.is_enabled("connector_request")
    spec = toolbox.find("connector_request")
    assert spec is not None
    assert spec.description.startswith("Call a REST service that the person set up: crm. ")
    assert spec.effects == {Effect.READS_PRIVATE, Effect.OUTBOUND, Effect.UNTRUSTED_OUTPUT}
    assert safety_of_call(spec, {"connector": "crm", "path": "/"}) is Safety.AUTO
    assert safety_of_call(spec, {"method": "DELETE"}) is Safety.CONFIRM


async def test_request_goes_below_the_base_with_query_and_body(
    server: LocalServer, call: Call, store: ConnectorStore, rules: Rules
) -> None:
    add(store, server)
    rules.network = NetworkPolicy()
    server.answers["/api/v1/people/Ana%20B"] = reply(b'{"id":7}', "application/json")
    query: JsonValue = {"q": "a&b", "n": 2, "all": True, "tag": ["x", "y"], "none": None}
    result = await call("connector_request", connector="CRM", path="people/Ana B", query=query)
    assert as_object(result.data)["json"] == {"id": 7}
    assert "GET /api/v1/people/Ana%20B?q=a%26b&n=2&all=true&tag=x&tag=y " in server.requests[0]
    assert "X-Team: 7" in server.requests[0]
    server.answers["/api/v1/people"] = reply(b"", status="201 Created")
    await call("connector_request", connector="crm", path="/people", method="POST", body={"name": "Ü"})
    assert json.loads(server.bodies[1]) == {"name": "Ü"}


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        (ConnectorAuth(kind=AuthKind.BEARER, secret=SECRET), f"Authorization: Bearer {SECRET}\r\n"),
        (
            ConnectorAuth(kind=AuthKind.BASIC, name="ana", secret="pw-12345"),
            "Authorization: Basic YW5hOnB3LTEyMzQ1\r\n",
        ),
        (ConnectorAuth(kind=AuthKind.HEADER, name="X-Key", secret=SECRET), f"X-Key: {SECRET}\r\n"),
        (ConnectorAuth(kind=AuthKind.QUERY, name="key", secret=SECRET), "GET /api/v1/x?key=s3cret%2Fkey%2B1%3D%3D "),
    ],
)
async def test_secret_is_sent_and_never_shown(
    server: LocalServer, call: Call, store: ConnectorStore, auth: ConnectorAuth, sent: str
) -> None:
    add(store, server, auth)
    echo = json.dumps({"you": sent.strip(), "raw": auth.secret, auth.secret: 1}).encode()
    server.answers["/api/v1/x"] = reply(echo, "application/json", "403 Forbidden")
    result = await call("connector_request", connector="crm", path="/x")
    assert sent in server.requests[0]
    shown = result.text + result.summary + json.dumps(result.data)
    for form in (auth.secret, "YW5hOnB3LTEyMzQ1", "s3cret%2Fkey%2B1%3D%3D"):
        assert form not in shown
    assert result.is_error


async def test_missing_secret_is_said_before_anything_is_sent(
    server: LocalServer, call: Call, store: ConnectorStore
) -> None:
    add(store, server, ConnectorAuth(kind=AuthKind.BEARER))
    with pytest.raises(ToolError, match="has no secret yet"):
        await call("connector_request", connector="crm", path="/x")
    assert server.requests == []


async def test_method_that_is_not_allowed_is_refused(server: LocalServer, call: Call, store: ConnectorStore) -> None:
    add(store, server, None, "GET")
    with pytest.raises(ToolError, match=r"does not allow DELETE\. It allows GET"):
        await call("connector_request", connector="crm", path="/x", method="DELETE")
    with pytest.raises(ToolError, match=r"There is no connector 'other'\. There are: crm"):
        await call("connector_request", connector="other", path="/x")
    assert server.requests == []


ESCAPES = (
    "..", "../secret", "/a/../../secret", "/a/..", "/./a", "//evil.example/", "/a//b", "\\\\evil.example", "/a\\..\\b",
    "/%2e%2e/x", "/a/%2E%2E%2Fx", "/%252e%252e/x", "/%25252e%25252e/x", "/a%5c..%5cb", "/a;/..;/b", "/..;x/b",
    "/a/%2e./b",
    "http://evil.example/", "https:%2f%2fevil.example", "/a?x=1", "/a#b", "/a%3fx", "/a\nb", "/a\x00b", "/a%00b",
    "/a%0d%0aX: y", "/a\u202eb", "/" + "a" * 5_000,
)  # fmt: skip


@pytest.mark.parametrize("path", ESCAPES, ids=[str(number) for number in range(len(ESCAPES))])
async def test_path_cannot_leave_the_base(server: LocalServer, call: Call, store: ConnectorStore, path: str) -> None:
    add(store, server)
    with pytest.raises(ToolError, match="not a plain path below"):
        await call("connector_request", connector="crm", path=path)
    assert server.requests == []


@pytest.mark.parametrize(
    "path", ["", "/", "@evil.example/", "/a@b/c", ":8080/x", "/a/b.json", "/ä/日本", "/a..b/...", "/x:y"]
)
def test_odd_path_stays_on_the_host(path: str) -> None:
    connector = Connector(id="a", name="a", base_url="https://api.example/v1")
    parts = urlsplit(build_address(connector, path, {}))
    assert parts.netloc == "api.example"
    assert parts.path == "/v1" or parts.path.startswith("/v1/")


async def test_redirect_to_another_host_is_not_followed(server: LocalServer, call: Call, store: ConnectorStore) -> None:
    add(store, server, ConnectorAuth(kind=AuthKind.BEARER, secret=SECRET))
    server.answers["/api/v1/x"] = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(ToolError, match="redirects to another host"):
        await call("connector_request", connector="crm", path="/x")


def test_query_that_is_no_list_of_values_is_refused() -> None:
    connector = Connector(id="a", name="a", base_url="https://api.example")
    with pytest.raises(InputError, match="is an object"):
        build_address(connector, "/x", {"a": {"b": 1}})


async def test_person_sets_one_up_without_a_secret(call: Call, store: ConnectorStore, toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("create_connector")
    assert spec is not None
    assert spec.safety is Safety.MANUAL
    assert spec.effects == {Effect.WRITES}
    assert not any("secret" in name or "key" in name for name in as_object(spec.parameters["properties"]))
    result = await call("create_connector", name="My CRM", base_url="https://crm.example/api/", auth="bearer")
    assert result.text == (
        "The connector my-crm is set up for https://crm.example/api (GET). Its secret is still missing: run "
        "`skales connectors secret my-crm`."
    )
    assert store.get("my-crm").auth == ConnectorAuth(kind=AuthKind.BEARER)
    with pytest.raises(ToolError, match="already"):
        await call("create_connector", name="my crm", base_url="https://crm.example/api/")


async def test_huge_and_broken_values_are_refused_or_sent_harmlessly(
    server: LocalServer, call: Call, store: ConnectorStore
) -> None:
    add(store, server)
    server.answers["/api/v1/x"] = reply(b"ok", "text/plain")
    with pytest.raises(ToolError, match="longer than 16384 characters"):
        await call("connector_request", connector="crm", path="/x", query={"a": "b" * 10_000_000})
    with pytest.raises(ToolError, match="body is larger"):
        await call("connector_request", connector="crm", path="/x", method="POST", body={"a": "b" * 10_000_000})
    assert server.requests == []
    await call(
        "connector_request", connector="crm", path="/x", method="POST", query={"a": "\udc80"}, body={"a": "\udc80"}
    )
    assert "POST /api/v1/x?a=%3F " in server.requests[0]
    assert server.bodies == [b'{"a": "?"}']
