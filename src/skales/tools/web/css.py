r"""CSS text as plain tokens, declarations and rules; the only module that knows the CSS parser.

Comments are gone, escapes are resolved, so `d\69splay/**/:NONE` reads as what it means.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

_DEEPEST = 40


class Token(Struct, frozen=True):
    """One CSS token.

    `kind` is the parser's name for it: `ident`, `hash`, `string`, `number`, `percentage`, `dimension`, `literal`,
    `function`, `url`, `whitespace`, `() block`, `[] block`, `{} block`. `text` is its name or value, in lower case for
    names of functions and units' dimensions keep their unit there; `number` its value; `inner` what a block holds.
    """

    kind: str
    text: str = ""
    number: float = 0.0
    inner: tuple["Token", ...] = ()

    @property
    def name(self) -> str:
        """The text in lower case, as keywords are compared."""
        return self.text.lower()

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these literal characters."""
        return self.kind == "literal" and self.text in signs


Tokens = tuple[Token, ...]


class Declaration(Struct, frozen=True):
    """`name: value`; custom properties keep the case of their name."""

    name: str
    value: Tokens
    is_important: bool


class RawRule(Struct, frozen=True):
    """A rule as written: `at` is the keyword of an at-rule, empty for selectors; what it holds is in order."""

    at: str
    prelude: Tokens
    content: Sequence["RawRule | Declaration"]


def parse_declarations(style: str) -> Sequence[Declaration]:
    """The declarations of a `style` attribute."""
    import tinycss2  # type: ignore[import-untyped]

    nodes = tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
    return [item for item in _read_content(nodes, 0) if isinstance(item, Declaration)]


def parse_stylesheet(text: str) -> Sequence[RawRule]:
    """The rules of a sheet; what is malformed is skipped as browsers do."""
    import tinycss2

    nodes = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    return [item for item in _read_content(nodes, 0) if isinstance(item, RawRule)]


@lru_cache(maxsize=512)
def parse_rgba(value: Tokens) -> tuple[float, float, float, float] | None:
    """Red, green, blue and opacity from 0 to 1; None for what is no colour, or one that depends on the page."""
    from tinycss2 import color4

    try:
        color: Any = color4.parse_color(render_tokens(value))
        if color is None or isinstance(color, str):
            return None
        red, green, blue = (float(part or 0) for part in color.to("srgb").coordinates)
    except (NotImplementedError, ValueError, TypeError):
        return None
    return red, green, blue, float(color.alpha)


def render_tokens(tokens: Iterable[Token]) -> str:
    """The tokens as CSS text again."""
    return "".join(_render(token) for token in tokens)


def split_at(tokens: Iterable[Token], sign: str) -> list[list[Token]]:
    """The pieces between the signs, each without blanks at its ends."""
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        if token.is_sign(sign):
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [trim(piece) for piece in pieces]


def trim(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without blanks at either end."""
    start, end = 0, len(tokens)
    while start < end and tokens[start].kind == "whitespace":
        start += 1
    while end > start and tokens[end - 1].kind == "whitespace":
        end -= 1
    return list(tokens[start:end])


def _render(token: Token) -> str:
    match token.kind:
        case "whitespace":
            return " "
        case "hash":
            return f"#{token.text}"
        case "number" | "percentage" | "dimension":
            return f"{token.number:g}{token.text}"
        case "function":
            return f"{token.text}({render_tokens(token.inner)})"
        case "() block" | "[] block" | "{} block":
            return f"{token.kind[0]}{render_tokens(token.inner)}{token.kind[1]}"
        case "string":
            return '"' + token.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case _:
            return token.text


def _read_content(nodes: Iterable[Any], depth: int) -> Iterator[RawRule | Declaration]:
    for node in nodes:
        match node.type:
            case "declaration":
                name = node.name if node.name.startswith("--") else node.lower_name
                yield Declaration(name, tuple(trim(_read_tokens(node.value))), bool(node.important))
            case "qualified-rule":
                yield RawRule("", _read_tokens(node.prelude), _read_block(node.content, depth))
            case "at-rule":
                inner = _read_block(node.content, depth) if node.content is not None else ()
                yield RawRule(node.lower_at_keyword, _read_tokens(node.prelude), inner)
            case _:
                continue


def _read_block(content: Iterable[Any], depth: int) -> Sequence[RawRule | Declaration]:
    import tinycss2

    if depth >= _DEEPEST:
        return ()
    nodes = tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
    return tuple(_read_content(nodes, depth + 1))


def _read_tokens(nodes: Iterable[Any], depth: int = 0) -> Tokens:
    return tuple(_read_token(node, depth) for node in nodes if node.type != "comment")


def _read_token(node: Any, depth: int) -> Token:
    kind: str = node.type
    match kind:
        case "number":
            return Token(kind, "", float(node.value))
        case "percentage":
            return Token(kind, "%", float(node.value))
        case "dimension":
            return Token(kind, node.lower_unit, float(node.value))
        case "function":
            return Token(
                kind, node.lower_name, inner=_read_tokens(node.arguments, depth + 1) if depth < _DEEPEST else ()
            )
        case "() block" | "[] block" | "{} block":
            return Token(kind, inner=_read_tokens(node.content, depth + 1) if depth < _DEEPEST else ())
        case "unicode-range" | "error":
            return Token(kind)
        case _:
            return Token(kind, str(node.value))
