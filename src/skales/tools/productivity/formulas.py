"""Which formulas a made spreadsheet may hold: those that reckon with its own cells.

What starts a program, opens another file or asks the net when somebody opens the table is refused, since the words of a
table may come from a stranger.
"""

import re

from skales.core.errors import InputError

_STRINGS = re.compile(r'"(?:[^"]|"")*"')
_QUOTED_SHEET = re.compile(r"'(?:[^']|'')*'")
# [Book.xlsx]Sheet!A1 and [1]Sheet!A1; Table[Column] is no such thing.
_OTHER_BOOK = re.compile(r"\[[^\[\]]*\][^\[\]!,;()+*/&=<>-]*!")
_ADDRESS = re.compile(r"(?:https?|ftp|file):|\\\\", re.IGNORECASE)
_REACHING = re.compile(
    r"(?:_xlfn\.|_xlws\.|_xludf\.)*\b(WEBSERVICE|FILTERXML|HYPERLINK|RTD|DDE|CALL|REGISTER(?:\.ID)?|EXEC|IMAGE|STOCKHISTORY|ENCODEURL|"
    r"IMPORT(?:XML|DATA|RANGE|HTML|FEED)|SQL\.REQUEST|CUBE[A-Z]+|INFO|EVALUATE|GET\.[A-Z]+|FOPEN|FWRITE[A-Z]*|RUN|COPILOT|PY)\s*\(",
    re.IGNORECASE,
)
# A list item may begin with a sign and hold a bar; the full form of such a call has a mark at its end, too.
_PROGRAM = re.compile(r"\w\s*\|.*!")
_LONGEST = 8_192


def is_formula(text: str) -> bool:
    """Whether a spreadsheet program would reckon with it."""
    return text.startswith("=") and len(text) > 1


def require_harmless(text: str, place: str) -> None:
    """Raise InputError for a formula, or a text that a program would take for one, which reaches out of the table.

    Args:
        text: A cell.
        place: The cell for the message, such as `B3 of Costs`.
    """
    if text[:1] not in set("=+-@\t"):
        return
    bare = _STRINGS.sub('""', text)
    starts_program = "|" in bare if text.startswith("=") else _PROGRAM.search(bare) is not None
    found = _REACHING.search(bare)
    reason = ""
    if starts_program:
        reason = "it would start another program"
    elif found:
        reason = f"{found[1].upper()} reaches outside the table"
    elif _OTHER_BOOK.search(bare) or any("[" in name or _ADDRESS.search(name) for name in _QUOTED_SHEET.findall(bare)):
        reason = "it refers to another file"
    elif len(text) > _LONGEST:
        reason = "it is too long"
    if reason:
        raise InputError(
            f"The formula in {place} is not written: {reason}", hint="Write the value itself instead of this formula"
        )
