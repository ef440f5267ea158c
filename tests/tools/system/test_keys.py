"""Combinations are read as people write them; those that end sessions or lock screens are refused."""

import pytest

from skales.core.errors import InputError, ToolRefusedError
from skales.tools.system.keys import Combination, parse_combination


@pytest.mark.parametrize(
    ("text", "modifiers", "key"),
    [
        ("Ctrl+Shift+T", ("ctrl", "shift"), "t"),
        ("shift+CTRL+t", ("ctrl", "shift"), "t"),
        ("control-c", ("ctrl",), "c"),
        ("Cmd+Option+I", ("alt", "super"), "i"),
        ("⌘⇧P", ("shift", "super"), "p"),
        ("Strg+Entf", ("ctrl",), "delete"),
        ("Ctrl + Alt + T", ("ctrl", "alt"), "t"),
        ("Ctrl++", ("ctrl",), "+"),
        ("Ctrl+-", ("ctrl",), "-"),
        ("Ctrl--", ("ctrl",), "-"),
        ("+", (), "+"),
        ("-", (), "-"),
        ("Enter", (), "enter"),
        ("page down", (), "page_down"),
        ("PgUp", (), "page_up"),
        ("Arrow Left", (), "left"),
        ("Bild ab", (), "page_down"),
        ("F12", (), "f12"),
        ("T", (), "t"),
        ("ü", (), "ü"),
        ("Alt+Tab", ("alt",), "tab"),
        ("Super", ("super",), ""),
        ("Ctrl+Ctrl+A", ("ctrl",), "a"),
    ],
)
def test_combination_is_understood(text: str, modifiers: tuple[str, ...], key: str) -> None:
    assert parse_combination(text) == Combination(modifiers, key)


@pytest.mark.parametrize("text", ["", "  ", "Ctrl+A+B", "Foo", "Ctrl+Foo", "F25", "x" * 10_000, "Ctrl+\x00", "\x1b"])
def test_what_is_no_combination_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_combination(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ctrl+Alt+Del", "ctrl-alt-delete", "Ctrl+Alt+Shift+Delete", "Strg+Alt+Entf", "Alt+Ctrl+Backspace",
        "Alt+SysRq", "Alt+Print", "Alt+PrtSc", "SysRq", "Ctrl+Alt+F1", "Ctrl+Alt+F12", "Win+L", "Super+L",
        "Cmd+Ctrl+Q", "Cmd+Shift+Q", "Ctrl+Alt+L",
    ],
)  # fmt: skip
def test_combination_that_reaches_past_the_programs_is_refused(text: str) -> None:
    with pytest.raises(ToolRefusedError, match="is never pressed") as caught:
        parse_combination(text)
    assert caught.value.code == "key_refused"


def test_combination_is_shown_as_people_write_it() -> None:
    assert str(parse_combination("shift+ctrl+page down")) == "Ctrl+Shift+PageDown"
