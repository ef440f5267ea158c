"""A tool uses a stored secret by its name: the tool gets the value, nobody else does."""

import base64
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import anyio.lowlevel
import pytest
from msgspec import structs

from skales.agent.prompt import PromptFacts, build_system_prompt
from skales.agent.secrets_round import SecretUse
from skales.app.app import App
from skales.app.life import open_app
from skales.core.errors import NotFoundError
from skales.core.json import JsonObject
from skales.core.tool import Effect, Safety, SafetyMode, ToolCall, ToolSpec
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import SecretStore
from skales.data.vault import Vault
from tests.agent.conftest import OpenStage, spec
from tests.conftest import FixedClock

pytestmark = pytest.mark.anyio

VALUE = "Tr0ub4dor&3 'x' ü"
SENDS = replace(spec("send", Safety.AUTO, url="uri"), effects=frozenset({Effect.OUTBOUND}))
WRITES = spec("write", Safety.AUTO, path="path")
COMMAND = spec("shell", Safety.AUTO, command="shell-command")


@pytest.fixture
def vault(home: DataDirectory) -> Vault:
    return Vault(home, Quarantine(home.quarantine, FixedClock()))


@pytest.fixture
def secrets(home: DataDirectory, vault: Vault, clock: FixedClock) -> SecretStore:
    return SecretStore(home, Quarantine(home.quarantine, clock), clock, vault)


@pytest.fixture
def use(secrets: SecretStore, vault: Vault) -> SecretUse:
    return SecretUse(secrets)


def audit(home: DataDirectory) -> list[JsonObject]:
    """The decisions in the log."""
    (log,) = home.logs.glob("audit-*.jsonl")
    assert VALUE not in log.read_text(encoding="utf-8")
    lines: list[JsonObject] = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["kind"] == "decision"]


async def test_the_tool_gets_the_value_and_the_card_and_the_log_its_name(
    open_stage: OpenStage, use: SecretUse, secrets: SecretStore
) -> None:
    secrets.save("crm", VALUE)
    stage = open_stage(SENDS, timeout_s=0, judges=(use.judge,), rounds=(use.go_around,))
    given: JsonObject = {"url": "https://api.example/?a=1", "headers": {"X-Key": "{{secret:crm}}"}}
    await stage.gate.run(ToolCall("c", "send", given), stage.origin())
    assert stage.toolbox.ran == []
    (asked,) = stage.asked
    assert VALUE not in json.dumps(asked.approval.args, ensure_ascii=False)
    assert "crm, which is bound to no host" in asked.approval.reason
    await stage.gate.run(ToolCall("c", "send", given), stage.origin(by_user=True))
    assert stage.toolbox.ran == [("send", {"url": "https://api.example/?a=1", "headers": {"X-Key": VALUE}})]
    assert [line["secrets"] for line in audit(stage.home)] == [["crm"], ["crm"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "decision"),
    [
        (SENDS, {"url": "https://api.example/x", "body": "{{secret:bound}}"}, "auto"),
        (SENDS, {"url": "https://deep.api.example/x", "body": "{{secret:bound}}"}, "blocked"),
        (SENDS, {"url": "https://evil.test/api.example", "body": "{{secret:bound}}"}, "blocked"),
        (SENDS, {"url": "https://api.example@evil.test/", "body": "{{secret:bound}}"}, "blocked"),
        (SENDS, {"body": "{{secret:bound}}"}, "blocked"),
        (COMMAND, {"command": "curl -u x:{{secret:bound}} https://api.example/"}, "blocked"),
        (SENDS, {"url": "https://api.example/", "body": "{{secret:tooled}}"}, "blocked"),
        (COMMAND, {"command": "echo {{secret:tooled}}"}, "auto"),
        (SENDS, {"url": "https://api.example/", "body": "{{secret:nobody}}"}, "blocked"),
        (SENDS, {"url": "https://{{secret:bound}}/", "body": ""}, "blocked"),
        (SENDS, {"url": "https://api.example/", "body": "{{secret:free}}"}, "expired"),
        (SENDS, {"url": "https://api.example/", "body": "nothing"}, "auto"),
    ],
)
async def test_a_secret_goes_where_it_is_bound_to_and_nowhere_else(  # noqa: PLR0913 - fixtures and a row
    open_stage: OpenStage, use: SecretUse, secrets: SecretStore, tool: ToolSpec, arguments: JsonObject, decision: str
) -> None:
    secrets.save("bound", VALUE, hosts=["api.example"])
    secrets.save("tooled", VALUE, tools=["shell"])
    secrets.save("free", VALUE)
    stage = open_stage(tool, mode=SafetyMode.ADVANCED, timeout_s=0, judges=(use.judge,), rounds=(use.go_around,))
    await stage.gate.run(ToolCall("c", tool.name, arguments), stage.origin())
    assert audit(stage.home)[0]["decision"] == decision
    assert bool(stage.toolbox.ran) is (decision == "auto")


async def test_a_tool_that_sends_nothing_gets_the_braces(
    open_stage: OpenStage, use: SecretUse, secrets: SecretStore
) -> None:
    secrets.save("crm", VALUE)
    stage = open_stage(WRITES, judges=(use.judge,), rounds=(use.go_around,))
    given: JsonObject = {"path": "a.txt", "text": "Use {{secret:crm}}."}
    await stage.gate.run(ToolCall("c", "write", given), stage.origin())
    assert stage.toolbox.ran == [("write", given)]


async def test_a_secret_that_does_not_open_stops_the_call(
    open_stage: OpenStage, use: SecretUse, home: DataDirectory, clock: FixedClock
) -> None:
    quarantine = Quarantine(home.quarantine, clock)
    SecretStore(home, quarantine, clock, Vault(home, quarantine)).save("crm", VALUE, hosts=["api.example"])
    home.encryption_key.unlink()
    stage = open_stage(SENDS, judges=(use.judge,), rounds=(use.go_around,))
    call = ToolCall("c", "send", {"url": "https://api.example/", "body": "{{secret:crm}}"})
    result = await stage.gate.run(call, stage.origin())
    assert (result.is_error, "does not open now" in result.text) == (True, True)
    assert stage.toolbox.ran == []


# --- with real tools ---------------------------------------------------------------------------------------------


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        heard.append((self.headers["X-Key"], self.path, sent))
        body = json.dumps(
            {"key": self.headers["X-Key"], "sent": sent, "coded": base64.b64encode(sent.encode()).decode()}
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_words: object) -> None:
        return


heard: list[tuple[str, str, str]] = []


@pytest.fixture
def address() -> Generator[str]:
    heard.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@asynccontextmanager
async def opened(home: DataDirectory) -> AsyncGenerator[App]:
    write_object(home.settings, {"allowLoopback": True})
    async with open_app(home) as app:
        yield app


async def test_a_request_carries_it_and_its_answer_does_not_bring_it_back(home: DataDirectory, address: str) -> None:
    async with opened(home) as app:
        app.secrets.save("crm", "plain-value-123456", hosts=["127.0.0.1"])
        result = await app.run_tool(
            "http_request",
            {
                "url": f"{address}/x?k={{{{secret:crm}}}}",
                "method": "POST",
                "headers": {"X-Key": "{{secret:crm}}"},
                "body": '{"k": "{{secret:crm}}"}',
            },
        )
    assert heard == [("plain-value-123456", "/x?k=plain-value-123456", '{"k": "plain-value-123456"}')]
    assert not result.is_error
    told = result.text + result.summary + json.dumps(result.data)
    assert "plain-value-123456" not in told
    assert base64.b64encode(b"plain-value-123456").decode()[:20] not in told
    assert "***" in result.text


async def test_a_command_finds_it_in_its_environment_and_prints_it_to_nobody(home: DataDirectory) -> None:
    async with opened(home) as app:
        app.secrets.save("crm", VALUE)
        command = 'printf %s "{{secret:crm}}" > kept.txt; cat kept.txt; base64 < kept.txt; env | grep SKALES_SECRET'
        result = await app.run_tool("execute_command", {"command": command})
        read = await app.run_tool("read_file", {"path": "kept.txt"})
    assert (home.workspace / "kept.txt").read_text(encoding="utf-8") == VALUE
    for told in (result, read):
        assert not told.is_error
        everything = told.text + told.summary + json.dumps(told.data, ensure_ascii=False)
        assert VALUE not in everything
        assert base64.b64encode(VALUE.encode()).decode() not in everything
    assert result.text.count("***") == 3
    (line, _) = audit(home)
    assert line["secrets"] == ["crm"]


async def test_every_value_of_the_vault_is_kept_out_not_only_the_named_ones(home: DataDirectory) -> None:
    async with opened(home) as app:
        app.settings.set_provider("openai", api_key="abcdefgh-ijklmnop-1234")
        (home.workspace / "leak.txt").write_text("key: abcdefgh-ijklmnop-1234", encoding="utf-8")
        result = await app.run_tool("read_file", {"path": "leak.txt"})
        assert set(app.vault.known_values()) == {"abcdefgh-ijklmnop-1234"}
    assert "abcdefgh" not in result.text


def test_a_name_that_is_not_there_names_those_that_are(secrets: SecretStore) -> None:
    secrets.save("crm", VALUE)
    with pytest.raises(NotFoundError, match="There are: crm"):
        secrets.value("github")


async def test_the_model_knows_the_names_and_the_person_where_the_key_is(home: DataDirectory) -> None:
    async with opened(home) as app:
        app.secrets.save("crm", VALUE)
        app.secrets.save("shop", VALUE)
        await anyio.lowlevel.checkpoint()
        told = [notice.detail for notice in app.notices.entries() if notice.text == "Secrets"]
    assert len(told) == 1
    assert str(home.encryption_key) in told[0]


def test_the_prompt_names_secrets_and_how_to_use_one(home: DataDirectory) -> None:
    facts = PromptFacts(home.workspace, "Monday", "Linux", secrets=("crm", "shop"))
    assert "Stored secrets: crm, shop." in build_system_prompt(facts, compact=False)
    assert "{{secret:NAME}}" in build_system_prompt(facts, compact=False)
    assert "Stored" not in build_system_prompt(structs.replace(facts, secrets=()), compact=False)
