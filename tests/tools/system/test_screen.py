"""Pictures of a real screen: they show it, are small enough, have a revision, and say what is missing without one."""

import base64
import io
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from PIL import Image

from skales.core.errors import InputError, ToolError
from skales.core.json import JsonValue, as_object
from skales.core.tool import Effect, Picture, Safety, ToolResult
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call
from tests.tools.system.conftest import Form

pytestmark = [pytest.mark.anyio, pytest.mark.desktop]

LOOKS = {Effect.READS_PRIVATE, Effect.UNTRUSTED_OUTPUT}
ACTS = {Effect.WRITES, Effect.OUTBOUND, Effect.DESTRUCTIVE}


def opened(picture: Picture) -> Image.Image:
    with Image.open(io.BytesIO(base64.b64decode(picture.data_base64))) as found:
        return found.convert("RGB")


def facts(result: ToolResult) -> Mapping[str, JsonValue]:
    return as_object(result.data)


@pytest.mark.parametrize(
    ("name", "safety", "addon", "effects"),
    [
        ("screenshot_desktop", Safety.AUTO, "vision_screenshots", LOOKS),
        ("camera_snapshot", Safety.CONFIRM, "", LOOKS | {Effect.OUTBOUND}),
        ("computer_screenshot", Safety.AUTO, "computer_use", LOOKS),
        ("computer_find", Safety.AUTO, "computer_use", LOOKS),
        ("computer_read_field", Safety.AUTO, "computer_use", LOOKS),
        ("computer_click", Safety.CONFIRM, "computer_use", LOOKS | ACTS),
        ("computer_scroll", Safety.CONFIRM, "computer_use", ACTS),
        ("computer_type", Safety.CONFIRM, "computer_use", ACTS),
        ("computer_key", Safety.CONFIRM, "computer_use", ACTS),
        ("scan_network", Safety.CONFIRM, "network_scanner", LOOKS | {Effect.OUTBOUND}),
    ],
)
def test_what_the_tools_may_do_is_said(
    toolbox: BuiltinToolbox, name: str, safety: Safety, addon: str, effects: set[Effect]
) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.addon, set(spec.effects)) == ("system", safety, addon, effects)


async def test_picture_shows_the_screen_and_its_text(call: Call, form: Form) -> None:
    result = await call("screenshot_desktop")
    picture = opened(result.pictures[0])
    assert picture.size == (1280, 800)
    assert len(picture.getcolors(2_000_000) or []) > 2
    assert "Delete account" in result.text
    assert '<untrusted_content from="screen">' in result.text
    assert "Telegram" not in result.text


async def test_telegram_that_is_not_connected_gets_nothing_and_that_is_said(call: Call, form: Form) -> None:
    result = await call("screenshot_desktop", send_to_telegram=True)
    assert "It was not sent: Telegram is not connected." in result.text
    assert result.summary.endswith("not sent to Telegram")
    assert facts(result)["sent"] is False


async def test_picture_to_work_with_has_a_new_revision_each_time(call: Call, form: Form) -> None:
    first, second = await call("computer_screenshot"), await call("computer_screenshot")
    picture = opened(first.pictures[0])
    assert picture.size == (1024, 640)
    assert (facts(first)["width"], facts(first)["height"], facts(first)["scale"]) == (1024, 640, 1.25)
    assert facts(second)["revision"] == int(str(facts(first)["revision"])) + 1
    assert f"Revision {facts(first)['revision']}" in first.text
    assert "Form of the tests" in first.text


async def test_monitor_that_is_not_there_is_named(call: Call, screen: str) -> None:
    with pytest.raises(ToolError, match="There is no monitor 3") as caught:
        await call("computer_screenshot", monitor=3)
    assert caught.value.hint == "There are 1, counted from 1"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "DISPLAY is not set"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "runs on Wayland, where no program may see the screen"),
        ({"XDG_SESSION_TYPE": "wayland"}, "runs on Wayland"),
        ({"DISPLAY": ":4242"}, "':4242' cannot be opened"),
        ({"DISPLAY": "nonsense"}, "'nonsense' cannot be opened"),
    ],
)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("screenshot_desktop", {}),
        ("computer_screenshot", {}),
        ("computer_find", {"text": "Save"}),
        ("computer_click", {"text": "Save"}),
        ("computer_type", {"text": "hello"}),
        ("computer_key", {"key": "F5"}),
        ("computer_scroll", {"direction": "down"}),
        ("computer_read_field", {"label": "Name"}),
    ],
)
async def test_without_a_screen_it_is_said_what_is_missing(  # noqa: PLR0913 - a matrix
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, JsonValue],
    environment: Mapping[str, str],
    words: str,
) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(ToolError, match=words) as caught:
        await call(name, **arguments)
    assert caught.value.code == "no_display"
    assert caught.value.hint


@pytest.mark.parametrize(("module", "package"), [("mss", "mss"), ("Xlib", "python-xlib")])
async def test_package_that_is_not_installed_is_named_with_its_extra(
    call: Call, screen: str, monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ToolError, match=f"The Python package {package} is not installed") as caught:
        await call("computer_screenshot")
    assert (caught.value.code, caught.value.hint) == ("no_display", "Install it with: pip install 'skales[desktop]'")


async def test_tool_that_reads_says_when_the_reading_program_is_missing(
    call: Call, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match="needs the program tesseract") as caught:
        await call("computer_find", text="Save changes")
    assert caught.value.code == "no_text_reader"
    assert "Text that was read" not in (await call("screenshot_desktop")).text


async def test_nothing_is_left_in_the_workspace(call: Call, form: Form, workspace: Path) -> None:
    await call("screenshot_desktop")
    assert [entry async for entry in anyio.Path(workspace).iterdir()] == []


async def test_too_many_words_to_look_for_are_refused(call: Call, screen: str) -> None:
    for text in ("", "  ", "…", "x" * 10_000):
        with pytest.raises((InputError, ToolError), match="no text to look for"):
            await call("computer_find", text=text)
