"""Texts and fields are found on a real screen, and what is read is what stands there."""

import os
from pathlib import Path

import pytest

from skales.core.errors import InputError, ToolError
from skales.core.json import as_list, as_object, as_text
from tests.tools.conftest import Call
from tests.tools.system.conftest import Form

pytestmark = [pytest.mark.anyio, pytest.mark.desktop]


@pytest.mark.parametrize("wanted", ["Save changes", "save changes", " SAVE  Changes! ", "Delete account"])
async def test_control_is_found_by_the_text_on_it(call: Call, form: Form, wanted: str) -> None:
    found = as_object((await call("computer_find", text=wanted)).data)
    (place,) = [as_object(place) for place in as_list(found["places"])]
    assert place["likeness"] == 1
    # Where the window puts it, at 0.8 points for a pixel.
    across = 230 if "ave" in wanted.lower() else 520
    assert across - 60 < int(str(place["x"])) < across + 60
    assert 150 < int(str(place["y"])) < 190


async def test_text_that_is_only_similar_is_said_to_be(call: Call, form: Form) -> None:
    result = await call("computer_find", text="Save change")
    assert "(similar)" in result.text


async def test_text_that_is_not_there_is_an_error(call: Call, form: Form) -> None:
    with pytest.raises(ToolError, match="'Frobnicate' cannot be read anywhere") as caught:
        await call("computer_find", text="Frobnicate")
    assert caught.value.code == "not_found"


async def test_field_is_read_by_its_label(call: Call, form: Form) -> None:
    result = await call("computer_read_field", label="City")
    assert as_object(result.data)["text"] == "Graz"
    assert '<untrusted_content from="screen">' in result.text
    empty = await call("computer_read_field", label="Name")
    assert (as_object(empty.data)["text"], empty.summary) == ("", "The field shows no text")


async def test_field_is_read_by_a_point_in_it(call: Call, form: Form) -> None:
    label = as_object((await call("computer_find", text="City")).data)
    place = as_object(as_list(label["places"])[0])
    x, y = int(str(place["x"])) + 200, int(str(place["y"]))
    result = await call("computer_read_field", x=x, y=y, revision=label["revision"])
    assert as_object(result.data)["text"] == "Graz"


async def test_where_no_field_has_borders_the_line_is_read(call: Call, form: Form) -> None:
    shown = as_object((await call("computer_find", text="Swap")).data)
    place = as_object(as_list(shown["places"])[0])
    x, y = int(str(place["x"])) + 230, int(str(place["y"]))
    result = await call("computer_read_field", x=x, y=y, revision=shown["revision"])
    assert "Delete account" in as_text(as_object(result.data)["text"])


SEEN = (
    "5\t1\t1\t1\t1\t1\t20\t20\t40\t12\t91\tSommer\n"
    "5\t1\t1\t1\t1\t2\t70\t20\t40\t12\t5\t|\n"
    "5\t1\t1\t1\t1\t3\t80\t20\t40\t12\t12\tGriiBe\n"
)


@pytest.mark.parametrize(
    ("table", "text", "summary"),
    [
        (SEEN, "Sommer", "Read a field on the screen, 1 word not legible"),
        (SEEN * 2, "Sommer Sommer", "Read a field on the screen, 2 words not legible"),
        (SEEN.splitlines()[2], "", "The field shows no text that can be read, 1 word not legible"),
        (SEEN.splitlines()[1], "", "The field shows no text"),
    ],
)
async def test_a_word_that_is_not_legible_is_said_to_be(  # noqa: PLR0913 - fixtures and a row of the table
    call: Call, form: Form, workspace: Path, monkeypatch: pytest.MonkeyPatch, table: str, text: str, summary: str
) -> None:
    shown = as_object((await call("computer_find", text="City")).data)
    place = as_object(as_list(shown["places"])[0])
    x, y = int(str(place["x"])) + 200, int(str(place["y"]))
    reader = workspace / "bin" / "tesseract"
    reader.parent.mkdir()
    (reader.parent / "table").write_text(table, encoding="utf-8")
    reader.write_text(f"#!/bin/sh\ncat {reader.parent / 'table'}\n", encoding="utf-8")
    reader.chmod(0o755)
    monkeypatch.setenv("PATH", str(reader.parent), prepend=os.pathsep)
    result = await call("computer_read_field", x=x, y=y, revision=shown["revision"])
    number = summary.count("legible") * (2 if "words" in summary else 1)
    assert (result.summary, as_object(result.data)) == (summary, {"text": text, "illegible": number})
    assert ("not legible; it is left out" in result.text) == bool(number)


@pytest.mark.parametrize(
    "arguments", [{}, {"x": 5}, {"x": 5, "y": 5}, {"y": 5, "revision": 1}, {"revision": 1}, {"label": "  "}]
)
async def test_half_a_place_is_none(call: Call, screen: str, arguments: dict[str, int]) -> None:
    with pytest.raises(ToolError, match="No place is named"):
        await call("computer_read_field", **arguments)


async def test_point_beside_the_picture_is_refused(call: Call, form: Form) -> None:
    revision = as_object((await call("computer_screenshot")).data)["revision"]
    with pytest.raises((InputError, ToolError), match="is not in the picture"):
        await call("computer_read_field", x=1024, y=10, revision=revision)
