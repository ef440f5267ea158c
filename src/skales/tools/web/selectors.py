"""CSS selectors, read from tokens.

States that need a pointer, a click or a script (`:hover`) never hold, and neither do pseudo-elements. A list with a
part that browsers would not understand is refused whole, as they do. Spec: Selectors Level 4.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from skales.tools.web.css import Token, render_tokens, split_at, trim

Specificity = tuple[int, int, int]

# Longer ones are not written by people.
_MOST_COMPOUNDS = 100
_NO_WEIGHT: Specificity = (0, 0, 0)
_CLASS_WEIGHT: Specificity = (0, 1, 0)
_SELECTOR_LISTS = {"is", "where", "not", "-webkit-any"}
_NTH = {"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"}
_AS_NTH = {
    "first-child": "nth-child",
    "last-child": "nth-last-child",
    "first-of-type": "nth-of-type",
    "last-of-type": "nth-last-of-type",
}
_STATIC = {
    "root", "scope", "empty", "only-child", "only-of-type", "link", "any-link", "enabled", "disabled", "checked",
    "required", "optional", "open", "defined",
}  # fmt: skip
_DYNAMIC = {
    "hover", "active", "focus", "focus-visible", "focus-within", "visited", "target", "target-within", "fullscreen",
    "modal", "popover-open", "picture-in-picture", "autofill", "user-invalid", "user-valid", "host", "host-context",
    "indeterminate", "placeholder-shown", "valid", "invalid", "in-range", "out-of-range", "read-only", "read-write",
    "default", "playing", "paused", "state", "before", "after", "first-line", "first-letter",
}  # fmt: skip
_NTH_FORM = re.compile(r"([+-]?\d*)n(?:([+-]\d+))?|([+-]?\d+)")
_ATTRIBUTE_SIGNS = ("=", "~=", "|=", "^=", "$=", "*=")
# Attributes whose values HTML compares in any case.
_CASELESS = {"align", "checked", "color", "dir", "disabled", "hidden", "lang", "media", "method", "rel", "type"}


class UnknownSelectorError(Exception):
    """Browsers would not understand it either; its rule does not count."""


class HasTag(Struct, frozen=True, eq=False):
    """Matches by the element's name."""

    tag: str


class HasId(Struct, frozen=True, eq=False):
    """Matches by id."""

    id: str


class HasClass(Struct, frozen=True, eq=False):
    """Matches by one class name."""

    name: str


class HasAttribute(Struct, frozen=True, eq=False):
    """Matches by an attribute: present (`sign` empty), or compared by `=`, `~=`, `|=`, `^=`, `$=`, `*=`."""

    name: str
    sign: str
    value: str
    is_caseless: bool


class IsAny(Struct, frozen=True, eq=False):
    """Matches what any of the selectors matches; negated, what none does."""

    selectors: "Sequence[Selector]"
    is_negated: bool = False


class Has(Struct, frozen=True, eq=False):
    """Matches what has such an element below it (blank), as a child, as the next or as a later sibling."""

    relatives: "Sequence[tuple[str, Selector]]"


class Nth(Struct, frozen=True, eq=False):
    """Matches the places `step * n + offset` among siblings, or those of its type, or those that a list matches."""

    step: int
    offset: int
    from_end: bool
    of_type: bool
    among: "Sequence[Selector]" = ()


class State(Struct, frozen=True, eq=False):
    """A pseudo-class that can be read off the page, such as `empty`."""

    name: str


class Language(Struct, frozen=True, eq=False):
    """Matches by the language of the text."""

    codes: tuple[str, ...]


class Never(Struct, frozen=True, eq=False):
    """Matches nothing on a page at rest."""


Test = HasTag | HasId | HasClass | HasAttribute | IsAny | Has | Nth | State | Language | Never
Compound = tuple[Test, ...]


class Selector(Struct, frozen=True, eq=False):
    """Compounds from left to right; `combinators[i]` joins `compounds[i]` and the next: blank, `>`, `+` or `~`."""

    compounds: tuple[Compound, ...]
    combinators: tuple[str, ...]
    specificity: Specificity


def parse_selectors(tokens: Sequence[Token], parents: Sequence[Selector] = ()) -> Sequence[Selector]:
    """The selectors of a rule.

    Args:
        tokens: What stands before the braces.
        parents: The selectors of the rule around it; `&` means them.

    Raises:
        UnknownSelectorError: One of them is not CSS.
    """
    return [_parse_complex(_with_parent(piece, parents), parents) for piece in split_at(tokens, ",")]


def _with_parent(tokens: list[Token], parents: Sequence[Selector]) -> list[Token]:
    """In a nested rule a selector without `&` begins with one."""
    if not parents or "&" in render_tokens(tokens):
        return tokens
    return [Token("literal", "&"), Token("whitespace"), *tokens]


def _parse_complex(tokens: Sequence[Token], parents: Sequence[Selector]) -> Selector:
    compounds: list[Compound] = []
    combinators: list[str] = []
    weight, position = _NO_WEIGHT, 0
    while position < len(tokens):
        if compounds:
            combinator, position = _read_combinator(tokens, position)
            combinators.append(combinator)
        compound, added, position = _read_compound(tokens, position, parents)
        compounds.append(compound)
        weight = _plus(weight, added)
    if not compounds or len(compounds) > _MOST_COMPOUNDS:
        raise UnknownSelectorError
    return Selector(tuple(compounds), tuple(combinators), weight)


def _read_combinator(tokens: Sequence[Token], position: int) -> tuple[str, int]:
    found = ""
    while position < len(tokens) and (tokens[position].kind == "whitespace" or tokens[position].is_sign(">", "+", "~")):
        sign = tokens[position].text if tokens[position].kind == "literal" else ""
        if found and sign:
            raise UnknownSelectorError
        found = found or sign
        position += 1
    return found or " ", position


def _read_compound(
    tokens: Sequence[Token], position: int, parents: Sequence[Selector]
) -> tuple[Compound, Specificity, int]:
    tests: list[Test] = []
    weight, start = _NO_WEIGHT, position
    while position < len(tokens):
        token = tokens[position]
        if token.kind == "whitespace" or token.is_sign(">", "+", "~"):
            break
        test, added, position = _read_simple(tokens, position, parents)
        tests.extend([test] if test else [])
        weight = _plus(weight, added)
    if position == start:
        raise UnknownSelectorError
    return tuple(tests), weight, position


def _read_simple(
    tokens: Sequence[Token], position: int, parents: Sequence[Selector]
) -> tuple[Test | None, Specificity, int]:
    """One test (None for `*`), what it weighs, and where the next begins."""
    token = tokens[position]
    after = tokens[position + 1] if position + 1 < len(tokens) else Token("end")
    match token.kind:
        case "ident":
            return HasTag(token.name), (0, 0, 1), position + 1
        case "hash":
            return HasId(token.text), (1, 0, 0), position + 1
        case "[] block":
            return _parse_attribute(token.inner), _CLASS_WEIGHT, position + 1
        case "literal" if token.text == "*":
            return None, _NO_WEIGHT, position + (2 if after.is_sign("|") else 1)
        case "literal" if token.text == "|":
            # Elements without a namespace; those of a page all have one.
            return Never(), _NO_WEIGHT, position + 1
        case "literal" if token.text == "&":
            return (
                (IsAny(parents), _heaviest(parents), position + 1)
                if parents
                else (State("root"), (0, 1, 0), position + 1)
            )
        case "literal" if token.text == "." and after.kind == "ident":
            return HasClass(after.text), _CLASS_WEIGHT, position + 2
        case "literal" if token.text == ":" and after.is_sign(":"):
            return Never(), (0, 0, 1), position + 3
        case "literal" if token.text == ":":
            test, weight = _parse_pseudo(after, parents)
            return test, weight, position + 2
        case _:
            raise UnknownSelectorError


def _parse_attribute(inner: Sequence[Token]) -> HasAttribute:
    parts = [token for token in inner if token.kind != "whitespace"]
    if len(parts) > 2 and parts[0].is_sign("*") and parts[1].is_sign("|"):
        parts = parts[2:]
    elif parts and parts[0].is_sign("|"):
        parts = parts[1:]
    match parts:
        case [Token(kind="ident") as name]:
            return HasAttribute(name.name, "", "", is_caseless=False)
        case [Token(kind="ident") as name, sign, value, *flag] if sign.is_sign(*_ATTRIBUTE_SIGNS):
            if value.kind not in {"ident", "string"}:
                raise UnknownSelectorError
            is_caseless = name.name in _CASELESS or [part.name for part in flag] == ["i"]
            return HasAttribute(name.name, sign.text, value.text, is_caseless=is_caseless)
        case _:
            raise UnknownSelectorError


def _parse_pseudo(token: Token, parents: Sequence[Selector]) -> tuple[Test, Specificity]:
    name = token.name
    if name in _DYNAMIC or (name.startswith("-webkit-") and name not in _SELECTOR_LISTS):
        return Never(), _CLASS_WEIGHT
    if token.kind == "ident":
        if name in _AS_NTH:
            return _nth(_AS_NTH[name], 0, 1), _CLASS_WEIGHT
        if name in _STATIC:
            return State(name), _CLASS_WEIGHT
    elif token.kind == "function":
        return _parse_function(name, token.inner, parents)
    raise UnknownSelectorError


def _parse_function(name: str, inner: Sequence[Token], parents: Sequence[Selector]) -> tuple[Test, Specificity]:
    if name in _SELECTOR_LISTS:
        selectors = _parse_inner_list(inner, parents, is_forgiving=name != "not")
        weight = _NO_WEIGHT if name == "where" else _heaviest(selectors)
        return IsAny(selectors, is_negated=name == "not"), weight
    if name in _NTH:
        return _parse_nth(name, inner, parents), _CLASS_WEIGHT
    if name == "has":
        relatives = [_parse_relative(piece, parents) for piece in split_at(inner, ",")]
        return Has(relatives), _heaviest([selector for _combinator, selector in relatives])
    if name == "lang":
        return Language(tuple(part.name for part in inner if part.kind in {"ident", "string"})), _CLASS_WEIGHT
    raise UnknownSelectorError


def _parse_inner_list(inner: Sequence[Token], parents: Sequence[Selector], *, is_forgiving: bool) -> Sequence[Selector]:
    found: list[Selector] = []
    for piece in split_at(inner, ","):
        try:
            found.append(_parse_complex(piece, parents))
        except UnknownSelectorError:
            if not is_forgiving:
                raise
    return found


def _parse_relative(tokens: list[Token], parents: Sequence[Selector]) -> tuple[str, Selector]:
    combinator, position = _read_combinator(tokens, 0)
    return combinator, _parse_complex(tokens[position:], parents)


def _parse_nth(name: str, inner: Sequence[Token], parents: Sequence[Selector]) -> Nth:
    split = next(
        (place for place, token in enumerate(inner) if token.kind == "ident" and token.name == "of"), len(inner)
    )
    form = re.sub(r"\s+", "", render_tokens(map(_with_sign, inner[:split]))).lower()
    form = form.replace("++", "+").replace("-+", "-").removeprefix("+")
    form = {"even": "2n", "odd": "2n+1"}.get(form, form)
    found = _NTH_FORM.fullmatch(form)
    if found is None:
        raise UnknownSelectorError
    among = _parse_inner_list(trim(inner[split + 1 :]), parents, is_forgiving=False) if split < len(inner) else ()
    if found[3]:
        return _nth(name, 0, int(found[3]), among)
    step = int(f"{found[1]}1") if found[1] in {"", "+", "-"} else int(found[1])
    return _nth(name, step, int(found[2] or 0), among)


def _with_sign(token: Token) -> Token:
    """In `2n+1` the sign is part of the second number, and rendering would drop it."""
    return Token("ident", f"{token.number:+g}{token.text}") if token.kind == "number" else token


def _nth(name: str, step: int, offset: int, among: Sequence[Selector] = ()) -> Nth:
    return Nth(step, offset, from_end="last" in name, of_type="type" in name, among=among)


def _heaviest(selectors: Sequence[Selector]) -> Specificity:
    return max((selector.specificity for selector in selectors), default=_NO_WEIGHT)


def _plus(one: Specificity, other: Specificity) -> Specificity:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
