"""create_presentation: read back with the program's own reader and with the format's library."""

from pathlib import Path

import pptx
import pytest
from PIL import Image

from skales.core.errors import ToolError
from skales.core.json import JsonValue
from tests.tools.conftest import Call


def slide(**parts: JsonValue) -> list[JsonValue]:
    return [{"title": "Plan", **parts}]


@pytest.mark.anyio
async def test_slides_hold_titles_points_notes_and_pictures(call: Call, workspace: Path) -> None:
    Image.new("RGB", (400, 100), "red").save(workspace / "map.png")
    slides = [
        *slide(bullets=["Dig", "  before May", "- Sow"], notes="Show the map.", picture="map.png"),
        {"title": "Picture only", "picture": "map.png"},
    ]
    result = await call("create_presentation", slides=slides, title="Our garden")
    assert result.files == (str(workspace / "Our garden.pptx"),)
    assert "3 slides" in result.summary
    show = pptx.Presentation(str(workspace / "Our garden.pptx"))
    assert [page.shapes.title.text for page in show.slides] == ["Our garden", "Plan", "Picture only"]
    body = show.slides[1].placeholders[1].text_frame
    assert [(point.level, point.text) for point in body.paragraphs] == [(0, "Dig"), (1, "before May"), (0, "Sow")]
    for page in show.slides:
        for shape in page.shapes:
            assert 0 <= shape.left <= shape.left + shape.width <= show.slide_width
            assert 0 <= shape.top <= shape.top + shape.height <= show.slide_height
    text = (await call("read_file", path="Our garden.pptx")).text
    assert "--- slide 2 of 3 ---\nPlan\nDig\nbefore May\nSow\nNotes:\nShow the map." in text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("slides", "words"),
    [
        (slide(colour="red"), "has 'colour'"),
        (slide(bullets="one"), "no list"),
        (slide(bullets=[1]), "no short text"),
        (slide(picture="missing.png"), "does not exist"),
        (slide(picture="../secret.png"), "outside"),
        (slide(picture="text.png"), "is no picture"),
        (slide(picture="broken.png"), "cannot be used"),
        (slide(notes="x" * 20_001), "no text of at most"),
    ],
)
async def test_what_cannot_be_shown_is_explained(
    call: Call, workspace: Path, slides: list[JsonValue], words: str
) -> None:
    (workspace / "text.png").write_bytes(b"text")
    (workspace / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    Image.new("RGB", (4, 4)).save(workspace.parent / "secret.png")
    with pytest.raises(ToolError) as caught:
        await call("create_presentation", slides=slides, filename="a.pptx")
    assert words in caught.value.message
    assert not (workspace / "a.pptx").exists()
