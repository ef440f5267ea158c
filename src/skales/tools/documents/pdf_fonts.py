"""Fonts of this computer for PDF files: a family to read, one for code, and more for signs that those lack.

Nothing is bundled and nothing is fetched. Without any font file the reader's own Helvetica and Courier are named, which
know the signs of Western Europe only.
"""

import os
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

# Regular, bold, italic, bold italic; the first family whose regular file is there is taken, and its missing faces are
# drawn with the regular one. All of them know Latin, Greek and Cyrillic.
_TEXT = (
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf", "NotoSans-Italic.ttf", "NotoSans-BoldItalic.ttf"),
    ("segoeui.ttf", "segoeuib.ttf", "segoeuii.ttf", "segoeuiz.ttf"),
    ("arial.ttf", "arialbd.ttf", "ariali.ttf", "arialbi.ttf"),
    ("arial.ttf", "arial bold.ttf", "arial italic.ttf", "arial bold italic.ttf"),
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSans-Oblique.ttf", "DejaVuSans-BoldOblique.ttf"),
    (
        "LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf", "LiberationSans-Italic.ttf",
        "LiberationSans-BoldItalic.ttf",
    ),
)  # fmt: skip
_CODE = (
    "DejaVuSansMono.ttf", "NotoSansMono-Regular.ttf", "LiberationMono-Regular.ttf", "consola.ttf", "cour.ttf",
    "courier new.ttf",
)  # fmt: skip
# Looked into, in this order, only for signs that the text font lacks.
_MORE = (
    "DejaVuSans.ttf", "NotoSansSymbols-Regular.ttf", "NotoSansSymbols2-Regular.ttf", "NotoSansMath-Regular.ttf",
    "seguisym.ttf", "arial unicode.ttf", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf",
    "NotoSansSC-Regular.otf", "NotoSansJP-Regular.otf", "NotoSansKR-Regular.otf", "SourceHanSans-Regular.ttc",
    "DroidSansFallbackFull.ttf", "DroidSansFallback.ttf", "wqy-microhei.ttc", "wqy-zenhei.ttc", "uming.ttc",
    "msyh.ttc", "msgothic.ttc", "yugothm.ttc", "malgun.ttf", "simsun.ttc", "hiragino sans gb.ttc", "applegothic.ttf",
    "NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "NotoSansDevanagari-Regular.ttf",
    "NotoSansThai-Regular.ttf", "NotoColorEmoji.ttf", "NotoEmoji-Regular.ttf", "Symbola.ttf", "seguiemj.ttf",
)  # fmt: skip
_FACES = ("", "B", "I", "BI")


class FontFiles(Struct, frozen=True):
    """Which files to draw with. `text` maps fpdf's style letters to files; empty when there is no font at all.

    `missing` are the signs that no file has.
    """

    text: Mapping[str, Path]
    code: Path | None
    more: tuple[Path, ...]
    missing: frozenset[str]


def choose_fonts(signs: Collection[str], folders: Collection[Path] | None = None) -> FontFiles:
    """Files that have these signs, as far as this computer has any; other folders than the system's are for tests."""
    found = _find_files(tuple(_system_folders() if folders is None else folders))
    faces = next((faces for faces in _TEXT if _is_readable(found.get(faces[0].lower()))), None)
    if faces is None:
        return FontFiles({}, None, (), frozenset(sign for sign in signs if not _is_western(sign)))
    regular = found[faces[0].lower()]
    named = ((style, found.get(name.lower(), regular)) for style, name in zip(_FACES, faces, strict=True))
    text = {style: path if _is_readable(path) else regular for style, path in named}
    code = next((found[name.lower()] for name in _CODE if _is_readable(found.get(name.lower()))), regular)
    wanted = {sign for sign in signs if ord(sign) not in _read_signs(regular)}
    more: list[Path] = []
    for path in (found[name.lower()] for name in _MORE if name.lower() in found):
        has = {sign for sign in wanted if ord(sign) in _read_signs(path)}
        if has:
            more.append(path)
            wanted -= has
        if not wanted:
            break
    # Code may need what only the text font has.
    return FontFiles(text, code, (regular, *more), frozenset(wanted))


def _is_readable(path: Path | None) -> bool:
    return path is not None and bool(_read_signs(path))


def _is_western(sign: str) -> bool:
    return ord(sign) < 256


def _system_folders() -> list[Path]:
    home = Path.home()
    match sys.platform:
        case "win32":
            windows = Path(os.environ.get("WINDIR", r"C:\Windows"))
            return [windows / "Fonts", home / "AppData/Local/Microsoft/Windows/Fonts"]
        case "darwin":
            return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
        case _:
            return [
                Path("/usr/share/fonts"),
                Path("/usr/local/share/fonts"),
                home / ".local/share/fonts",
                home / ".fonts",
            ]


@cache
def _find_files(folders: tuple[Path, ...]) -> Mapping[str, Path]:
    """Every font file by its name in lower case; the first folder wins."""
    found: dict[str, Path] = {}
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                if name.lower().endswith((".ttf", ".otf", ".ttc")):
                    found.setdefault(name.lower(), Path(root) / name)
    return found


@cache
def _read_signs(path: Path) -> frozenset[int]:
    """The code points that a font has; none when its file cannot be read."""
    from fontTools.ttLib import TTFont, TTLibError  # type: ignore[import-untyped]

    try:
        # Given a path, it would leave the file open where it is no font.
        with path.open("rb") as file, TTFont(file, fontNumber=0, lazy=True) as font:
            return frozenset(font.getBestCmap() or ())
    except (OSError, TTLibError):
        return frozenset()
