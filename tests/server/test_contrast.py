"""Contrast by computation: every pair of text and ground in use, in both themes and all accents. Spec: WCAG 2.2, 1.4.3
and 1.4.11."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import skales.server
from skales.server.ui.frame import ACCENTS

CSS = Path(skales.server.__file__).parent / "static" / "css"
TOKENS = (CSS / "tokens.css").read_text(encoding="utf-8")

TEXT = 4.5
SHAPE = 3.0

GROUNDS = ("paper", "surface", "sunken")
# Text, and what it stands on somewhere.
TEXT_PAIRS = (
    *((ink, ground) for ink in ("ink-1", "ink-2", "ink-3") for ground in (*GROUNDS, "hover", "code-ground")),
    *((ink, ground) for ink in ("ink-1", "ink-2") for ground in ("pressed", "accent-soft")),
    *((ink, ground) for ink in ("ink-1", "ink-2") for ground in ("good-soft", "warn-soft", "danger-soft")),
    *((link, ground) for link in ("accent", "accent-strong") for ground in (*GROUNDS, "accent-soft", "warn-soft")),
    *((tone, ground) for tone in ("good", "warn", "danger") for ground in (*GROUNDS, f"{tone}-soft")),
    ("danger", "hover"),
    ("ink-1", "mark"),
    ("ink-1", "accent-line"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("on-danger", "danger"),
    ("on-danger", "danger-strong"),
    ("paper", "ink-1"),
    *((f"code-{part}", "code-ground") for part in ("keyword", "string", "number", "name", "quiet")),
)
# Borders of fields, focus rings, pictures that say something.
SHAPE_PAIRS = (
    *((line, ground) for line in ("line-strong", "accent", "danger") for ground in GROUNDS),
    *(("accent", ground) for ground in ("hover", "pressed", "code-ground", "good-soft", "danger-soft")),
)

Colour = tuple[float, float, float]


def declarations(selector: str) -> dict[str, str]:
    """The custom properties that a selector sets outside of media queries."""
    found = re.search(rf"^{re.escape(selector)} \{{(.*?)^\}}", TOKENS, re.MULTILINE | re.DOTALL)
    assert found, selector
    return {name: " ".join(value.split()) for name, value in re.findall(r"--([\w-]+):\s*([^;]+);", found[1])}


def resolve(values: Mapping[str, str], name: str, theme: str) -> Colour:
    """A token's colour in a theme: follows `var()`, takes its side of `light-dark()`."""
    value = values[name]
    if sides := re.fullmatch(r"light-dark\((#\w{6}), (#\w{6})\)", value):
        value = sides[1 if theme == "light" else 2]
    if other := re.fullmatch(r"var\(--([\w-]+)\)", value):
        return resolve(values, other[1], theme)
    assert re.fullmatch(r"#[0-9a-fA-F]{6}", value), f"{name}: {value}"
    red, green, blue = (int(value[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: Colour) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def palette(accent: str) -> dict[str, str]:
    values = declarations(":root")
    return values if accent == ACCENTS[0] else {**values, **declarations(f'[data-accent="{accent}"]')}


def test_the_measure_itself_is_right() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)
    assert contrast((119 / 255,) * 3, (1, 1, 1)) == pytest.approx(4.48, abs=0.01)  # #777, just too light


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("accent", ACCENTS)
@pytest.mark.parametrize(("pairs", "least"), [(TEXT_PAIRS, TEXT), (SHAPE_PAIRS, SHAPE)], ids=["text", "shapes"])
def test_everything_stands_out_enough_to_be_seen(
    theme: str, accent: str, pairs: tuple[tuple[str, str], ...], least: float
) -> None:
    values = palette(accent)
    weak = {
        f"{front} on {ground}": round(found, 2)
        for front, ground in pairs
        if (found := contrast(resolve(values, front, theme), resolve(values, ground, theme))) < least
    }
    assert weak == {}


def test_every_accent_sets_the_same_tokens_and_there_is_no_other() -> None:
    own = {name for name in declarations(":root") if "accent" in name}
    named = set(re.findall(r'\[data-accent="([\w-]+)"\]', TOKENS))
    assert named == set(ACCENTS[1:])
    for accent in named:
        assert set(declarations(f'[data-accent="{accent}"]')) == own


def test_no_other_sheet_has_colours_or_shadows_of_its_own() -> None:
    # Black and its transparency only ever shade what a token gave.
    colour = re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch|lab|lch)\((?!0 0 0 /)")
    strays = {
        sheet.name: found
        for sheet in sorted(CSS.glob("*.css"))
        if sheet.name != "tokens.css"
        and (found := [part for part in colour.findall(sheet.read_text(encoding="utf-8")) if part != "#000"])
    }
    assert strays == {}


def test_every_token_that_a_sheet_uses_is_defined() -> None:
    defined = set(re.findall(r"(--[\w-]+):", "".join(sheet.read_text(encoding="utf-8") for sheet in CSS.glob("*.css"))))
    used = {
        (sheet.name, name)
        for sheet in CSS.glob("*.css")
        for name in re.findall(r"var\((--[\w-]+)\)", sheet.read_text(encoding="utf-8"))
    }
    assert {(sheet, name) for sheet, name in used if name not in defined} == set()
