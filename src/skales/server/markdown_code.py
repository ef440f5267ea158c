"""Code blocks as figures: a language, buttons, colours by class. What the buttons do is in `blocks.js`.

Pages and drawings that a model wrote as code stay code here; a person may ask to see one.
"""

from html import escape

from skales.server.highlight import highlight_code, name_file
from skales.server.words import _, ngettext

# Lines up to here are shown at once when a conversation is opened again; `prose.css` folds what is longer.
_SHOWN_LINES = 40
# Characters of the longest line from which on turning its end helps; about what a phone shows is less.
_LONG_LINE = 60

_PREVIEWED = frozenset({"html", "htm", "html5", "xhtml", "svg"})
_DRAWN = "mermaid"


def render_code(code: str, language: str) -> str:
    """A code block; `language` is the model's word for it and may be anything."""
    kind = language.lower()
    lines = code.rstrip("\n").count("\n") + 1
    classes = ["code"]
    if lines > _SHOWN_LINES:
        classes.append("long")
    if kind == _DRAWN:
        classes.append("diagram")
    return (
        f'<figure class="{" ".join(classes)}"><figcaption><span class="language">{escape(language) or "text"}</span>'
        f'<span class="actions">{_buttons(code, language)}</span></figcaption>'
        f'<pre tabindex="0"><code>{highlight_code(code, language)}</code></pre>{_unfold_button(lines)}</figure>\n'
    )


def _buttons(code: str, language: str) -> str:
    shown: list[str] = []
    if language.lower() in _PREVIEWED:
        shown.append(f'<button type="button" class="preview">{_("Preview")}</button>')
    if any(len(line) > _LONG_LINE for line in code.splitlines()):
        shown.append(f'<button type="button" class="wrap" aria-pressed="false">{_("Wrap")}</button>')
    name = escape(name_file(language))
    shown.append(f'<button type="button" class="download" data-name="{name}">{_("Download")}</button>')
    shown.append(f'<button type="button" class="copy">{_("Copy")}</button>')
    return "".join(shown)


def _unfold_button(lines: int) -> str:
    if lines <= _SHOWN_LINES:
        return ""
    words = ngettext("Show all %(num)d line", "Show all %(num)d lines", lines)
    return f'<button type="button" class="unfold">{words}</button>'
