"""The compare page: one message, two to four models, their answers side by side; one of them can be gone on with.

Frames of the stream: `begin` (the empty columns), `text`, `think` and `wait` of a column, and `done` with the column's
answer as HTML. A page that leaves or stops closes the stream, which stops all of them; what they had said by then can
be fetched and gone on with.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, assert_never

import anyio.to_thread
from fastapi import APIRouter, Form, Response
from markupsafe import Markup

from skales.app.app import App
from skales.app.compare import MOST, Answered, Choice, Column, CompareEvent, Comparison, Grew, Thought, Waits
from skales.core.errors import InputError, NotFoundError
from skales.core.ids import SessionId
from skales.server.access import AppDep, PageSession
from skales.server.frame_views import Crumb
from skales.server.live import Frame
from skales.server.markdown import render_markdown
from skales.server.told import told
from skales.server.ui.compare_views import (
    CompareAnswer,
    CompareColumns,
    CompareHead,
    CompareOption,
    CompareOptions,
    ComparePage,
    ComparePick,
)
from skales.server.ui.frame import build_error_page, build_shell
from skales.server.ui.models import describe_model
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_duration, show_usage
from skales.server.ui.picker import check_choice
from skales.server.ui.provider_names import name_providers
from skales.server.ui.push import PushResponse
from skales.server.views import Screen, Trouble
from skales.server.words import N_, _

router = APIRouter(dependencies=[PageSession])

# Of one provider in the list; whoever wants another writes its id in a conversation's own picker.
_SHOWN = 100
_NEEDED = 2
_INCOMPLETE = {
    "stopped": N_("Stopped before the end"),
    "cut": N_("The connection broke off; the text so far was kept"),
    "length": N_("The model's limit for one answer was reached"),
    "failed": N_("An error ended this answer"),
}


@router.get("/compare", response_class=PageResponse)
def open_compare(app: AppDep, response: Response, session: str = "", q: str = "") -> str:
    """The page, from a conversation when one is named."""
    title = ""
    if session:
        try:
            title = app.sessions.load(SessionId(session)).title
        except NotFoundError:
            response.status_code = 404
            gone = Trouble(_("This conversation does not exist"), "", "/compare", _("Compare without one"))
            return render(build_error_page(app, _("Conversation not found"), gone))
    return render(build_page(app, session, title, q))


@router.post("/ui/compare")
async def compare(
    app: AppDep,
    choice: Annotated[list[str] | None, Form()] = None,
    text: Annotated[str, Form()] = "",
    session_id: Annotated[str, Form()] = "",
) -> PushResponse:
    """Ask them all. `choice` is `provider/model`, two to four times.

    Raises InputError, NotFoundError, ProviderError.
    """
    wanted = [value for value in choice or () if value.strip()]
    if len(wanted) != len(set(wanted)):
        raise InputError(_("The same model stands there twice"), hint=_("Choose different ones"))
    if not _NEEDED <= len(wanted) <= MOST:
        raise InputError(_("Choose two to four models"), code="bad_comparison")
    choices = await anyio.to_thread.run_sync(_read_choices, app, wanted)
    return PushResponse(_frames(app, await app.comparisons.begin(text, choices, session_id)))


@router.get("/ui/compare/{comparison_id}/{number}", response_class=PageResponse)
async def read_column(app: AppDep, comparison_id: str, number: int) -> str:
    """One answer as far as it came. Raises NotFoundError."""
    made = app.comparisons.find(comparison_id)
    if not 0 <= number < len(made.columns):
        raise NotFoundError(_("There is no such answer"))
    return await anyio.to_thread.run_sync(_render_answer, made, number)


@router.post("/ui/compare/{comparison_id}/{number}/keep")
async def keep(app: AppDep, comparison_id: str, number: int) -> dict[str, str]:
    """Go on with one answer. Raises NotFoundError, ConflictError when the conversation went on meanwhile."""
    return {"go": f"/chat/{await app.comparisons.keep(comparison_id, number)}"}


def build_page(app: App, session_id: str, title: str, text: str) -> ComparePage:
    """The page with the usual model and another one chosen. Reads the disk."""
    groups = tuple(
        CompareOptions(
            offer.label,
            tuple(
                CompareOption(f"{offer.provider_id}/{model}", model or _("its usual model"))
                for model in (offer.models or ("",))[:_SHOWN]
            ),
        )
        for offer in app.models.available()
    )
    chosen = _usual_picks(app, session_id, groups)
    return ComparePage(
        shell=build_shell(app, _("Compare models"), Screen.CHAT, current=session_id, crumbs=_crumbs(session_id, title)),
        session_id=session_id,
        title=title,
        text=text,
        picks=tuple(
            ComparePick(number, _("Model %(number)d", number=number + 1), chosen[number], is_needed=number < _NEEDED)
            for number in range(MOST)
        ),
        groups=groups,
    )


def _crumbs(session_id: str, title: str) -> Sequence[Crumb]:
    return (Crumb(f"/chat/{session_id}", title or _("New chat")),) if session_id else ()


def _usual_picks(app: App, session_id: str, groups: Sequence[CompareOptions]) -> list[str]:
    """Who answers anyway, the next best one beside it, and two free places."""
    session = app.sessions.load(SessionId(session_id)) if session_id else None
    facts = describe_model(app, session.provider if session else "", session.model if session else "")
    values = [option.value for group in groups for option in group.options]
    first = f"{facts.provider_id}/{facts.model}"
    ordered = [first] if first in values else []
    # One of another provider tells more than a sibling.
    ordered += [group.options[0].value for group in groups if group.options[0].value not in ordered]
    ordered += [value for value in values if value not in ordered]
    return [*ordered[:_NEEDED], *[""] * (MOST - min(len(ordered), _NEEDED))]


def _read_choices(app: App, values: Sequence[str]) -> list[Choice]:
    return [check_choice(app, *_split(value)) for value in values]


def _split(value: str) -> Choice:
    provider_id, _slash, model = value.partition("/")
    return provider_id, model


async def _frames(app: App, made: Comparison) -> AsyncGenerator[Frame, None]:
    label_of = name_providers(app)
    heads = tuple(
        CompareHead(number, column.chosen.model, label_of(column.chosen.provider_id))
        for number, column in enumerate(made.columns)
    )
    yield Frame("begin", {"id": made.id, "html": render(CompareColumns(made.id, made.text, heads))})
    async with aclosing(app.comparisons.stream(made)) as events:
        async for event in events:
            yield await _show(made, event)


async def _show(made: Comparison, event: CompareEvent) -> Frame:
    match event:
        case Grew(number, text):
            return Frame("text", {"column": number, "text": text})
        case Thought(number):
            return Frame("think", {"column": number})
        case Waits(number, text):
            return Frame("wait", {"column": number, "text": told(text)})
        case Answered(number):
            html = await anyio.to_thread.run_sync(_render_answer, made, number)
            return Frame("done", {"column": number, "html": html})
        case _:
            assert_never(event)


def _render_answer(made: Comparison, number: int) -> str:
    column = made.columns[number]
    facts = (show_duration(column.duration_ms), show_usage(column.usage))
    return render(
        CompareAnswer(
            comparison_id=made.id,
            number=number,
            model=column.chosen.model,
            html=Markup(render_markdown(column.text)),  # noqa: S704 - the renderer's promise
            reasoning=column.reasoning.strip(),
            facts=tuple(fact for fact in facts if fact),
            incomplete=_say_incomplete(column),
            can_keep=column.can_be_kept,
            trouble=Trouble(told(column.error.message), told(column.error.hint)) if column.error else None,
        )
    )


def _say_incomplete(column: Column) -> str:
    return _(_INCOMPLETE.get(column.incomplete, N_("Not complete"))) if column.incomplete and not column.error else ""
