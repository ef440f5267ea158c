"""Finds the field around a point of a picture: the area of one colour that ends at its borders. Reads no text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skales.tools.system.reading import Box

if TYPE_CHECKING:
    from PIL.Image import Image

# How far from the point its borders are looked for, in pixels.
_REACH_ACROSS = 700
_REACH_ALONG = 220
_LEAST_HEIGHT = 10
_LEAST_WIDTH = 16
# Letters make holes in a field; what is less full is what lies around other things.
_LEAST_FILLED = 0.5
_COLOUR_STEP = 10
_NEAR = 6
_INSIDE = 128
# Where the field of a label may begin, in pixels to its right, and below it.
_RIGHT_OF_LABEL = (12, 30, 60, 110, 180)
_BELOW_LABEL = (14, 26, 40)


def field_at(image: "Image", x: int, y: int) -> Box | None:
    """The field with a pixel in it; None when no borders are near."""
    left, top = max(0, x - _REACH_ACROSS), max(0, y - _REACH_ALONG)
    part = image.crop((left, top, min(image.width, x + _REACH_ACROSS), min(image.height, y + _REACH_ALONG)))
    found = _filled_area(part, x - left, y - top)
    return None if found is None else Box(found.left + left, found.top + top, found.right + left, found.bottom + top)


def field_of_label(image: "Image", label: Box) -> Box | None:
    """The field that a label names: to its right, else below it."""
    for x, y in _places(label):
        if x < image.width and y < image.height:
            found = field_at(image, x, y)
            if found is not None and not _holds(found, label):
                return found
    return None


def _places(label: Box) -> Iterator[tuple[int, int]]:
    middle = (label.top + label.bottom) // 2
    for distance in _RIGHT_OF_LABEL:
        yield label.right + distance, middle
    for distance in _BELOW_LABEL:
        yield label.left + 8, label.bottom + distance


def _holds(outer: Box, inner: Box) -> bool:
    x, y = inner.centre
    return outer.left <= x <= outer.right and outer.top <= y <= outer.bottom


def _filled_area(part: "Image", x: int, y: int) -> Box | None:
    from PIL import ImageDraw

    flat = part.convert("RGB")
    colour, (start_x, start_y) = _background(flat, x, y)
    mask = _unlike(flat, colour)
    if mask.getpixel((start_x, start_y)) != 0:
        return None
    ImageDraw.floodfill(mask, (start_x, start_y), _INSIDE)
    inside = mask.point([255 if value == _INSIDE else 0 for value in range(256)])
    bounds = inside.getbbox()
    if bounds is None or bounds[0] == 0 or bounds[1] == 0 or bounds[2] == part.width or bounds[3] == part.height:
        return None
    box = Box(*bounds)
    width, height = box.right - box.left, box.bottom - box.top
    filled = inside.crop(bounds).histogram()[255] / (width * height)
    return box if width >= _LEAST_WIDTH and height >= _LEAST_HEIGHT and filled >= _LEAST_FILLED else None


def _background(flat: "Image", x: int, y: int) -> tuple[tuple[int, int, int], tuple[int, int]]:
    """The most frequent colour near a pixel, and the place of one that has it: the pixel itself may be a letter's."""
    counts: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for near_y in range(max(0, y - _NEAR), min(flat.height, y + _NEAR + 1)):
        for near_x in range(max(0, x - _NEAR), min(flat.width, x + _NEAR + 1)):
            colour = flat.getpixel((near_x, near_y))
            assert isinstance(colour, tuple)
            counts.setdefault((int(colour[0]), int(colour[1]), int(colour[2])), []).append((near_x, near_y))
    colour, places = max(counts.items(), key=lambda item: len(item[1]))
    return colour, min(places, key=lambda place: abs(place[0] - x) + abs(place[1] - y))


def _unlike(flat: "Image", colour: tuple[int, int, int]) -> "Image":
    """0 where the image has about the colour, 255 elsewhere."""
    from PIL import Image, ImageChops

    red, green, blue = ImageChops.difference(flat, Image.new("RGB", flat.size, colour)).split()
    widest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return widest.point([0 if value <= _COLOUR_STEP else 255 for value in range(256)])
