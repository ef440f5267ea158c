"""Gathers the provider events of one burst: neighbouring text becomes one piece, so a burst costs little upstream."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from skales.core.errors import ProviderError
from skales.core.ports import ProviderEvent, ReasoningPiece, TextPiece


def gather_pieces(events: Iterable[ProviderEvent]) -> tuple[list[ProviderEvent], ProviderError | None]:
    """What came, and the failure that ended it: what was said before a failure is still given."""
    found: list[ProviderEvent] = []
    failure: ProviderError | None = None
    try:
        for event in events:
            found.append(event)  # noqa: PERF402 - what came before a failure must be kept
    except ProviderError as error:
        failure = error
    return (found if len(found) < 2 else list(_merge(found))), failure


def _merge(events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
    for kind, group in groupby(events, type):
        if kind is TextPiece or kind is ReasoningPiece:
            yield kind("".join(piece.text for piece in group if isinstance(piece, TextPiece | ReasoningPiece)))
        else:
            yield from group
