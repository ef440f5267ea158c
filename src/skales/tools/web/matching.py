"""Which elements a selector matches.

Own code, because a page chooses its selectors and the parser library's matcher takes exponential time on hostile ones.
Here a step of a selector is judged once per element, and all steps together are bounded.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import assert_never

from skales.core.errors import ToolError
from skales.tools.web.dom import Element, Page
from skales.tools.web.selectors import (
    Compound,
    Has,
    HasAttribute,
    HasClass,
    HasId,
    HasTag,
    IsAny,
    Language,
    Never,
    Nth,
    Selector,
    State,
    Test,
)

# An ordinary page takes some ten thousand steps; a million take a few seconds.
_MOST_STEPS = 1_000_000
_MOST_STEPS_EACH = 10
_CONTROLS = {"button", "fieldset", "input", "optgroup", "option", "select", "textarea"}
_FIRST_OF_TYPE = Nth(0, 1, from_end=False, of_type=True)
_LAST_OF_TYPE = Nth(0, 1, from_end=True, of_type=True)


def too_complicated() -> ToolError:
    """The error for a page whose styles would take too long to judge."""
    return ToolError("The page's styles are too complicated to tell what it hides", hint="Try another page")


class Matcher:
    """Matches selectors against one page, and remembers what it found out."""

    def __init__(self, page: Page, *, most_steps: int = 0) -> None:
        """Look over the page. `most_steps` bounds the work, 0 by the page's size."""
        self._fold: Callable[[str], str] = str.lower if page.is_quirks else str
        self._root = page.root
        self._steps = 0
        self._by_tag: dict[str, list[Element]] = {}
        self._by_class: dict[str, list[Element]] = {}
        self._by_id: dict[str, list[Element]] = {}
        self._classes: dict[Element, frozenset[str]] = {}
        self._known: dict[tuple[Selector, int, Element], bool] = {}
        self._places: dict[tuple[object, Element], Mapping[Element, tuple[int, int]]] = {}
        self._languages: dict[Element, str] = {}
        self._having: dict[Has, set[Element]] = {}
        self._all: list[Element] = list(page.root.walk())
        self._most_steps = most_steps or _MOST_STEPS + _MOST_STEPS_EACH * len(self._all)
        for element in self._all:
            self._note(element)

    def select(self, selector: Selector) -> Sequence[Element]:
        """Every element it matches, in document order."""
        last = selector.compounds[-1]
        found = self._candidates(last)
        if len(selector.compounds) == len(last) == 1 and isinstance(last[0], HasTag | HasClass | HasId):
            return found
        return [element for element in found if self.matches(element, selector)]

    def matches(self, element: Element, selector: Selector) -> bool:
        """Whether the selector means this element."""
        return self._holds(element, selector, len(selector.compounds) - 1)

    def _note(self, element: Element) -> None:
        names = frozenset(self._fold(name) for name in element.attributes.get("class", "").split())
        self._classes[element] = names
        self._by_tag.setdefault(element.tag, []).append(element)
        for name in names:
            self._by_class.setdefault(name, []).append(element)
        if known := element.attributes.get("id"):
            self._by_id.setdefault(self._fold(known), []).append(element)

    def _candidates(self, compound: Compound) -> Sequence[Element]:
        """The fewest elements that can match, by the most telling of the compound's tests."""
        found: Sequence[Element] = self._all
        for test in compound:
            match test:
                case HasId():
                    narrowed = self._by_id.get(self._fold(test.id), [])
                case HasClass():
                    narrowed = self._by_class.get(self._fold(test.name), [])
                case HasTag():
                    narrowed = self._by_tag.get(test.tag, [])
                case _:
                    continue
            found = narrowed if len(narrowed) < len(found) else found
        return found

    def _holds(self, element: Element, selector: Selector, step: int) -> bool:
        """Whether the selector up to this compound matches the element."""
        self._spend(1)
        if not self._passes_all(element, selector.compounds[step]):
            return False
        if step == 0:
            return True
        match selector.combinators[step - 1]:
            case ">":
                return element.parent is not None and self._holds(element.parent, selector, step - 1)
            case "+":
                return element.previous is not None and self._holds(element.previous, selector, step - 1)
            case "~":
                return self._holds_along(element, selector, step - 1, lambda one: one.previous)
            case _:
                return self._holds_along(element, selector, step - 1, lambda one: one.parent)

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > self._most_steps:
            raise too_complicated()

    def _holds_along(
        self, element: Element, selector: Selector, step: int, before: Callable[[Element], Element | None]
    ) -> bool:
        """Whether it matches anything up the line from here; every element of the line learns the answer."""
        line: list[Element] = []
        answer, place = False, before(element)
        while place is not None:
            known = self._known.get((selector, step, place))
            if known is not None:
                answer = known
                break
            line.append(place)
            if self._holds(place, selector, step):
                answer = True
                break
            place = before(place)
        # Below a match the answer is yes for all; without one it is no for all.
        for passed in line:
            self._known[selector, step, passed] = answer
        return answer

    def _passes(self, element: Element, test: Test) -> bool:
        match test:
            case HasTag():
                return element.tag == test.tag
            case HasId():
                return self._fold(element.attributes.get("id", "")) == self._fold(test.id)
            case HasClass():
                return self._fold(test.name) in self._classes[element]
            case HasAttribute():
                return _has_attribute(element, test)
            case State():
                return self._has_state(element, test.name)
            case Never():
                return False
            case _:
                return self._passes_in_context(element, test)

    def _passes_in_context(self, element: Element, test: IsAny | Has | Nth | Language) -> bool:
        match test:
            case IsAny():
                return any(self.matches(element, one) for one in test.selectors) is not test.is_negated
            case Has():
                return element in self._elements_having(test)
            case Nth():
                return self._is_nth(element, test)
            case Language():
                return self._speaks(element, test.codes)
            case _:
                assert_never(test)

    def _elements_having(self, test: Has) -> set[Element]:
        if test not in self._having:
            found: set[Element] = set()
            for leading, selector in test.relatives:
                found |= self._starts(leading, selector)
            self._having[test] = found
        return self._having[test]

    def _starts(self, leading: str, selector: Selector) -> set[Element]:
        """The elements from which the relative selector leads to something, walked backwards from what it ends at."""
        reached: set[Element] = set()
        for compound, combinator in zip(
            reversed(selector.compounds), reversed((leading, *selector.combinators)), strict=True
        ):
            among = reached if compound is not selector.compounds[-1] else self._candidates(compound)
            matching = [element for element in among if self._passes_all(element, compound)]
            self._spend(len(among))
            reached = set()
            for element in matching:
                _add_havers(reached, element, combinator)
        return reached

    def _passes_all(self, element: Element, compound: Compound) -> bool:
        return all(self._passes(element, test) for test in compound)

    def _is_nth(self, element: Element, test: Nth) -> bool:
        if element.parent is None:
            return False
        place = self._places_under(element.parent, test).get(element)
        if place is None:
            return False
        distance = place[test.from_end] - test.offset
        return distance == 0 if test.step == 0 else distance % test.step == 0 and distance // test.step >= 0

    def _places_under(self, parent: Element, test: Nth) -> Mapping[Element, tuple[int, int]]:
        """Each child's place from the start and from the end, counted from 1, among those that the test counts."""
        key = (test if test.among else test.of_type, parent)
        if key not in self._places:
            counted: dict[str, list[Element]] = {}
            for child in parent.elements:
                if not test.among or any(self.matches(child, one) for one in test.among):
                    counted.setdefault(child.tag if test.of_type else "", []).append(child)
            self._places[key] = {
                child: (place, len(group) + 1 - place)
                for group in counted.values()
                for place, child in enumerate(group, start=1)
            }
        return self._places[key]

    def _has_state(self, element: Element, name: str) -> bool:
        attributes = element.attributes
        match name:
            case "root" | "scope":
                return element is self._root
            case "empty":
                return not any(isinstance(child, Element) or child.text for child in element.children)
            case "only-child":
                return element.parent is not None and len(element.parent.elements) == 1
            case "only-of-type":
                return self._is_nth(element, _FIRST_OF_TYPE) and self._is_nth(element, _LAST_OF_TYPE)
            case "link" | "any-link":
                return element.tag in {"a", "area"} and "href" in attributes
            case "checked":
                return "checked" in attributes or "selected" in attributes
            case "disabled" | "required" | "open":
                return name in attributes
            case "enabled":
                return element.tag in _CONTROLS and "disabled" not in attributes
            case "optional":
                return element.tag in _CONTROLS and "required" not in attributes
            case _:
                # `defined`: a page's own elements count as if its script had run.
                return True

    def _speaks(self, element: Element, codes: Sequence[str]) -> bool:
        if not self._languages:
            for one in self._all:
                above = self._languages[one.parent] if one.parent else ""
                self._languages[one] = one.attributes.get("lang", above).lower()
        spoken = self._languages[element]
        return any(spoken == code or spoken.startswith(f"{code}-") for code in codes)


def _add_havers(found: set[Element], element: Element, combinator: str) -> None:
    match combinator:
        case ">":
            found.update([element.parent] if element.parent else [])
        case "+":
            found.update([element.previous] if element.previous else [])
        case "~":
            _add_until_known(found, element.earlier())
        case _:
            _add_until_known(found, element.ancestors())


def _add_until_known(found: set[Element], line: Iterable[Element]) -> None:
    for element in line:
        if element in found:
            return
        found.add(element)


def _has_attribute(element: Element, test: HasAttribute) -> bool:
    value = element.attributes.get(test.name)
    if value is None or not test.sign:
        return value is not None
    wanted = test.value
    if test.is_caseless:
        value, wanted = value.lower(), wanted.lower()
    match test.sign:
        case "=":
            return value == wanted
        case "~=":
            return wanted in value.split()
        case "|=":
            return value == wanted or value.startswith(f"{wanted}-")
        case "^=":
            return bool(wanted) and value.startswith(wanted)
        case "$=":
            return bool(wanted) and value.endswith(wanted)
        case _:
            return bool(wanted) and wanted in value
