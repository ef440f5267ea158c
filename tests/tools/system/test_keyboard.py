"""What is typed and pressed arrives in a real program, letter by letter; secrets are never typed."""

import os
from collections.abc import Callable

import anyio
import pytest

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.json import as_object
from skales.core.ports import CallScope
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call
from tests.tools.system.conftest import Form, start_screen

pytestmark = [pytest.mark.anyio, pytest.mark.desktop]

KEY = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1"


@pytest.mark.parametrize(
    "text",
    [
        "hello world",
        "Hello, World! {[(<~@#$%^&*|\\`'\"_-+=?/:;>)]}",
        "Grüße aus Österreich, 5 €",
        "Привет, 世界 ñ ç ø",
        "a" * 100,
        "aAaA1!1!",
        pytest.param("".join(map(chr, range(0x4E00, 0x4E30))), id="more characters than free keys"),
    ],
)
async def test_text_arrives_as_it_is(call: Call, form: Form, text: str) -> None:
    result = await call("computer_type", text=text)
    assert await form.wait_for("name", lambda note: note["text"] == text)
    assert result.summary == f"Typed {len(text)} characters"
    assert "Only the window's title was checked" in result.text


async def test_what_was_typed_can_be_read_back(call: Call, form: Form) -> None:
    await call("computer_type", text="Ada Lovelace")
    await form.wait_for("name", lambda note: note["text"] == "Ada Lovelace")
    assert as_object((await call("computer_read_field", label="Name")).data)["text"] == "Ada Lovelace"


async def test_caps_lock_does_not_change_what_is_typed(call: Call, form: Form) -> None:
    await call("computer_key", key="CapsLock")
    try:
        await call("computer_type", text="Hello 1!")
        assert await form.wait_for("name", lambda note: note["text"] == "Hello 1!")
    finally:
        await call("computer_key", key="CapsLock")


@pytest.mark.parametrize(
    ("written", "arrives"),
    [
        ("Ctrl+Shift+T", "Control-Shift-T"),
        ("strg + umschalt + t", "Control-Shift-T"),
        ("Ctrl++", "Control-plus"),
        ("Alt-F3", "Alt-F3"),
        ("F5", "F5"),
        ("Page Down", "Next"),
    ],
)
async def test_combination_arrives_and_nothing_stays_pressed(
    call: Call, form: Form, written: str, arrives: str
) -> None:
    await call("computer_key", key=written)
    assert await form.wait_for("key", lambda note: note["name"] == arrives)
    await form.wait_for("key", lambda _note: len(form.notes("up")) == len(form.notes("down")))
    assert held_keys() == []


async def test_key_is_pressed_as_often_as_wanted(call: Call, form: Form) -> None:
    await call("computer_type", text="abcdef")
    await call("computer_key", key="Backspace", times=4)
    assert await form.wait_for("name", lambda note: note["text"] == "ab")


async def test_tab_and_enter_in_a_text_are_keys(call: Call, form: Form) -> None:
    await call("computer_type", text="one\r\ntwo\tthree")
    assert await form.wait_for("name", lambda note: note["text"] == "onetwo")


@pytest.mark.parametrize(
    "text", [KEY, f"the key is {KEY}", "password: hunter2hunter2", "https://ada:s3cretpass@example.org/"]
)
async def test_secret_is_never_typed(call: Call, form: Form, text: str) -> None:
    with pytest.raises(ToolRefusedError, match="looks like a password or key") as caught:
        await call("computer_type", text=text)
    assert caught.value.code == "secret_refused"
    assert text not in str(caught.value)
    assert form.notes("name") == []


@pytest.mark.parametrize("title", ["Enter password", "Passphrase needed", "Anmeldung: Passwort", "SIM PIN"])
async def test_window_that_asks_for_a_password_gets_nothing(
    call: Call, open_form: Callable[[str], Form], title: str
) -> None:
    form = open_form(title)
    await form.wait_for("ready")
    with pytest.raises(ToolRefusedError, match="seems to ask for a password") as caught:
        await call("computer_type", text="hello")
    assert caught.value.code == "password_window"
    with pytest.raises(ToolRefusedError, match="seems to ask for a password"):
        await call("computer_key", key="a")
    await call("computer_key", key="F5")
    await form.wait_for("key")
    assert form.notes("name") == []


@pytest.mark.parametrize("text", ["", "x" * 10_001, "a\x1bb", "a\x00b", "half \ud800"])
async def test_what_cannot_be_typed_is_refused(call: Call, form: Form, text: str) -> None:
    with pytest.raises(ToolError):
        await call("computer_type", text=text)
    assert form.notes("name") == []


async def test_typing_stops_when_another_window_comes_to_the_front(
    form: Form, toolbox: BuiltinToolbox, scope: CallScope, open_form: Callable[[str], Form]
) -> None:
    other: list[Form] = []

    def report(_progress: Progress) -> None:
        if not other:
            other.append(open_form("Another"))

    spec = toolbox.find("computer_type")
    assert spec is not None
    told = CallScope(scope.session_id, scope.call_id, scope.ask, report)
    with pytest.raises(ToolError, match="Another window came to the front after") as caught:
        await toolbox.run(spec, {"text": "b c " * 1000}, told)
    assert caught.value.code == "focus_lost"


async def test_cancelled_typing_stops_and_holds_no_key(form: Form, toolbox: BuiltinToolbox, scope: CallScope) -> None:
    spec = toolbox.find("computer_type")
    assert spec is not None
    with anyio.CancelScope() as cancelled:
        told = CallScope(scope.session_id, scope.call_id, scope.ask, lambda _progress: cancelled.cancel())
        await toolbox.run(spec, {"text": "B c " * 1000}, told)
    assert cancelled.cancelled_caught
    assert held_keys() == []
    typed = max((len(str(note["text"])) for note in form.notes("name")), default=0)
    assert typed <= 40


async def test_screen_that_goes_away_while_typing_is_an_error(
    toolbox: BuiltinToolbox, scope: CallScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, name = start_screen()
    monkeypatch.setenv("DISPLAY", name)
    spec = toolbox.find("computer_type")
    assert spec is not None
    told = CallScope(scope.session_id, scope.call_id, scope.ask, lambda _progress: process.kill())
    with pytest.raises(ToolError, match="The screen went away") as caught:
        await toolbox.run(spec, {"text": "b c " * 1000}, told)
    assert caught.value.code == "no_display"
    process.wait(timeout=5)


async def test_lent_keys_are_given_back(call: Call, form: Form) -> None:
    before = keyboard()
    await call("computer_type", text="世界")
    await form.wait_for("name", lambda note: note["text"] == "世界")
    assert keyboard() == before


def held_keys() -> list[int]:
    from Xlib.display import Display

    display = Display(os.environ["DISPLAY"])
    held = [number for number, byte in enumerate(display.query_keymap()) if byte]
    display.close()
    return held


def keyboard() -> list[list[int]]:
    from Xlib.display import Display

    display = Display(os.environ["DISPLAY"])
    mapping = [list(keysyms) for keysyms in display.get_keyboard_mapping(8, 248)]
    display.close()
    return mapping
