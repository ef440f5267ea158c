"""Questions at the terminal: what the person sees before answering."""

import io
import sys

import pytest

from skales.cli.questions import ask_decision
from skales.core.approval import Approval, AskKind
from skales.core.ids import ApprovalId, SessionId

DIFF = "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-old\n+new"


def asked(preview: str) -> Approval:
    return Approval(
        id=ApprovalId("ap_1"),
        kind=AskKind.TOOL,
        session_id=SessionId("s"),
        call_id="c",
        tool="edit_file",
        args={"path": "a.txt"},
        action="Change a.txt",
        reason="",
        preview=preview,
    )


class Terminal(io.StringIO):
    """A screen that takes colours."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("preview", "lines"),
    [
        (DIFF, ["\033[2m  +++ a.txt\033[0m", "\033[31m  -old\033[0m", "\033[32m  +new\033[0m"]),
        ("The file a.txt.\n- not a diff", ["\033[2m  - not a diff\033[0m"]),
    ],
)
def test_what_would_change_stands_above_the_question(
    monkeypatch: pytest.MonkeyPatch, preview: str, lines: list[str]
) -> None:
    screen = Terminal()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert ask_decision(asked(preview)).approved
    shown = screen.getvalue()
    assert all(f"{line}\n" in shown for line in lines)
    assert shown.index(lines[-1]) < shown.index("[y] yes")


def test_without_colours_the_signs_are_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert not ask_decision(asked(DIFF)).approved
    assert "  -old\n  +new\n" in capsys.readouterr().err
