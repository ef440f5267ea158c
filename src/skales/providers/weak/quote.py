"""A tool result as the answer itself, for models that cannot be trusted to retell it.

Measured with the starter model: of six results it retold two right, and invented the rest. What the tool said is true.
"""

import re
from collections.abc import Sequence

from skales.core.message import Message

_MAX_CHARACTERS = 4000
_TICKS = re.compile(r"`{3,}")


def quote_results(results: Sequence[Message]) -> str:
    """The results as Markdown: who returned what, the text untouched inside a fence."""
    return "\n\n".join(_quote(result) for result in results)


def _quote(result: Message) -> str:
    name = f"`{result.name}`" if result.name else "The tool"
    text = result.text.strip()
    if not text:
        return f"{name} {'failed' if result.is_error else 'returned nothing'}."
    if len(text) > _MAX_CHARACTERS:
        text = f"{text[:_MAX_CHARACTERS]}\n[…]"
    fence = max(["```", *(f"{ticks}`" for ticks in _TICKS.findall(text))], key=len)
    return f"{name} {'failed' if result.is_error else 'returned'}:\n\n{fence}\n{text}\n{fence}"
