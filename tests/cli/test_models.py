import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skales.cli.main import main
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from tests.servers.json_site import JsonSite

CHAT = "/v1/chat/completions"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDirectory:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    monkeypatch.setenv("SKALES_DATA_DIR", str(directory.root))
    return directory


def react(body: Any) -> Any:
    """A model that calls one tool at a time, writes JSON, sees nothing, and says what a small window would refuse."""
    message: dict[str, Any] = {"role": "assistant", "content": "heliotrope"}
    if "tools" in body:
        call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Lisbon"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    elif "response_format" in body:
        message["content"] = '{"city": "Foo", "founded": 1200}'
    elif "image_url" in json.dumps(body):
        return 400, {"error": {"message": "image input is not supported"}}
    elif len(json.dumps(body)) > 40_000:
        return 400, {"error": {"message": "the request exceeds the available context size (8192 tokens)"}}
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {"choices": [{"message": message, "finish_reason": reason}]}


@pytest.fixture
def site(home: DataDirectory) -> Iterator[JsonSite]:
    with JsonSite({"/v1/models": {"data": [{"id": "one"}, {"id": "two"}]}, CHAT: react}) as running:
        provider = {"baseUrl": f"{running.url}/v1", "model": "one"}
        write_object(home.settings, {"activeProvider": "custom", "providers": {"custom": provider}})
        yield running


def run_json(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert main(["models", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_the_list_shows_what_is_set_up_and_asks_nobody(site: JsonSite, capsys: pytest.CaptureFixture[str]) -> None:
    providers = run_json(capsys)["providers"]
    assert [(provider["id"], provider["active"]) for provider in providers] == [
        ("custom", True),
        ("skales_local", False),
    ]
    assert [model["id"] for model in providers[0]["models"]] == ["one"]
    assert site.requests == []


def test_the_list_can_be_read(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    write_object(home.settings, {"providers": {"openai": {"apiKey": "sk-secret-secret"}}})
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    assert "Skales Local (active)" in printed
    line = " ".join(next(line for line in printed.splitlines() if "gpt-5.4-mini" in line).split())
    assert line == "gpt-5.4-mini 400,000 tokens · tools · vision · reasoning · json · $0.75 in, $4.5 out"
    assert "secret" not in printed


def test_refreshing_keeps_the_list(site: JsonSite, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "refresh", "custom")
    assert (found["models"], found["error"]) == (["one", "two"], None)
    assert [model["id"] for model in run_json(capsys)["providers"][0]["models"]] == ["one", "two"]


def test_an_endpoint_that_does_not_answer_is_said(site: JsonSite, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/v1/models"] = (401, {"error": {"message": "no"}})
    assert main(["models", "refresh", "custom"]) == 1
    captured = capsys.readouterr()
    assert "asks for a key" in captured.err
    assert run_json(capsys, "refresh", "custom", code=1)["error"].startswith("Custom")


def test_a_provider_that_does_not_exist_is_an_error(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "refresh", "acme"]) == 1
    assert "There is no provider 'acme'" in capsys.readouterr().err


def test_a_probe_tells_each_finding_and_keeps_them(site: JsonSite, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "probe"]) == 0
    captured = capsys.readouterr()
    lines = {line.strip().rsplit("  ", 1)[0].split("  ")[0]: line for line in captured.out.splitlines()}
    assert lines["calls tools"].split()[-1] == "yes"
    assert lines["calls several at once"].split()[4] == "no"
    assert lines["writes JSON to a schema"].split()[-1] == "yes"
    assert "image input is not supported" in lines["sees pictures"]
    assert "8192 tokens" in lines["holds its context"]
    assert "1 of 5: calls tools" in captured.err

    (model,) = run_json(capsys)["providers"][0]["models"]
    assert (model["measured"], model["vision"], model["contextTokens"]) == (True, False, 8_192)


def test_a_probe_can_name_provider_model_and_window(site: JsonSite, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "probe", "custom", "--model", "two", "--context", "0")
    assert found == {
        "address": f"{site.url}/v1",
        "tools": True,
        "parallelCalls": False,
        "json": True,
        "vision": False,
        "contextTokens": None,
    }
    assert len(site.requests) == 4


def test_the_embedded_model_needs_no_probe(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "probe", "skales_local"]) == 1
    assert "known already" in capsys.readouterr().err
