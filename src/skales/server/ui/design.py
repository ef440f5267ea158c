"""`/design`: every component in every state, with samples. Only in development: `SKALES_DEV=1` at start."""

from collections.abc import Sequence
from typing import ClassVar

from fastapi import APIRouter
from msgspec import Struct, structs

from skales.server.access import AppDep, PageSession
from skales.server.frame_views import Crumb, Shell, Tray, TrayEntry
from skales.server.step_views import ApprovalCard, Argument, StepEntry, StepState
from skales.server.ui.frame import ACCENTS, build_shell
from skales.server.ui.pages import PageResponse, render
from skales.server.views import Moment, Screen

router = APIRouter(dependencies=[PageSession])

_WHEN = Moment("2026-11-30T10:00:00+00:00", "10:00")

# The first half of a state is the browser's, which `data-state` draws without a pointer.
STATES = ("default", "hover", "focus", "active", "disabled", "loading")

LONG = (
    "An unusually long label that nobody would write but somebody will translate into, "
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen included"
)
RIGHT_TO_LEFT = "نص من اليمين إلى اليسار، مع رقم 42 وكلمة English في الوسط"

_STEPS = tuple(
    StepEntry(
        f"design-{state}",
        "write_file",
        action,
        state,
        words,
        (Argument("path", "report-november.md", False), Argument("content", "First line\nSecond line", True)),
        result,
        (),
        duration,
    )
    for state, action, words, result, duration in (
        (StepState.RUNNING, "Read report-november.md", "Running", "", ""),
        (StepState.DONE, "List the workspace", "Done", "report-october.md\nreport-november.md", "252 ms"),
        (StepState.FAILED, LONG, "Not done", "There is no file report-novembre.md", "3 ms"),
        (StepState.OPEN, "Write 49 bytes to summary.md", "Waits for you", "", ""),
    )
)

_CARD = ApprovalCard(
    "design",
    "design-open",
    "write_file",
    "Write 49 bytes to summary.md",
    "This tool asks first in the safety mode safe",
    '{\n  "path": "summary.md",\n  "content": "Two reports, one conclusion."\n}',
    "every call of write_file",
    0,
    4_102_444_800_000,
)
_QUESTION = ApprovalCard(
    "design-question",
    "design-open",
    "ask_user",
    "Which of the two reports counts?",
    "",
    "{}",
    "",
    0,
    4_102_444_800_000,
    is_question=True,
    options=("October", "November"),
)

_TRAY = Tray(
    tuple(
        TrayEntry(f"design-{kind}", kind, symbol, label, text, detail, _WHEN, "/chat", is_new)
        for kind, symbol, label, text, detail, is_new in (
            ("ask", "ask", "Waits for your answer", "Write 49 bytes to summary.md", "Asks first", True),
            ("good", "done", "Answer finished", "Compare the two reports", "", True),
            ("bad", "error", "Answer broke off", LONG, "The provider answered 503", False),
            ("warn", "broken", "File set aside", "session_1732.json", "It is not JSON", False),
        )
    ),
    2,
    "design-1",
)


class DesignPage(Struct, frozen=True):
    """The samples; everything else is in the template, which is where components are written."""

    template: ClassVar[str] = "design/page.html"
    states: ClassVar[Sequence[str]] = STATES
    accent_choices: ClassVar[Sequence[tuple[str, str, str]]] = tuple((accent, accent, "") for accent in ACCENTS)
    long: ClassVar[str] = LONG
    right_to_left: ClassVar[str] = RIGHT_TO_LEFT
    steps: ClassVar[Sequence[StepEntry]] = _STEPS
    card: ClassVar[ApprovalCard] = _CARD
    question: ClassVar[ApprovalCard] = _QUESTION
    tray: ClassVar[Tray] = _TRAY
    empty_tray: ClassVar[Tray] = Tray()
    shell: Shell


@router.get("/design", response_class=PageResponse)
def open_design(app: AppDep) -> str:
    """Every component."""
    shell = build_shell(app, "Design", Screen.NONE)
    return render(DesignPage(structs.replace(shell, crumbs=(Crumb("/chat", "Skales"),))))
