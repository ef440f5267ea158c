"""`skales audit`: listing, verifying and exporting, from the files alone."""

import csv
import io
import json

import pytest

from skales.cli.main import main
from skales.core.clock import SystemClock
from skales.data.audit import AuditDecision, AuditLog, AuditRun, find_files
from skales.data.paths import DataDirectory
from skales.security.redact import redact_value


@pytest.fixture
def log(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> AuditLog:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    log = AuditLog(home, SystemClock(), redact_value)
    for number, (tool, decision) in enumerate([("look", "auto"), ("change", "approved"), ("change", "declined")]):
        written = log.decided(
            AuditDecision(
                session_id=f"s{number}",
                call_id=f"c{number}",
                surface="page",
                tool=tool,
                decision=decision,
                arguments={"path": "=1+1"},
            )
        )
        if decision != "declined":
            log.ran(
                AuditRun(
                    session_id=f"s{number}",
                    call_id=f"c{number}",
                    tool=tool,
                    decision_number=written,
                    ok=tool == "look",
                    error="" if tool == "look" else "-no such file",
                )
            )
    return log


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["audit", *arguments])
    return code, capsys.readouterr().out


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ([], ["c2", "c1", "c0"]),
        (["--tool", "change"], ["c2", "c1"]),
        (["--decision", "approved"], ["c1"]),
        (["--session", "s0"], ["c0"]),
        (["--since", "2001-01-01", "--limit", "1"], ["c2"]),
        (["--tool", "chang"], []),
    ],
)
def test_a_list_has_what_is_asked_for(capsys: pytest.CaptureFixture[str], options: list[str], calls: list[str]) -> None:
    code, text = run(capsys, "list", *options, "--json")
    assert code == 0
    assert [call["call"] for call in json.loads(text)["calls"]] == calls


@pytest.mark.usefixtures("log")
def test_each_call_says_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    _code, text = run(capsys, "list", "--json")
    assert [call["ok"] for call in json.loads(text)["calls"]] == [None, False, True]
    _code, plain = run(capsys)
    assert "no such file" in plain


@pytest.mark.usefixtures("log")
def test_verify_says_what_was_changed_and_fails(capsys: pytest.CaptureFixture[str], home: DataDirectory) -> None:
    assert run(capsys, "verify")[0] == 0
    (path,) = find_files(home.logs)
    path.write_bytes(path.read_bytes().replace(b'"declined"', b'"approved"'))
    code, text = run(capsys, "verify", "--json")
    assert code == 1
    assert [finding["where"] for finding in json.loads(text)["findings"]] == ["audit-head.json", f"{path.name}, line 6"]
    assert main(["audit", "verify"]) == 1
    assert "line 6" in capsys.readouterr().err


@pytest.mark.usefixtures("log")
def test_exports_hold_every_line_and_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    _code, text = run(capsys, "export")
    assert [json.loads(line)["kind"] for line in text.splitlines()] == ["begun", *["decision", "run"] * 2, "decision"]
    _code, text = run(capsys, "export", "--format", "csv", "--tool", "change")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["decision"], row["ok"]) for row in rows] == [("declined", ""), ("approved", "no")]
    assert rows[1]["error"] == "'-no such file"


@pytest.mark.usefixtures("log")
def test_an_export_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str], home: DataDirectory) -> None:
    assert main(["audit", "export", "-o", str(home.root / "no" / "such" / "folder.csv")]) == 1
    assert "cannot be written" in capsys.readouterr().err
