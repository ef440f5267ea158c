"""Every view renders with its template, and no page carries script or style of its own."""

import inspect
from dataclasses import replace

import pytest
from markupsafe import Markup
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.server import views
from skales.server.ui import setting_views, tool_views
from skales.server.ui.pages import environment, render
from skales.server.ui.setting_views import (
    BrokenFileLine,
    Choice,
    ConnectionReport,
    KeyField,
    ProviderCard,
    ProviderList,
    Saved,
    SettingsPage,
)
from skales.server.ui.tool_views import (
    Control,
    ToolDetail,
    ToolField,
    ToolGroup,
    ToolList,
    ToolResultView,
    ToolRow,
    ToolsPage,
)
from skales.server.views import (
    AnswerEntry,
    ApprovalCard,
    Argument,
    ChatPage,
    ErrorPage,
    Example,
    ModelFacts,
    Moment,
    NoticeLine,
    Picture,
    Queue,
    Screen,
    SessionGroup,
    SessionList,
    SessionRow,
    Shell,
    StarterFacts,
    StepEntry,
    StepState,
    Stretch,
    Transcript,
    Trouble,
    TurnOutcome,
    UserEntry,
    View,
    Welcome,
)

HOSTILE = "<script>alert(1)</script>\" onclick='alert(1)'"
WHEN = Moment("2026-11-30T10:00:00+00:00", "10:00")
TROUBLE = Trouble(HOSTILE, "Do that", "/settings", "Open")
SESSIONS = SessionList(
    (SessionGroup("Today", (SessionRow("session_1", HOSTILE, WHEN, is_current=True),)),),
    HOSTILE,
    "session_1",
    "1~session_1",
)
SHELL = Shell(HOSTILE, Screen.CHAT, "dark", "viridian", SESSIONS, deleted="session_2")
USER = UserEntry("m-0", HOSTILE, WHEN, (Picture("data:image/png;base64,AA==", HOSTILE),), is_command=True)
ANSWER = AnswerEntry("m-1", Markup("<p>ok</p>"), True, HOSTILE, WHEN, ("demo", "3 tokens in, 4 out"), "Stopped", True)
STEP = StepEntry(
    "abc",
    HOSTILE,
    HOSTILE,
    StepState.FAILED,
    "Not done",
    (Argument(HOSTILE, HOSTILE, True), Argument("n", "1", False)),
    HOSTILE,
    (HOSTILE,),
    "3 ms",
)
CARD = ApprovalCard("ap_1", "abc", HOSTILE, HOSTILE, HOSTILE, '{\n  "a": 1\n}', HOSTILE, 1, 2)
OUTCOME = TurnOutcome(HOSTILE, "Check it", "bad_key")
STRETCH = Stretch((USER, ANSWER, STEP), 7)
QUEUE = Queue((HOSTILE, "second"))
TRANSCRIPT = Transcript(
    "session_1",
    STRETCH,
    "e-1",
    True,
    QUEUE,
    (CARD, replace(CARD, id="ap_2", is_question=True, options=(HOSTILE,))),
    OUTCOME,
)
MODEL = ModelFacts("Provider", HOSTILE, "openai", is_starter=False, ready=False, trouble=TROUBLE)
STARTER = StarterFacts(installed=False, running=False, fetch_size="98 MB", accuracy="4 of 6")
WELCOME = Welcome("Good morning.", MODEL, STARTER, (Example("Try", HOSTILE, is_command=True),))
FIELDS = tuple(
    ToolField(f"f_{control}", HOSTILE, HOSTILE, control, True, HOSTILE, (HOSTILE, "b"), "1", "0", "9", HOSTILE, HOSTILE)
    for control in Control
)
RESULT = ToolResultView(False, HOSTILE, "3 ms", (HOSTILE,), "{}")
DETAIL = ToolDetail(
    HOSTILE, HOSTILE, "File", "asks first", ("sends data out",), True, False, HOSTILE, FIELDS, HOSTILE, RESULT
)
TOOLS = ToolList((ToolGroup("File", (ToolRow("read_file", HOSTILE, enabled=False, is_current=True),)),), HOSTILE, 3)
KEY = KeyField("openai", "sk-•••1234", needed=True)
PROVIDER = ProviderCard(
    "openai", HOSTILE, ("voice",), False, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), KEY, STARTER, True
)
PROVIDERS = ProviderList((PROVIDER,), (replace(PROVIDER, id="groq", key=replace(KEY, provider_id="groq")),))
CHOICES = (Choice("system", HOSTILE, HOSTILE, chosen=True),)
BROKEN = BrokenFileLine(HOSTILE, "/elsewhere", HOSTILE, WHEN)

SAMPLES: list[View] = [
    SESSIONS,
    replace(SESSIONS, groups=(), next_before=""),
    ErrorPage(SHELL, HOSTILE, TROUBLE),
    USER,
    ANSWER,
    replace(ANSWER, html=Markup(""), has_footer=False),
    STEP,
    *(replace(STEP, state=state) for state in StepState),
    CARD,
    replace(CARD, is_question=True, options=(HOSTILE,)),
    NoticeLine("warning", HOSTILE),
    OUTCOME,
    replace(OUTCOME, code="", is_error=False),
    STRETCH,
    QUEUE,
    TRANSCRIPT,
    STARTER,
    replace(STARTER, installed=True),
    WELCOME,
    replace(WELCOME, starter=None),
    replace(WELCOME, starter=None, model=replace(MODEL, ready=True, trouble=None)),
    ChatPage(SHELL, "session_1", HOSTILE, MODEL, TRANSCRIPT, None),
    ChatPage(SHELL, "", HOSTILE, MODEL, None, WELCOME),
    RESULT,
    replace(RESULT, trouble=TROUBLE),
    DETAIL,
    TOOLS,
    replace(TOOLS, groups=()),
    ToolsPage(SHELL, TOOLS, DETAIL),
    ToolsPage(SHELL, TOOLS, None),
    KEY,
    replace(KEY, mask="", is_update=True),
    PROVIDER,
    PROVIDERS,
    SettingsPage(SHELL, PROVIDERS, CHOICES, CHOICES, HOSTILE, (BROKEN,)),
    Saved(),
    Saved(trouble=TROUBLE, key=KEY),
    ConnectionReport("openai", "It offers one model:", (HOSTILE,)),
    ConnectionReport("openai", "", (), TROUBLE),
]  # fmt: skip


def test_every_view_has_a_sample() -> None:
    modules = (views, tool_views, setting_views)
    classes = {
        cls for module in modules for _, cls in inspect.getmembers(module, inspect.isclass) if hasattr(cls, "template")
    }
    assert {type(sample) for sample in SAMPLES} == classes


def test_every_template_is_used() -> None:
    for sample in SAMPLES:
        render(sample)
    made = environment()
    assert made.loader is not None
    assert made.cache is not None
    used = {name for _, name in made.cache.keys()}  # noqa: SIM118 - jinja2's cache is no mapping
    assert used == set(made.loader.list_templates())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_what_comes_from_outside_is_shown_and_never_acts(sample: View) -> None:
    tree = HTMLParser(render(sample))
    for node in tree.css("*"):
        handlers = [name for name in node.attributes if name.startswith("on") or name == "style"]
        assert not handlers, node.html
        if node.tag == "script":
            assert node.attributes.get("src") or node.attributes.get("type") == "application/json", node.html
        assert node.tag != "style"


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLES if hasattr(sample, "shell")], ids=lambda sample: type(sample).__name__
)
def test_a_page_has_one_main_one_heading_one_navigation_and_named_controls(sample: View) -> None:
    tree = HTMLParser(render(sample))
    assert [len(tree.css(tag)) for tag in ("main", "h1", "nav")] == [1, 1, 1]
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    for button in tree.css("button"):
        assert button.text(strip=True) or button.attributes.get("aria-label"), button.html
    labelled = {label.attributes.get("for") for label in tree.css("label")}
    for control in tree.css("input, select, textarea"):
        hidden = control.attributes.get("type") == "hidden"
        inside = control.parent is not None and control.parent.tag == "label"
        assert hidden or inside or control.attributes.get("id") in labelled, control.html
