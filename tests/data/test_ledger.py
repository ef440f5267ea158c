"""Lines of calls: written, read back from a moment on, added up; damage costs only the line it is in."""

import json

import pytest
from msgspec import structs

from skales.core.errors import StorageError
from skales.data.ledger import Ledger, LedgerEntry, sum_all, sum_up
from skales.data.paths import DataDirectory

NOVEMBER_MS = 1_795_000_000_000  # 2026-11-18
DECEMBER_MS = 1_796_500_000_000  # 2026-12-05

ENTRY = LedgerEntry(
    when_ms=NOVEMBER_MS,
    session_id="session_1",
    provider="openai",
    model="gpt-5.5",
    purpose="chat",
    input_tokens=1_000,
    cached_tokens=200,
    output_tokens=50,
    cost_usd=0.0061,
)


def test_what_is_recorded_is_read_back_in_order_over_months(home: DataDirectory) -> None:
    ledger = Ledger(home)
    later = structs.replace(ENTRY, when_ms=DECEMBER_MS, cost_usd=None, estimated_tokens=True)
    ledger.record(later)
    ledger.record(ENTRY)
    assert list(Ledger(home).entries()) == [ENTRY, later]
    assert sorted(path.name for path in home.costs.iterdir()) == ["2026-11.jsonl", "2026-12.jsonl"]


def test_there_are_no_entries_before_the_first_call(home: DataDirectory) -> None:
    assert list(Ledger(home).entries()) == []


def test_months_before_the_moment_are_not_even_opened(home: DataDirectory) -> None:
    ledger = Ledger(home)
    ledger.record(structs.replace(ENTRY, when_ms=DECEMBER_MS))
    (home.costs / "2026-11.jsonl").mkdir()
    assert len(list(ledger.entries(since_ms=DECEMBER_MS))) == 1


def test_calls_before_the_moment_are_left_out(home: DataDirectory) -> None:
    ledger = Ledger(home)
    ledger.record(ENTRY)
    ledger.record(structs.replace(ENTRY, when_ms=NOVEMBER_MS + 1))
    assert [entry.when_ms for entry in ledger.entries(since_ms=NOVEMBER_MS + 1)] == [NOVEMBER_MS + 1]


def test_half_a_line_of_a_crash_costs_no_other_line(home: DataDirectory) -> None:
    ledger = Ledger(home)
    ledger.record(ENTRY)
    path = home.costs / "2026-11.jsonl"
    path.write_bytes(path.read_bytes() + b'{"when_ms": 17950000')
    ledger.record(structs.replace(ENTRY, model="other"))
    assert [entry.model for entry in ledger.entries()] == ["gpt-5.5", "other"]


def test_an_empty_file_is_begun_without_an_empty_line(home: DataDirectory) -> None:
    home.costs.mkdir()
    path = home.costs / "2026-11.jsonl"
    path.touch()
    Ledger(home).record(ENTRY)
    assert path.read_text(encoding="utf-8").count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"model": "no time"}',
        b'{"when_ms": true}',
        b'{"when_ms": 1e300}',
        b'{"when_ms": "1795000000000"}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_call_is_passed_over(home: DataDirectory, line: bytes) -> None:
    home.costs.mkdir()
    (home.costs / "2026-11.jsonl").write_bytes(line + b"\n")
    assert list(Ledger(home).entries()) == []


@pytest.mark.parametrize("cost", [-1, True, "1", float("nan"), float("inf"), 1e30, [1]])
def test_an_amount_that_cannot_be_one_counts_as_unknown(home: DataDirectory, cost: object) -> None:
    home.costs.mkdir()
    (home.costs / "2026-11.jsonl").write_text(json.dumps({"when_ms": NOVEMBER_MS, "cost_usd": cost}), encoding="utf-8")
    assert [entry.cost_usd for entry in Ledger(home).entries()] == [None]


@pytest.mark.parametrize("tokens", [-1, True, "1", 1.5, 10**15, None])
def test_a_count_that_cannot_be_one_counts_as_none(home: DataDirectory, tokens: object) -> None:
    home.costs.mkdir()
    (home.costs / "2026-11.jsonl").write_text(
        json.dumps({"when_ms": NOVEMBER_MS, "input_tokens": tokens}), encoding="utf-8"
    )
    assert [entry.input_tokens for entry in Ledger(home).entries()] == [0]


def test_a_line_that_cannot_be_written_is_told(home: DataDirectory) -> None:
    home.costs.write_text("not a folder", encoding="utf-8")
    with pytest.raises(StorageError, match=r"2026-11\.jsonl"):
        Ledger(home).record(ENTRY)


def test_lines_that_cannot_be_read_are_told(home: DataDirectory) -> None:
    (home.costs / "2026-11.jsonl").mkdir(parents=True)
    with pytest.raises(StorageError, match=r"2026-11\.jsonl"):
        list(Ledger(home).entries())


def test_sums_put_the_dearest_first_and_keep_unknown_prices_apart() -> None:
    calls = [
        ENTRY,
        structs.replace(ENTRY, model="cheap", cost_usd=0.001, input_tokens=9_000),
        structs.replace(ENTRY, model="unknown", cost_usd=None, estimated_tokens=True),
        structs.replace(ENTRY, cost_usd=None),
    ]
    rows = sum_up(calls, lambda entry: entry.model)
    assert [(row.name, row.calls, row.cost_usd, row.unpriced, row.estimated) for row in rows] == [
        ("gpt-5.5", 2, 0.0061, 1, 0),
        ("cheap", 1, 0.001, 0, 0),
        ("unknown", 1, 0.0, 1, 1),
    ]
    total = sum_all(calls)
    assert (total.calls, total.input_tokens, total.cached_tokens, total.output_tokens) == (4, 12_000, 800, 200)
