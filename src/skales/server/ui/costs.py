"""The costs page: what models cost today and lately, by what, and the ceilings; and the single calls as a file.

Every amount is an estimate from list prices, and says so. A call without a known price is named, never counted as free.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from msgspec import Struct

from skales.app.app import App
from skales.app.cost_report import Grouping, add_up, find_titles, name_group, parse_since
from skales.core.clock import to_datetime
from skales.core.ports import Purpose
from skales.data.ledger import CostSum, LedgerEntry, sum_all
from skales.server.access import AppDep, PageSession
from skales.server.ui.cost_views import CostCeiling, CostPeriod, CostRow, CostsPage, CostTable
from skales.server.ui.frame import build_shell
from skales.server.ui.history import chat_address
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_number, show_usd
from skales.server.ui.provider_names import LabelOf, name_providers
from skales.server.views import Screen
from skales.server.words import N_, _, ngettext

router = APIRouter(dependencies=[PageSession])

_PERIODS = {1: N_("Today"), 7: N_("Last 7 days"), 30: N_("Last 30 days")}
_USUAL_DAYS = 30
_PURPOSES = {
    Purpose.CHAT: N_("Answers in chats"),
    Purpose.TITLE: N_("Titles"),
    Purpose.SUMMARY: N_("Summaries"),
    Purpose.PROBE: N_("Trying what a model can do"),
    Purpose.COMPARE: N_("Comparisons"),
}
_HEADINGS = {
    Grouping.MODEL: N_("By model"),
    Grouping.PROVIDER: N_("By provider"),
    Grouping.PURPOSE: N_("By purpose"),
    Grouping.SESSION: N_("By conversation"),
    Grouping.DAY: N_("By day"),
}
_MOST_ROWS = 15
_MOST_NAMED = 5
_COLUMNS = (
    "time",
    "conversation",
    "provider",
    "model",
    "purpose",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "tokens_estimated",
    "cost_usd_estimated",
)
# A spreadsheet takes what begins like this for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Names(Struct, frozen=True):
    """What people call conversations and providers."""

    titles: Mapping[str, str]
    label_of: LabelOf


@router.get("/costs", response_class=PageResponse)
def open_costs(app: AppDep, days: int = _USUAL_DAYS) -> str:
    """Tiles for the usual times, and tables for one of them."""
    days = days if days in _PERIODS else _USUAL_DAYS
    entries = list(app.ledger.entries(_since_ms(app, max(_PERIODS))))
    shown = [entry for entry in entries if entry.when_ms >= _since_ms(app, days)]
    total = sum_all(shown)
    return render(
        CostsPage(
            shell=build_shell(app, _("Costs"), Screen.COSTS),
            periods=tuple(_build_period(app, number, entries, is_current=number == days) for number in _PERIODS),
            tables=_build_tables(app, shown),
            ceilings=_build_ceilings(app),
            ceilings_address="/settings#setting-sessionBudgetUsd",
            export_address=f"/ui/costs/export?days={days}",
            unpriced=_name_unpriced(shown, name_providers(app)),
            estimated=_say_estimated(total),
        )
    )


@router.get("/ui/costs/export")
def export_costs(app: AppDep, days: int = _USUAL_DAYS) -> StreamingResponse:
    """The single calls as CSV."""
    entries = app.ledger.entries(_since_ms(app, days if days in _PERIODS else _USUAL_DAYS))
    name = f"skales-costs-{to_datetime(app.clock.now_ms()):%Y-%m-%d}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return StreamingResponse(_write_csv(entries), media_type="text/csv; charset=utf-8", headers=headers)


def _write_csv(entries: Iterator[LedgerEntry]) -> Iterator[str]:
    yield _line(_COLUMNS)
    for entry in entries:
        yield _line(
            (
                to_datetime(entry.when_ms).isoformat(timespec="seconds"),
                _plain(entry.session_id),
                _plain(entry.provider),
                _plain(entry.model),
                _plain(entry.purpose),
                str(entry.input_tokens),
                str(entry.cached_tokens),
                str(entry.output_tokens),
                "yes" if entry.estimated_tokens else "no",
                "unknown" if entry.cost_usd is None else f"{entry.cost_usd:.8f}",
            )
        )


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _since_ms(app: App, days: int) -> int:
    return parse_since(f"{days}d", app.clock.now_ms())


def _build_period(app: App, days: int, entries: Sequence[LedgerEntry], *, is_current: bool) -> CostPeriod:
    since_ms = _since_ms(app, days)
    total = sum_all(entry for entry in entries if entry.when_ms >= since_ms)
    facts = ngettext("%(num)d call", "%(num)d calls", total.calls)
    return CostPeriod(_(_PERIODS[days]), _show_amount(total), facts, f"/costs?days={days}", is_current)


def _build_tables(app: App, entries: Sequence[LedgerEntry]) -> tuple[CostTable, ...]:
    if not entries:
        return ()
    names = _Names(find_titles(app.sessions), name_providers(app))
    return tuple(_build_table(by, entries, names) for by in _HEADINGS)


def _build_table(by: Grouping, entries: Sequence[LedgerEntry], names: _Names) -> CostTable:
    sums = add_up(entries, by)
    shown = sums[: _MOST_ROWS * 2 if by is Grouping.DAY else _MOST_ROWS]
    dearest_usd = max(row.cost_usd for row in sums)
    samples = {name_group(entry, by): entry for entry in entries}
    rows = tuple(
        CostRow(
            name=_name(by, samples[row.name], names),
            amount=_show_amount(row),
            facts=_show_facts(row),
            share=max(1, round(row.cost_usd * 100 / dearest_usd)) if row.cost_usd else 0,
            address=chat_address(row.name) if by is Grouping.SESSION and row.name in names.titles else "",
        )
        for row in shown
    )
    return CostTable(_(_HEADINGS[by]), rows, len(sums) - len(shown))


def _name(by: Grouping, entry: LedgerEntry, names: _Names) -> str:
    match by:
        case Grouping.MODEL:
            return _("%(model)s (%(provider)s)", model=entry.model, provider=names.label_of(entry.provider))
        case Grouping.PROVIDER:
            return names.label_of(entry.provider)
        case Grouping.PURPOSE:
            known = {purpose.value: words for purpose, words in _PURPOSES.items()}
            return _(known[entry.purpose]) if entry.purpose in known else entry.purpose
        case Grouping.SESSION:
            if not entry.session_id:
                return _("Outside of conversations")
            if entry.session_id not in names.titles:
                return _("A deleted conversation (%(id)s)", id=entry.session_id)
            return names.titles[entry.session_id] or _("New chat")
        case Grouping.DAY:
            return name_group(entry, by)


def _show_amount(row: CostSum) -> str:
    if row.calls and row.unpriced == row.calls:
        return _("unknown")
    return show_usd(row.cost_usd)


def _show_facts(row: CostSum) -> str:
    facts = [
        ngettext("%(num)d call", "%(num)d calls", row.calls),
        _("%(count)s tokens in", count=show_number(row.input_tokens)),
        _("%(count)s out", count=show_number(row.output_tokens)),
    ]
    if 0 < row.unpriced < row.calls:
        facts.append(ngettext("%(num)d without a known price", "%(num)d without a known price", row.unpriced))
    return ", ".join(facts)


def _name_unpriced(entries: Sequence[LedgerEntry], label_of: LabelOf) -> str:
    missing = [entry for entry in entries if entry.cost_usd is None]
    if not missing:
        return ""
    names = list(dict.fromkeys(f"{entry.model} ({label_of(entry.provider)})" for entry in missing))
    named = ", ".join([*names[:_MOST_NAMED], *([_("others")] if len(names) > _MOST_NAMED else [])])
    return ngettext(
        "%(num)d call is in no sum and under no ceiling, because no price is known for %(models)s.",
        "%(num)d calls are in no sum and under no ceiling, because no price is known for %(models)s.",
        len(missing),
        models=named,
    )


def _say_estimated(total: CostSum) -> str:
    if not total.estimated:
        return ""
    return ngettext(
        "The endpoint told no tokens for %(num)d call; they are estimated from its length.",
        "The endpoints told no tokens for %(num)d calls; they are estimated from their length.",
        total.estimated,
    )


def _build_ceilings(app: App) -> tuple[CostCeiling, ...]:
    settings = app.settings.load()
    session_usd, day_usd = settings.session_budget_usd, settings.daily_budget_usd
    each = _("%(amount)s each", amount=show_usd(session_usd)) if session_usd else _("No ceiling")
    conversation = CostCeiling(_("Conversations"), each)
    if not day_usd:
        return conversation, CostCeiling(_("Today"), _("No ceiling"))
    state = app.spending.today()
    whole_usd = day_usd + state.extra_usd
    words = _("%(spent)s of %(whole)s", spent=show_usd(state.spent_usd), whole=show_usd(whole_usd))
    share = min(100, round(state.spent_usd * 100 / whole_usd))
    return conversation, CostCeiling(_("Today"), words, share, has_bar=True)
