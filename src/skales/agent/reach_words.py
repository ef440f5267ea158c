"""A grant's rule in words: everything it covers and everything it asks for, so that a person knows what they give."""

import json
from collections.abc import Iterator

from msgspec import Struct

from skales.data.grants import Grant, Reach, ReachKind

_WORDS_LIMIT = 160


class _Limit(Struct, frozen=True):
    """One more thing a rule asks for."""

    words: str


def describe_reach(tool: str, reach: Reach) -> str:
    """The rule in words: everything it covers and all it asks for."""
    return "; ".join((_describe_start(tool, reach), *(limit.words for limit in _describe_limits(reach))))


def describe_grant(grant: Grant) -> str:
    """A grant's rule in words; of one exact call it tells the call."""
    words = describe_reach(grant.tool, grant.reach)
    return f"{words}: {grant.about}" if grant.reach.kind is ReachKind.CALL and grant.about else words


def _describe_start(tool: str, reach: Reach) -> str:
    match reach.kind:
        case ReachKind.COMMAND if reach.folders:
            return f"commands that begin with `{reach.prefix}`, run in {reach.folders[0].folder} or below"
        case ReachKind.COMMAND:
            return f"commands that begin with `{reach.prefix}`"
        case ReachKind.PLACES if len(reach.folders) == 1 and not reach.origins:
            return f"{tool} in the folder {reach.folders[0].folder} and below"
        case ReachKind.PLACES if len(reach.origins) == 1 and not reach.folders:
            return f"{tool} at {_shown_origin(next(iter(reach.origins.values())))}"
        case ReachKind.PLACES:
            return f"calls of {tool}"
        case ReachKind.CALL:
            return f"this very call of {tool}, with the same arguments"
        case ReachKind.TOOL:
            return f"every call of {tool}"


def _describe_limits(reach: Reach) -> Iterator[_Limit]:
    if reach.kind is ReachKind.PLACES and len(reach.folders) + len(reach.origins) > 1:
        for at in reach.folders:
            yield _Limit(words=f"{at.argument} in the folder {at.folder} and below")
        for name, origin in reach.origins.items():
            yield _Limit(words=f"{name} at {_shown_origin(origin)}")
    for name, value in reach.fixed.items():
        match value:
            case True:
                yield _Limit(words=f"only with {name}")
            case None | False if reach.kind is ReachKind.PLACES:
                yield _Limit(words=f"never with {name}")
            case None | False | "" | []:
                pass
            case str():
                yield _Limit(words=f"only with {name} {value[:_WORDS_LIMIT]}")
            case _:
                yield _Limit(words=f"only with {name} {json.dumps(value)[:_WORDS_LIMIT]}")


def _shown_origin(origin: str) -> str:
    scheme, _, place = origin.partition("://")
    default = {"http": ":80", "https": ":443"}.get(scheme, "")
    return f"{scheme}://{place.removesuffix(default)}"
