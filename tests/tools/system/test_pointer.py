"""Clicks reach the real program where they should, and none is made on a screen that is not as the model saw it."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest

from skales.core.errors import InputError, ToolError
from skales.core.ids import SessionId
from skales.core.json import as_list, as_object
from skales.core.ports import CallScope
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call, Rules
from tests.tools.system.conftest import Form

pytestmark = [pytest.mark.anyio, pytest.mark.desktop]


async def place_of(call: Call, text: str) -> dict[str, int]:
    """Arguments that name the place of a text: x, y and revision."""
    found = as_object((await call("computer_find", text=text)).data)
    place = as_object(as_list(found["places"])[0])
    return {"x": cast(int, place["x"]), "y": cast(int, place["y"]), "revision": cast(int, found["revision"])}


async def test_button_is_clicked_by_its_text(call: Call, form: Form) -> None:
    result = await call("computer_click", text="Save changes")
    assert await form.wait_for("save")
    assert result.summary.startswith("Clicked at ")


async def test_button_is_clicked_by_a_point(call: Call, form: Form) -> None:
    await call("computer_click", **await place_of(call, "Save changes"))
    assert await form.wait_for("save")


@pytest.mark.parametrize(
    ("arguments", "event"), [({"clicks": 2}, "double"), ({"button": "right"}, "menu"), ({"button": "RIGHT"}, "menu")]
)
async def test_buttons_and_double_clicks_arrive(
    call: Call, form: Form, arguments: dict[str, int | str], event: str
) -> None:
    await call("computer_click", **await place_of(call, "Line 2"), **arguments)
    assert await form.wait_for(event)


async def test_changed_button_is_not_clicked_by_an_old_picture(call: Call, form: Form) -> None:
    place = await place_of(call, "Save changes")
    await call("computer_click", text="Swap")
    await form.wait_for("swapped")
    with pytest.raises(ToolError, match=f"has changed around .* since revision {place['revision']}") as caught:
        await call("computer_click", **place)
    assert (caught.value.code, caught.value.hint) == ("stale_revision", "Take a new one with computer_screenshot")
    assert form.notes("save") == []


async def test_change_elsewhere_does_not_make_a_picture_old(call: Call, form: Form) -> None:
    place = await place_of(call, "Save changes")
    await call("computer_type", text="far away")
    await form.wait_for("name", lambda note: note["text"] == "far away")
    await call("computer_click", **place)
    assert (await form.wait_for("save"))["text"] == "far away"


async def test_window_in_front_of_the_target_makes_the_picture_old(
    call: Call, form: Form, open_form: Callable[..., Form]
) -> None:
    place = await place_of(call, "Save changes")
    other = open_form("Another")
    await other.wait_for("ready")
    form.process.terminate()
    form.process.wait(timeout=5)
    await call("computer_click", **place)
    assert form.notes("save") == []
    assert await other.wait_for("save")


@pytest.mark.parametrize("revision", [0, -1, 5, 10**18])
async def test_unknown_revision_is_old(call: Call, screen: str, revision: int) -> None:
    with pytest.raises(ToolError, match="There is no picture with revision") as caught:
        await call("computer_click", x=5, y=5, revision=revision)
    assert caught.value.code == "stale_revision"


async def test_picture_of_another_conversation_is_none_of_ours(
    call: Call, form: Form, toolbox: BuiltinToolbox, scope: CallScope
) -> None:
    place = await place_of(call, "Save changes")
    spec = toolbox.find("computer_click")
    assert spec is not None
    with pytest.raises(ToolError, match="There is no picture with revision"):
        await toolbox.run(spec, dict(place), replace(scope, session_id=SessionId("session_2")))
    assert form.notes("save") == []


async def test_pictures_are_forgotten_after_a_while(call: Call, form: Form) -> None:
    first = as_object((await call("computer_screenshot")).data)["revision"]
    for _ in range(16):
        await call("computer_screenshot")
    with pytest.raises(ToolError, match=f"There is no picture with revision {first} any more"):
        await call("computer_click", x=5, y=5, revision=first)


async def test_several_places_are_named_instead_of_guessing(call: Call, form: Form) -> None:
    result = await call("computer_click", text="Line")
    assert result.is_error
    assert result.text.startswith("Nothing was clicked: it is not certain which of these is meant.")
    places = as_list(as_object(result.data)["places"])
    assert len(places) > 1
    assert result.text.count("x=") == len(places)


async def test_text_that_only_resembles_is_not_clicked(call: Call, form: Form) -> None:
    result = await call("computer_click", text="Save change")
    assert result.is_error
    assert form.notes("save") == []


@pytest.mark.parametrize("is_point", [False, True])
async def test_click_on_delete_asks_the_person(call: Call, form: Form, rules: Rules, is_point: bool) -> None:
    arguments = await place_of(call, "Delete account") if is_point else {"text": "Delete account"}
    rules.answers.append("Do not click")
    with pytest.raises(ToolError, match="The person did not agree to click on 'Delete'") as caught:
        await call("computer_click", **arguments)
    assert caught.value.code == "not_agreed"
    assert form.notes("deleted") == []
    rules.answers.append("Click it")
    await call("computer_click", **arguments)
    assert await form.wait_for("deleted")
    assert [question.options for question in rules.questions] == [("Click it", "Do not click")] * 2


async def test_wheel_turns_over_the_place(call: Call, form: Form) -> None:
    await call("computer_scroll", direction="down", amount=5, **await place_of(call, "Line 2"))
    await form.wait_for("scrolled", lambda _note: len(form.notes("scrolled")) == 5 and top(form) > 10)
    before = top(form)
    await call("computer_scroll", direction="up", amount=2)
    await form.wait_for("scrolled", lambda _note: len(form.notes("scrolled")) == 7)
    assert top(form) < before


def top(form: Form) -> int:
    """The first line in sight after the last turn of the wheel."""
    return cast(int, form.notes("scrolled")[-1]["top"])


@pytest.mark.parametrize("arguments", [{"x": 5}, {"x": 5, "y": 5}, {"revision": 5}, {"y": 5, "revision": 5}])
async def test_half_a_place_is_refused(call: Call, screen: str, arguments: dict[str, int]) -> None:
    with pytest.raises((InputError, ToolError), match="No place is named"):
        await call("computer_click", **arguments)
    with pytest.raises((InputError, ToolError), match="No place is named"):
        await call("computer_scroll", direction="down", **arguments)
