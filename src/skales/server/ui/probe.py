"""Finding out on the page what a model can, by trying: the button of a provider's card, its progress, its badges.

Frames of the stream: `progress` (label, done, total, words), `finding` (a badge as HTML) and `end` (the part anew).
A page that leaves stops the probe; what it had found by then is not kept.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Annotated, assert_never

import anyio.to_thread
from fastapi import APIRouter, Form

from skales.app.app import App
from skales.app.local_provider import LOCAL_PROVIDER
from skales.core.errors import ProviderError, SkalesError
from skales.core.events import Progress
from skales.core.json import JsonValue
from skales.data.model_probes import ProbeResult
from skales.providers.catalog import find_entry
from skales.providers.probe import ProbeFinding
from skales.server.access import AppDep, PageSession
from skales.server.live import Frame
from skales.server.told import told
from skales.server.ui.pages import render
from skales.server.ui.phrases import show_moment, show_number
from skales.server.ui.probe_views import FindingView
from skales.server.ui.provider_views import ProbeBadge, ProbePart
from skales.server.ui.push import PushResponse
from skales.server.views import Trouble
from skales.server.words import N_, _

router = APIRouter(dependencies=[PageSession])

SUBJECTS = {
    "tools": N_("calls tools"),
    "parallel_calls": N_("calls several at once"),
    "json": N_("writes JSON to a schema"),
    "vision": N_("sees pictures"),
    "context": N_("holds its context"),
}
_TRIES = {
    "tools": N_("Trying to call a tool"),
    "parallel_calls": N_("Trying to call two tools at once"),
    "json": N_("Trying to write JSON"),
    "vision": N_("Trying to see a picture"),
    "context": N_("Trying longer and longer texts"),
    "done": N_("Done"),
}
# Colour and picture of yes, no, and not known.
_LOOKS = {True: ("good", "check"), False: ("", "close"), None: ("warn", "help")}


@router.post("/ui/settings/providers/{provider_id}/probe")
async def probe(app: AppDep, provider_id: str, model: Annotated[str, Form()] = "") -> PushResponse:
    """Try everything with a model, the chosen one when none is named. Raises NotFoundError."""
    find_entry(provider_id)
    return PushResponse(_frames(app, provider_id, model.strip()))


def build_probe(app: App, provider_id: str, *, trouble: Trouble | None = None) -> ProbePart | None:
    """The part of a card; None for the embedded model, which is known already. Reads the disk."""
    if provider_id == LOCAL_PROVIDER:
        return None
    try:
        model = app.models.choose(provider_id).model
    except ProviderError:
        model = ""
    result = app.models.measured(provider_id, model) if model else None
    if result is None:
        return ProbePart(provider_id, model, trouble=trouble)
    when = show_moment(result.probed_ms, app.clock.now_ms()).words
    return ProbePart(provider_id, model, tuple(_badges(result)), _("measured at %(when)s", when=when), trouble)


async def _frames(app: App, provider_id: str, model: str) -> AsyncGenerator[Frame, None]:
    trouble: Trouble | None = None
    try:
        async with aclosing(app.models.probe(provider_id, model)) as steps:
            async for step in steps:
                match step:
                    case Progress():
                        yield Frame("progress", _describe(step))
                    case ProbeFinding():
                        yield Frame("finding", {"html": render(_show(step))})
                    case ProbeResult():
                        pass
                    case _:
                        assert_never(step)
    except SkalesError as error:
        trouble = Trouble(told(error.message), told(error.hint))
    part = await anyio.to_thread.run_sync(partial(build_probe, app, provider_id, trouble=trouble))
    yield Frame("end", {"html": render(part) if part else ""})


def _describe(progress: Progress) -> JsonValue:
    """How far it is, for a bar and in words."""
    words = _("%(done)s of %(total)s", done=show_number(progress.done), total=show_number(progress.total))
    label = _(_TRIES.get(progress.label, progress.label))
    return {"label": label, "done": progress.done, "total": progress.total, "words": words}


def _show(finding: ProbeFinding) -> FindingView:
    return FindingView(_badge(finding.subject, finding.outcome, told(finding.detail)))


def _badges(result: ProbeResult) -> Sequence[ProbeBadge]:
    outcomes = {
        "tools": result.tools,
        "parallel_calls": result.parallel_calls,
        "json": result.json,
        "vision": result.vision,
    }
    badges = [_badge(subject, outcome) for subject, outcome in outcomes.items()]
    if result.context_tokens:
        words = _("%(size)s tokens of context", size=show_number(result.context_tokens))
        badges.append(ProbeBadge(words, "", "info"))
    return badges


def _badge(subject: str, outcome: bool | None, detail: str = "") -> ProbeBadge:
    kind, symbol = _LOOKS[outcome]
    label = _(SUBJECTS.get(subject, subject))
    if outcome is False:
        label = _("%(ability)s: no", ability=label)
    elif outcome is None:
        label = _("%(ability)s: not known", ability=label)
    return ProbeBadge(label, kind, symbol, detail)
