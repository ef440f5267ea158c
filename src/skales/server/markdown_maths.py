r"""Maths in markdown: `$$…$$`, `\(…\)` and `\[…\]` become MathML, which the browser shows by itself.

What cannot be understood is shown as it was written, marked quietly. Nothing in the maths reaches outside it: the
converter knows no links and no HTML, and `sanitize` lets only MathML's own elements through.
"""

import re
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from skales.server.markdown_display import ends_display, read_display
from skales.server.words import _

if TYPE_CHECKING:
    from math_core import LatexToMathML

# Longer maths is shown as source. The converter takes 4 ms for the worst of this length.
_LONGEST_MATHS = 5_000
_INLINE_CLOSERS = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_FENCE_START = re.compile(r" {0,3}(?:```|~~~)")
# Commands that say something to a TeX program and nothing to a reader.
_SILENT_COMMANDS = re.compile(r"\\(?:require|label)\s*\{[^{}]*\}")
_STYLE = re.compile(r' style="([^"]*)"')
# The page allows no style attributes; these are all the converter writes, colours aside.
_STYLE_CLASSES = {
    "text-align:left": "maths-left",
    "text-align:right": "maths-right",
    "padding-left:0": "maths-close-left",
    "padding-right:0": "maths-close-right",
    "padding-left:1em": "maths-apart",
    "width:50%": "maths-half",
    "width:100%": "maths-full",
    "border-left:0.05em solid currentcolor": "maths-rule-left",
    "border-right:0.05em solid currentcolor": "maths-rule-right",
    "border-top:0.05em solid currentcolor": "maths-rule-top",
    "border-bottom:0.05em solid currentcolor": "maths-rule-bottom",
}


def add_maths(parser: MarkdownIt) -> None:
    """Teach the parser the maths rules; before `escape`, which would take the backslashes."""
    parser.block.ruler.before(
        "fence", "maths_block", _read_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.inline.ruler.before("escape", "maths_inline", _read_inline)
    parser.add_render_rule("maths_block", _show_block)
    parser.add_render_rule("maths_inline", _show_inline)


def render_maths(source: str, *, display: bool) -> str:
    """The maths as MathML, or its source as code when it cannot be understood."""
    markup = _convert(source.strip(), display=display)
    if markup is None:
        words = _("This formula could not be drawn")
        shown = f'<code class="maths-source" title="{escape(words)}">{escape(source.strip())}</code>'
    else:
        shown = markup
    return f'<div class="maths" tabindex="0">{shown}</div>\n' if display else shown


@lru_cache(maxsize=256)
def _convert(source: str, *, display: bool) -> str | None:
    if not source or len(source) > _LONGEST_MATHS:
        return None
    from math_core import LatexError

    source = _SILENT_COMMANDS.sub("", source).replace("{split}", "{aligned}")
    if "\\tag" in source and "\\begin" not in source:
        source = f"\\begin{{equation}}{source}\\end{{equation}}"
    try:
        markup = _converter().convert_with_local_state(source, displaystyle=display)
    except LatexError:
        return None
    return _STYLE.sub(_name_style, markup)


@cache
def _converter() -> "LatexToMathML":
    from math_core import LatexToMathML

    return LatexToMathML(fancy_error=False, allow_unreliable_rendering=True)


def _name_style(found: re.Match[str]) -> str:
    declarations = (part.strip().replace(": ", ":") for part in found[1].split(";"))
    classes = [_STYLE_CLASSES[part] for part in declarations if part in _STYLE_CLASSES]
    return f' class="{" ".join(classes)}"' if classes else ""


def _read_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if state.is_code_block(first):
        return False
    start = read_display(_line(state, first))
    if start is None:
        return False
    end = first if start.is_whole else _find_end(state, first, last, start.closer)
    if end is None:
        return False
    if silent:
        return True
    state.line = end + 1
    token = state.push("maths_block", "", 0)
    token.block = True
    token.map = [first, state.line]
    lines = "\n".join(_line(state, number) for number in range(first, state.line)).strip()
    token.content = lines[2:-2]
    return True


def _find_end(state: StateBlock, first: int, last: int, closer: str) -> int | None:
    """The line that ends the maths; a blank line, a code fence or less indentation means that it was none."""
    for number in range(first + 1, last):
        line = _line(state, number)
        if not line.strip() or state.sCount[number] < state.blkIndent or _FENCE_START.match(line):
            return None
        if closer in line:
            return number if ends_display(line, closer) else None
    return None


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _read_inline(state: StateInline, silent: bool) -> bool:
    opener = state.src[state.pos : state.pos + 2]
    closer = _INLINE_CLOSERS.get(opener)
    if closer is None:
        return False
    end = state.src.find(closer, state.pos + 2, state.posMax)
    content = state.src[state.pos + 2 : end] if end > 0 else ""
    if not content.strip():
        return False
    if not silent:
        token = state.push("maths_inline", "", 0)
        token.content = content
        token.markup = opener
    state.pos = end + 2
    return True


def _show_block(_renderer: RendererHTML, tokens: list[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
    return render_maths(tokens[idx].content, display=True)


def _show_inline(_renderer: RendererHTML, tokens: list[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
    return render_maths(tokens[idx].content, display=False)
