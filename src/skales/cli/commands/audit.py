"""`skales audit`: what was decided and run, as it stands in the log, and whether anybody changed the log.

Reads the files themselves, whether or not a server runs.
"""

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TextIO

from skales.app.cost_report import parse_since
from skales.cli.terminal import format_duration, paint, success, title, warn
from skales.core.clock import SystemClock, to_datetime
from skales.core.errors import InputError
from skales.core.json import JsonObject, as_int
from skales.data.audit_reading import AuditedCall, read_calls, read_raw
from skales.data.audit_verify import AuditReport, verify_audit
from skales.data.paths import DataDirectory, locate_data_directory

_EXIT_CHANGED = 1
# A spreadsheet takes what begins like this for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_COLUMNS = (
    "time", "tool", "decision", "ok", "duration_ms", "session", "turn", "call", "surface", "approval",
    "effects", "reason", "error", "arguments",
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    directory = locate_data_directory()
    match arguments.action:
        case "verify":
            return _verify(directory, as_json="json" in arguments)
        case "export":
            return _export(directory, arguments)
        case _:
            return _list(directory, arguments)


def _verify(directory: DataDirectory, *, as_json: bool) -> int:
    report = verify_audit(directory)
    if as_json:
        print(json.dumps(_report_json(report)))
    else:
        _print_report(report)
    return 0 if report.is_whole else _EXIT_CHANGED


def _report_json(report: AuditReport) -> JsonObject:
    last = report.last
    return {
        "whole": report.is_whole,
        "lines": report.lines,
        "last": {"number": last.number, "hash": last.hash} if last else None,
        "unchainedBefore": report.unchained_before,
        "prunedBefore": report.pruned_before,
        "findings": [{"where": finding.where, "what": finding.what} for finding in report.findings],
        "notes": [{"where": note.where, "what": note.what} for note in report.notes],
    }


def _print_report(report: AuditReport) -> None:
    for note in report.notes:
        print(paint(f"  {note.where}: {note.what}", "dim"))
    if report.pruned_before:
        print(paint(f"  Lines before {report.pruned_before} were dropped because of their age", "dim"))
    if report.unchained_before:
        print(paint(f"  Lines before {report.unchained_before} are from an older Skales without a chain", "dim"))
    if report.is_whole:
        success(f"{report.lines:,} lines, nothing was changed")
        if report.last:
            print(paint(f"  Line {report.last.number} ends with {report.last.hash}", "dim"))
        return
    for finding in report.findings:
        warn(f"  {finding.where}: {finding.what}")
    print(f"{paint('✗', 'red')} The log is not as it was written")


def _list(directory: DataDirectory, arguments: argparse.Namespace) -> int:
    calls = _select(directory, arguments, "7d")
    shown = list(islice(calls, max(1, getattr(arguments, "limit", 50))))
    if "json" in arguments:
        print(json.dumps({"calls": [_call_json(call) for call in shown], "count": len(shown)}, ensure_ascii=False))
        return 0
    title(f"{len(shown)} {'call' if len(shown) == 1 else 'calls'}, newest first")
    for call in shown:
        _print_call(call)
    print()
    return 0


def _print_call(call: AuditedCall) -> None:
    came = "" if call.ok is None else paint("done", "green") if call.ok else paint("failed", "red")
    name = call.tool or call.kind
    print(f"  {to_datetime(call.when_ms):%Y-%m-%d %H:%M:%S}  {name:<28} {call.decision:<10} {came}")
    facts = [call.session_id, format_duration(call.duration_ms) if call.duration_ms >= 1000 else "", call.error]
    print(paint(f"    {call.preview}", "dim"))
    if said := "  ".join(fact for fact in facts if fact):
        print(paint(f"    {said}", "dim"))


def _export(directory: DataDirectory, arguments: argparse.Namespace) -> int:
    with ExitStack() as stack:
        target: TextIO = sys.stdout
        if arguments.output and arguments.output != "-":
            target = stack.enter_context(_open_new(Path(arguments.output)))
        if arguments.format == "jsonl":
            count = 0
            for line in read_raw(directory, since_ms=_since_ms(arguments, "all")):
                if _is_wanted_line(arguments, line):
                    target.write(json.dumps(line, ensure_ascii=False) + "\n")
                    count += 1
        else:
            count = _write_csv(target, _select(directory, arguments, "all"))
    if target is not sys.stdout:
        success(f"{count:,} lines in {arguments.output}")
    return 0


def _open_new(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _write_csv(target: TextIO, calls: Iterator[AuditedCall]) -> int:
    writer = csv.writer(target)
    writer.writerow(_COLUMNS)
    count = 0
    for call in calls:
        writer.writerow(
            _plain(cell)
            for cell in (
                to_datetime(call.when_ms).isoformat(timespec="milliseconds"),
                call.tool or call.kind,
                call.decision,
                "" if call.ok is None else "yes" if call.ok else "no",
                str(call.duration_ms),
                call.session_id,
                call.turn_id,
                call.call_id,
                call.surface,
                call.approval_id,
                " ".join(sorted(call.effects)),
                call.reason,
                call.error,
                call.preview,
            )
        )
        count += 1
    return count


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _select(directory: DataDirectory, arguments: argparse.Namespace, usual: str) -> Iterator[AuditedCall]:
    wanted = _wants(arguments)
    for call in read_calls(directory, since_ms=_since_ms(arguments, usual)):
        if wanted(call.tool, call.decision, call.session_id):
            yield call


def _is_wanted_line(arguments: argparse.Namespace, line: JsonObject) -> bool:
    """The lines of the chain itself come along as long as nothing is asked for."""
    return _wants(arguments)(str(line.get("tool", "")), str(line.get("decision", "")), str(line.get("session", "")))


def _wants(arguments: argparse.Namespace) -> Callable[[str, str, str], bool]:
    tool = getattr(arguments, "tool", "")
    decision = getattr(arguments, "decision", "")
    session = getattr(arguments, "session", "")

    def wanted(name: str, said: str, session_id: str) -> bool:
        return tool in ("", name) and decision in ("", said) and session in ("", session_id)

    return wanted


def _since_ms(arguments: argparse.Namespace, usual: str) -> int:
    return parse_since(getattr(arguments, "since", usual) or usual, SystemClock().now_ms())


def _call_json(call: AuditedCall) -> JsonObject:
    return {
        "when": as_int(call.when_ms),
        "kind": call.kind,
        "tool": call.tool,
        "decision": call.decision,
        "reason": call.reason,
        "ok": call.ok,
        "error": call.error,
        "durationMs": call.duration_ms,
        "session": call.session_id,
        "turn": call.turn_id,
        "call": call.call_id,
        "surface": call.surface,
        "approval": call.approval_id,
        "effects": sorted(call.effects),
        "arguments": call.preview,
    }
