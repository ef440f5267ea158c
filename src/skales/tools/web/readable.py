"""A page, or a part of it, as text that reads like the page looks: headings, lists, quotes, code, tables, links.

Expects that `hidden` has marked what nobody sees. The form is Markdown where Markdown has one.
"""

import re
from collections.abc import Callable, Sequence

from skales.security.invisible import strip_invisible
from skales.tools.web.dom import Element, Text
from skales.tools.web.inline import (
    BLOCK_TAGS,
    DEEPEST,
    Setting,
    absolute_address,
    bare_words,
    build_setting,
    render_inline,
    render_line,
    shown_children,
    tidy_line,
)
from skales.tools.web.tables import cells_of, is_layout, render_table, rows_of

_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source)-([A-Za-z0-9+#-]{1,20})")
_PRE_TAGS = {"pre", "listing", "xmp", "plaintext", "textarea"}
_LIST_TAGS = {"ul", "ol", "menu", "dir"}


def render_readable(element: Element, page_root: Element, address: str) -> str:
    """The element's visible text.

    Args:
        element: The part to show.
        page_root: The page it is part of.
        address: Where the page was found; relative links start there.
    """
    return read_visible(element, page_root, address)[0]


def read_visible(element: Element, page_root: Element, address: str) -> tuple[str, int]:
    """Like `render_readable`, with the number of invisible characters that were taken out of it."""
    text = "\n\n".join(_blocks(element, build_setting(page_root, address), 0))
    shown, removed = strip_invisible(text)
    return shown.strip(), removed


def page_title(page_root: Element) -> str:
    """The page's `<title>` on one line, empty when it has none."""
    for element in page_root.walk():
        if element.tag == "title" and element.parent is not None and element.parent.tag == "head":
            title = " ".join("".join(child.text for child in element.children if isinstance(child, Text)).split())
            if title:
                return strip_invisible(title)[0]
    return ""


def _blocks(element: Element, setting: Setting, depth: int) -> list[str]:
    """The blocks of an element, each a string without blank edges."""
    if depth > DEEPEST:
        return _filled(bare_words(element))
    blocks: list[str] = []
    line: list[str] = []
    for child in shown_children(element):
        if isinstance(child, Element) and (
            child.tag in BLOCK_TAGS or child.tag in _PRE_TAGS or child in setting.holders
        ):
            blocks += [*_filled("".join(line)), *_block(child, setting, depth + 1)]
            line = []
        else:
            line.append(render_inline(child, setting, depth + 1))
    return [*blocks, *_filled("".join(line))]


def _filled(text: str) -> list[str]:
    tidied = tidy_line(text)
    return [tidied] if tidied else []


def _block(element: Element, setting: Setting, depth: int) -> list[str]:
    if depth > DEEPEST:
        return _filled(bare_words(element))
    render = _RENDERERS.get(element.tag, _blocks)
    return render(element, setting, depth)


def _heading(element: Element, setting: Setting, depth: int) -> list[str]:
    text = render_line(element, setting, depth)
    return [f"{'#' * int(element.tag[1])} {text}"] if text else []


def _bold(element: Element, setting: Setting, depth: int) -> list[str]:
    text = render_line(element, setting, depth)
    return [f"**{text}**"] if text else []


def _rule(_element: Element, _setting: Setting, _depth: int) -> list[str]:
    return ["---"]


def _quote(element: Element, setting: Setting, depth: int) -> list[str]:
    text = "\n\n".join(_blocks(element, setting, depth))
    return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))] if text else []


def _link_around_blocks(element: Element, setting: Setting, depth: int) -> list[str]:
    blocks = _blocks(element, setting, depth)
    address = absolute_address(element.attributes.get("href", ""), setting)
    return [*blocks, f"Link: {address}"] if blocks and address else blocks


def _list(element: Element, setting: Setting, depth: int) -> list[str]:
    items: list[str] = []
    number = _start_number(element)
    for child in shown_children(element):
        if isinstance(child, Text):
            items += _filled(child.text)
            continue
        blocks = _blocks(child, setting, depth + 1)
        if child.tag != "li":
            items += blocks
        elif blocks:
            items.append(_item(blocks, f"{number}. " if element.tag == "ol" else "- "))
            number += 1
    return ["\n".join(items)] if items else []


def _start_number(element: Element) -> int:
    text = element.attributes.get("start", "").strip()
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else 1


def _item(blocks: Sequence[str], mark: str) -> str:
    """A list item: its lines after the first are indented; a list directly below follows without a blank line."""
    text = blocks[0]
    for block in blocks[1:]:
        text += ("\n" if re.match(r"(?:-|\d+\.) ", block) else "\n\n") + block
    return mark + re.sub(r"\n(?=[^\n])", "\n" + " " * len(mark), text)


def _terms(element: Element, setting: Setting, depth: int) -> list[str]:
    lines: list[str] = []
    for child in shown_children(element):
        if isinstance(child, Text):
            lines += _filled(child.text)
        elif child.tag == "dt":
            lines += _bold(child, setting, depth + 1)
        elif child.tag == "dd":
            lines += [": " + block.replace("\n", "\n  ") for block in _blocks(child, setting, depth + 1)]
        elif child.tag == "div" and depth < DEEPEST:
            lines += _terms(child, setting, depth + 1)
        else:
            lines += _blocks(child, setting, depth + 1)
    return ["\n".join(lines)] if lines else []


def _preformatted(element: Element, _setting: Setting, _depth: int) -> list[str]:
    """Code between fences longer than any in it; line ends and indentation stay."""
    text = _raw_text(element).replace("\xa0", " ").strip("\r\n").rstrip()
    if not text:
        return []
    marks = " ".join(one.attributes.get("class", "") for one in element.walk())
    language = _LANGUAGE.search(marks) if element.tag == "pre" else None
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return [f"{fence}{language[1] if language else ''}\n{text}\n{fence}"]


def _raw_text(element: Element) -> str:
    pieces: list[str] = []
    waiting = [iter(list(shown_children(element)))]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif isinstance(child, Text):
            pieces.append(child.text)
        elif child.tag == "br":
            pieces.append("\n")
        else:
            waiting.append(iter(list(shown_children(child))))
    return "".join(pieces)


def _table(element: Element, setting: Setting, depth: int) -> list[str]:
    if not is_layout(element):
        text = render_table(element, setting, depth)
        return [text] if text else []
    blocks: list[str] = []
    for row in rows_of(element):
        for cell in cells_of(row):
            blocks += _blocks(cell, setting, depth + 2)
    return blocks


_RENDERERS: dict[str, Callable[[Element, Setting, int], list[str]]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
    **dict.fromkeys(("summary", "legend", "dt"), _bold),
    **dict.fromkeys(_LIST_TAGS, _list),
    **dict.fromkeys(_PRE_TAGS, _preformatted),
    "blockquote": _quote,
    "hr": _rule,
    "a": _link_around_blocks,
    "dl": _terms,
    "table": _table,
}
