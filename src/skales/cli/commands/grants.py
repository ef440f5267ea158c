"""`skales grants`: what tools may do without asking again."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import aside, title
from skales.core.clock import to_datetime
from skales.core.json import JsonObject, as_int, as_list, as_object, as_text


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    match arguments.action:
        case "revoke":
            return asyncio.run(_revoke(arguments.id))
        case "restore":
            return asyncio.run(_restore(arguments.id))
        case _:
            return asyncio.run(_list(as_json="json" in arguments))


async def _list(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("grants")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    grants = [as_object(grant) for grant in as_list(report["grants"])]
    title(f"{len(grants)} {'grant' if len(grants) == 1 else 'grants'}")
    for grant in grants:
        print(f"  {as_text(grant['id'])}  {as_text(grant['covers'])}")
        aside(f"    {_where(grant)}; {_until(grant)}; {_used(grant)}")
    if grants:
        aside("\n  Take one back with `skales grants revoke ID`")
    return 0


async def _revoke(grant_id: str) -> int:
    async with open_backend() as backend:
        revoked = await backend.revoke_grant(grant_id)
    print(f"Revoked: {as_text(revoked['covers']) or grant_id}. The next such call asks again")
    aside(f"Undo with `skales grants restore {grant_id}`")
    return 0


async def _restore(grant_id: str) -> int:
    async with open_backend() as backend:
        restored = await backend.restore_grant(grant_id)
    print(f"Allowed again: {as_text(restored['covers'])}")
    return 0


def _where(grant: JsonObject) -> str:
    place = f"in the conversation {as_text(grant['session'])}" if grant["session"] else "everywhere"
    given = f", given {_moment(as_int(grant['createdAt']))}" if grant["createdAt"] else ""
    surface = f" by {as_text(grant['surface'])}" if grant["surface"] else ""
    return f"{place}{given}{surface}"


def _until(grant: JsonObject) -> str:
    return f"until {_moment(as_int(grant['expiresAt']))}" if grant["expiresAt"] else "until revoked"


def _used(grant: JsonObject) -> str:
    count = as_int(grant["uses"])
    if not count:
        return "never used"
    return f"used {count} {'time' if count == 1 else 'times'}, last {_moment(as_int(grant['lastUsedAt']))}"


def _moment(moment_ms: int) -> str:
    return f"{to_datetime(moment_ms):%Y-%m-%d %H:%M}"
