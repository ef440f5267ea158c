"""Reads the text in a picture of the screen with the program tesseract, and finds words in it."""

import csv
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.tools.context import ToolContext
from skales.tools.file.wording import count_of
from skales.tools.system.confined import run_confined

if TYPE_CHECKING:
    from PIL.Image import Image

# Letters of a screen are about half as high as those the program was made for.
_ENLARGED = 2
_MOST_PIXELS = 24_000_000
_MARGIN = 12
_LIMIT_S = 60
_LEAST_CONFIDENCE = 25
_LEAST_LIKENESS = 0.8
_MOST_FOUND = 10
# The program's names of languages, by the two letters of the system's setting.
_LANGUAGES: Mapping[str, str] = {
    "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por", "nl": "nld", "pl": "pol", "sv": "swe",
    "da": "dan", "nb": "nor", "fi": "fin", "cs": "ces", "tr": "tur", "uk": "ukr", "ru": "rus", "el": "ell",
    "ja": "jpn", "ko": "kor", "zh": "chi_sim",
}  # fmt: skip
_NO_SOUND = re.compile(r"[\W_]+")


class Box(Struct, frozen=True):
    """A rectangle in pixels of the image."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def centre(self) -> tuple[float, float]:
        """Its middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def around(self, other: "Box") -> "Box":
        """The smallest rectangle with both in it."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


class Word(Struct, frozen=True):
    """A word as read. `line` is the same for the words of one line; what is not `is_sure` may be another word."""

    text: str
    box: Box
    line: tuple[int, ...]
    is_sure: bool = True


class Found(Struct, frozen=True):
    """A place where a text was read. `likeness` is 1 when it is the same but for case and marks."""

    text: str
    box: Box
    likeness: float


def can_read() -> bool:
    """Whether the program is installed."""
    return shutil.which("tesseract") is not None


async def read_words(ctx: ToolContext, image: "Image", *, is_sparse: bool = True) -> Sequence[Word]:
    """The words in an image, in reading order, those it is not sure of too.

    `is_sparse` is for text scattered over a screen, else it is one block of it.
    Raises ToolError(code="no_text_reader") when the program is missing.
    """
    program = shutil.which("tesseract")
    if program is None:
        raise ToolError(
            "Reading text on the screen needs the program tesseract, which is not installed",
            hint="Install the package tesseract-ocr (Linux), or tesseract with Homebrew or winget",
            code="no_text_reader",
        )
    ctx.scope.report(Progress("Reading the screen", 0, 0, "steps"))
    # In the workspace, since a confined program sees no other folder for sure.
    folder = Path(await to_thread.run_sync(_make_folder, ctx.paths.workspace))
    try:
        scale = await to_thread.run_sync(_write_enlarged, image, folder / "screen.png")
        languages = await _languages(ctx, program, folder)
        words = [program, "screen.png", "stdout", *languages, "--psm", "11" if is_sparse else "6", "--dpi", "144"]
        # On two threads it took a hundred times as long where other programs kept the processor busy.
        ended = await run_confined(
            ctx, [*words, "tsv"], folder, limit_s=_LIMIT_S, environment={"OMP_THREAD_LIMIT": "1"}
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if ended.timed_out or ended.exit_code != 0:
        raise ToolError("The text on the screen could not be read", hint="Look at a picture with computer_screenshot")
    return list(_parse_words((ended.head + ended.tail).decode("utf-8", "replace"), scale))


def render_lines(words: Sequence[Word]) -> str:
    """The words that were surely read as text, line by line."""
    return "\n".join(" ".join(word.text for word in line) for line in _lines(_sure(words)))


def note_unsure(words: Sequence[Word]) -> str:
    """How many words could not be read for sure, as a clause; empty when all were."""
    number = sum(not word.is_sure for word in words)
    return f"{count_of(number, 'word')} not legible" if number else ""


def find_text(words: Sequence[Word], wanted: str) -> Sequence[Found]:
    """Where a text was read, the most alike first; places that are only similar count when none is the same."""
    target = _sound(wanted)
    if not target:
        return []
    found = [hit for line in _lines(_sure(words)) for hit in _find_in_line(line, target, len(wanted.split()))]
    same = [hit for hit in found if hit.likeness == 1]
    ordered = sorted(same or found, key=lambda hit: -hit.likeness)
    kept: list[Found] = []
    for hit in ordered:
        if not any(_overlap(hit.box, other.box) for other in kept):
            kept.append(hit)
    return kept[:_MOST_FOUND]


def _make_folder(workspace: Path) -> str:
    return tempfile.mkdtemp(prefix=".screen-", dir=workspace)


def _write_enlarged(image: "Image", path: Path) -> float:
    """Write the image as the program reads it best: grey, larger, with a margin. Returns the scale."""
    from PIL import ImageOps
    from PIL.Image import Resampling

    scale = _ENLARGED if image.width * image.height * _ENLARGED**2 <= _MOST_PIXELS else 1
    grey = ImageOps.autocontrast(image.convert("L"), cutoff=0)
    large = grey.resize((image.width * scale, image.height * scale), Resampling.BICUBIC) if scale > 1 else grey
    ImageOps.expand(large, border=_MARGIN * scale, fill=large.getpixel((0, 0))).save(path, compress_level=1)  # type: ignore[arg-type]
    return scale


async def _languages(ctx: ToolContext, program: str, folder: Path) -> Sequence[str]:
    """English and the language of the system, as far as the program has them."""
    ended = await run_confined(ctx, [program, "--list-langs"], folder, limit_s=_LIMIT_S)
    known = (ended.head + ended.tail).decode("utf-8", "replace").split()
    own = _LANGUAGES.get((os.environ.get("LC_ALL") or os.environ.get("LANG") or "")[:2], "")
    chosen = [language for language in dict.fromkeys(("eng", own)) if language in known]
    return ["-l", "+".join(chosen)] if chosen else []


def _parse_words(table: str, scale: float) -> Iterator[Word]:
    """The words of the program's table; warnings of it stand between the rows."""
    for row in csv.reader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        if len(row) != 12 or row[0] != "5" or not row[11].strip():
            continue
        is_sure = float(row[10]) >= _LEAST_CONFIDENCE
        # What is no letter is rather a border or the cursor.
        if not is_sure and not _sound(row[11]):
            continue
        left, top, width, height = (int(cell) / scale for cell in row[6:10])
        left, top = left - _MARGIN, top - _MARGIN
        box = Box(round(left), round(top), round(left + width), round(top + height))
        yield Word(row[11].strip(), box, tuple(map(int, row[1:5])), is_sure)


def _sure(words: Sequence[Word]) -> Sequence[Word]:
    return [word for word in words if word.is_sure]


def _lines(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    for _line, members in groupby(words, key=lambda word: word.line):
        yield list(members)


def _find_in_line(line: Sequence[Word], target: str, size: int) -> Iterator[Found]:
    """Runs of about as many words as the target has that sound like it."""
    for length in range(max(1, size - 1), size + 2):
        for start in range(len(line) - length + 1):
            run = line[start : start + length]
            text = " ".join(word.text for word in run)
            likeness = _likeness(_sound(text), target)
            if likeness >= _LEAST_LIKENESS:
                box = run[0].box
                for word in run[1:]:
                    box = box.around(word.box)
                yield Found(text, box, likeness)


def _sound(text: str) -> str:
    return _NO_SOUND.sub("", text.casefold())


def _likeness(text: str, target: str) -> float:
    if text == target:
        return 1
    # A short word that differs in a letter is another word: "on" is not "no".
    return SequenceMatcher(None, text, target, autojunk=False).ratio() if len(target) > 3 else 0


def _overlap(first: Box, second: Box) -> bool:
    return (
        first.left < second.right
        and second.left < first.right
        and first.top < second.bottom
        and second.top < first.bottom
    )
