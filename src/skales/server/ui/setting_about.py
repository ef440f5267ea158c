"""About: the version, and under which terms the parts may be used."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires

from skales import __version__
from skales.server.ui.setting_views import AboutPart, LicenceLine

_NAME_ENDS = " ;<>=!~["
# What the page ships beside Python packages; their texts lie in static/vendor.
_PAGE_PARTS = (
    LicenceLine("htmx", "4.0.1", "0BSD"),
    LicenceLine("Lucide", "1.62.0", "ISC"),
    LicenceLine("Mermaid", "11.17.2", "MIT"),
    LicenceLine("Wix Madefor Text", "", "OFL-1.1"),
)


def build_about() -> AboutPart:
    """Facts of this installation."""
    return AboutPart(__version__, platform.python_version(), (*_PAGE_PARTS, *_list_packages()))


@cache
def _list_packages() -> tuple[LicenceLine, ...]:
    """The packages that Skales itself asks for, as installed."""
    try:
        wanted = requires("skales") or []
    except PackageNotFoundError:  # run from a folder that was never installed
        return ()
    lines: list[LicenceLine] = []
    for text in wanted:
        try:
            found = distribution(_name_of(text)).metadata
        except PackageNotFoundError:
            continue
        stated = found.get_all("License-Expression") or _classified(found.get_all("Classifier") or [])
        lines.append(LicenceLine(found["Name"], found["Version"], stated[0] if stated else "?"))
    return tuple(sorted(lines, key=lambda line: line.name.lower()))


def _name_of(requirement: str) -> str:
    ends = [place for sign in _NAME_ENDS if (place := requirement.find(sign)) >= 0]
    return requirement[: min(ends)] if ends else requirement


def _classified(classifiers: list[str]) -> list[str]:
    """`MIT License` of `License :: OSI Approved :: MIT License`."""
    return [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
