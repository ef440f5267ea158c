"""`skales costs`: sums for people and for programs, without a running server."""

import json

import pytest

from skales.cli.main import main
from skales.core.clock import SystemClock
from skales.data.ledger import Ledger, LedgerEntry
from skales.data.paths import DataDirectory

DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def filled(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")
    now_ms = SystemClock().now_ms()
    ledger = Ledger(home)
    calls = (
        ("gpt-5.5", 1.5, 0, False),
        ("gpt-5.5", None, 3, True),
        ("odd", None, 3, False),
        ("tiny", 0.00012, 60, False),
    )
    for model, cost_usd, days_ago, estimated in calls:
        ledger.record(
            LedgerEntry(
                when_ms=now_ms - days_ago * DAY_MS,
                session_id="session_gone" if days_ago else "",
                provider="openai",
                model=model,
                purpose="chat",
                input_tokens=1_200,
                cached_tokens=200,
                output_tokens=50,
                cost_usd=cost_usd,
                estimated_tokens=estimated,
            )
        )


def test_the_sums_of_a_month_by_model_are_the_usual_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [" ".join(line.split()) for line in lines] == [
        "1.50 USD in 3 calls, by model",
        "openai/gpt-5.5 1.50 USD",
        "2 calls, 2,400 tokens in (400 cached), 100 out, 1 without a known price, tokens of 1 estimated",
        "openai/odd unknown",
        "1 call, 1,200 tokens in (200 cached), 50 out",
        "Estimated from list prices. Models without a known price are not in the sums.",
    ]


def test_everything_by_conversation_names_what_belongs_to_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--since", "all", "--by", "session"]) == 0
    out = capsys.readouterr().out
    assert "outside of conversations" in out
    assert "0.000120 USD" in out


def test_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--since", "1d", "--by", "provider", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["costUsd"], row["calls"]) for row in report["rows"]] == [("openai", 1.5, 1)]


def test_no_calls_are_no_rows(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    for path in home.costs.iterdir():
        path.unlink()
    assert main(["costs"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.strip() for line in lines if line.strip()] == [
        "0.00 USD in 0 calls, by model",
        "Estimated from list prices. Models without a known price are not in the sums.",
    ]


def test_a_time_that_is_none_says_what_may_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--since", "lately"]) == 1
    assert "Write 7d, 2026-11-30 or all" in capsys.readouterr().err
