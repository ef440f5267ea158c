"""Our own route to what models cost, for the terminal and scripts."""

from fastapi import APIRouter

from skales.app.cost_report import costs_to_json, load_report, parse_grouping, parse_since
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer

router = APIRouter(dependencies=[KnownCaller])


@router.get("/api/costs")
def show_costs(app: AppDep, since: str = "30d", by: str = "model") -> Answer:
    """Sums by `model`, `provider`, `purpose`, `session` or `day`, since `7d`, a date or `all`."""
    since_ms = parse_since(since, app.clock.now_ms())
    return costs_to_json(load_report(app.ledger, app.sessions, since_ms, parse_grouping(by)))
