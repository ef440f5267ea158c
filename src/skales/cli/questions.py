"""Asks the person at the terminal: may this run, or what does the agent want to know.

Spec: orchestrator.md, "Approvals".
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from skales.cli.terminal import aside, paint, warn
from skales.core.approval import Approval, AskKind, Decision, Scope
from skales.core.json import JsonObject, as_object, parse_json

_PLAIN_ANSWERS = {
    "y": Decision(approved=True, by="cli"),
    "yes": Decision(approved=True, by="cli"),
    "n": Decision(approved=False, by="cli"),
    "no": Decision(approved=False, by="cli"),
    "": Decision(approved=False, by="cli"),
    "s": Decision(approved=True, scope=Scope.SESSION, by="cli"),
    "a": Decision(approved=True, scope=Scope.ALWAYS, by="cli"),
}
_CHOICES = "[y] yes  [n] no  [s] yes, for this conversation  [a] always  [e] edit  [i] no, and instead…  [w] why"


def ask_decision(approval: Approval) -> Decision:
    """Put a question to the person and wait; Ctrl-C and end of input mean no."""
    try:
        return _ask_words(approval) if approval.kind is AskKind.QUESTION else _ask_permission(approval)
    except (EOFError, KeyboardInterrupt):
        print(file=sys.stderr)
        return Decision(approved=False, by="cli")


def read_line(prompt: str) -> str:
    """One line from the person. Ctrl-C raises KeyboardInterrupt even while an event loop holds the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.stderr.write(prompt)
        sys.stderr.flush()
        return input()
    finally:
        signal.signal(signal.SIGINT, before)


def _ask_permission(approval: Approval) -> Decision:
    _show_call(approval)
    while True:
        answer = read_line(f"{paint(_CHOICES, 'bold', to=sys.stderr)} > ").strip().lower()
        if answer in _PLAIN_ANSWERS:
            return _PLAIN_ANSWERS[answer]
        match answer:
            case "e":
                edited = _edit_arguments(approval.args)
                if edited is not None:
                    return Decision(approved=True, args=edited, by="cli")
            case "i":
                return Decision(approved=False, instead=read_line("Instead: ").strip(), by="cli")
            case "w":
                _show_why(approval)
            case _:
                aside("Answer with y, n, s, a, e, i or w.")


def _show_call(approval: Approval) -> None:
    """What would happen, why it is asked, and what a wider yes would cover."""
    warn(f"\n{approval.action}")
    aside(f"  {approval.tool} {json.dumps(approval.args, ensure_ascii=False)}")
    if approval.reason:
        aside(f"  {approval.reason}")
    _show_preview(approval.preview)
    if approval.sandbox and approval.sandbox != approval.reason:
        aside(f"  {approval.sandbox}")
    if approval.covers:
        aside(f"  always covers {approval.covers}")
    if approval.covers and approval.past_calls:
        aside(f"  which would have been {approval.past_covered} of the last {approval.past_calls} calls of this tool")


def _show_why(approval: Approval) -> None:
    """The rules that led here; the one that decides in bold."""
    for step in approval.why:
        line = f"  {step.rule:<8} {step.words}{f' ({step.about})' if step.about else ''}"
        print(paint(line, "bold" if step.decides else "dim", to=sys.stderr), file=sys.stderr, flush=True)


def _show_preview(preview: str) -> None:
    """What the call would change; of a diff, added and removed lines in colour, their signs in any case."""
    lines = preview.splitlines()
    is_diff = len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    for number, line in enumerate(lines):
        style = {"+": "green", "-": "red"}.get(line[:1], "dim") if is_diff and number > 1 else "dim"
        print(paint(f"  {line}", style, to=sys.stderr), file=sys.stderr, flush=True)


def _ask_words(approval: Approval) -> Decision:
    warn(f"\n{approval.action}")
    for number, option in enumerate(approval.options, 1):
        aside(f"  {number}. {option}")
    answer = read_line("Answer: ").strip()
    if answer.isdigit() and 1 <= int(answer) <= len(approval.options):
        answer = approval.options[int(answer) - 1]
    return Decision(approved=bool(answer), instead=answer, by="cli")


def _edit_arguments(arguments: JsonObject) -> JsonObject | None:
    """The arguments after the person's editor; None when they are not usable JSON."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    written = json.dumps(arguments, ensure_ascii=False, indent=2)
    text = (
        _edit_in(editor, written)
        if editor
        else read_line(f"Arguments as JSON, now {json.dumps(arguments, ensure_ascii=False)}: ")
    )
    try:
        edited = parse_json(text)
    except ValueError as error:
        warn(f"This is not JSON: {error}")
        return None
    return as_object(edited) or None


def _edit_in(editor: str, text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arguments.json"
        path.write_text(text, encoding="utf-8")
        subprocess.run([*editor.split(), str(path)], check=False)  # noqa: S603 - the person's own editor
        return path.read_text(encoding="utf-8")
