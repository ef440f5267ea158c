"""The first run: language, who answers, what may be done and where, a first task. Each step is kept when it is taken.

Plain forms, so that it works without scripts; it can be left, come back to, and played again. Spec: ui-surfaces.md,
"Onboarding".
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel

from skales.app.app import App
from skales.app.local_provider import LOCAL_PROVIDER
from skales.core.errors import InputError, ProviderError, SkalesError
from skales.data.setting_faults import RawSettings
from skales.data.setting_shapes import FileAccess
from skales.providers.catalog import KeyNeed, load_catalog
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.bootstrap_views import (
    AnswererStep,
    FoundLocal,
    LanguageStep,
    Option,
    Progression,
    SafetyStep,
    StepMark,
    Task,
    TaskStep,
)
from skales.server.ui.frame import pick_look
from skales.server.ui.models import describe_model, describe_starter
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.provider_keys import read_key
from skales.server.ui.provider_names import name_provider
from skales.server.ui.setting_table import FIRST_MODES
from skales.server.views import Trouble
from skales.server.words import LANGUAGES, N_, _, language

router = APIRouter(dependencies=[PageSession])

DONE = "done"
_STEPS = {
    "language": N_("Language"),
    "answerer": N_("Who answers"),
    "safety": N_("What it may do"),
    "tasks": N_("First task"),
}
# Folders of the person's home that are likely to hold what they want to work on.
_USUAL_FOLDERS = ("Documents", "Dokumente", "Desktop", "Downloads", "Projects", "projects", "src")
_Text = Annotated[str, Form()]


class ProviderForm(BaseModel):
    """What was filled in for a provider; with `anyway` the connection is not tried."""

    provider_id: str = ""
    api_key: str = ""
    model: str = ""
    base_url: str = ""
    anyway: bool = False


def wants_first_run(app: App) -> bool:
    """Whether somebody opens the program who has not been asked, nor used it before. Reads the disk."""
    settings = app.settings.load()
    if settings.onboarding == DONE:
        return False
    return bool(settings.onboarding) or not (settings.providers or app.sessions.count())


@router.get("/bootstrap", response_class=PageResponse)
async def open_step(app: AppDep, step: str = "") -> str:
    """The step named, else the one that was reached."""
    reached = app.settings.load().onboarding
    return await _show(app, step if step in _STEPS else reached if reached in _STEPS else "language")


@router.post("/bootstrap/skip")
def skip(app: AppDep) -> RedirectResponse:
    """Leave the rest; everything can be chosen in the settings later."""
    _reach(app, DONE)
    return _lead_to("/chat")


@router.post("/bootstrap/language", response_model=None)
def choose_language(app: AppDep, locale: _Text) -> Response:
    """Speak the chosen language from here on. Raises InputError for one that there is none of."""
    if locale not in LANGUAGES:
        raise InputError(_("There is no such language"))
    app.settings.set_value("locale", locale)
    return _go_on(app, "answerer")


@router.post("/bootstrap/answerer/local", response_model=None)
def choose_starter(app: AppDep) -> Response:
    """Let the starter model answer."""
    app.settings.set_provider(LOCAL_PROVIDER, activate=True)
    return _go_on(app, "safety")


@router.post("/bootstrap/answerer/found", response_model=None)
def choose_found(app: AppDep, provider_id: _Text, base_url: _Text, model: _Text = "") -> Response:
    """Let a server answer that runs on this computer."""
    app.settings.set_provider(provider_id, base_url=base_url, model=model, activate=True)
    return _go_on(app, "safety")


@router.post("/bootstrap/answerer/provider", response_model=None)
async def choose_provider(app: AppDep, filled: Annotated[ProviderForm, Form()]) -> Response:
    """Let a provider answer once its key proves good, or `anyway`: without a network nothing can be proven."""
    try:
        await anyio.to_thread.run_sync(_keep_provider, app, filled)
        if not filled.anyway:
            await app.models.test(filled.provider_id)
        app.settings.set_provider(filled.provider_id, activate=True)
    except (ProviderError, InputError) as error:
        trouble = Trouble(told(error.message), told(error.hint))
        return _refuse(await _show(app, "answerer", trouble=trouble, filled=filled))
    return _go_on(app, "safety")


@router.post("/bootstrap/safety", response_model=None)
async def choose_safety(app: AppDep, safety_mode: _Text, folder: _Text = "") -> Response:
    """Keep how much runs unasked, and one folder more to work in."""
    try:
        await anyio.to_thread.run_sync(_keep_rules, app, safety_mode, folder.strip())
    except SkalesError as error:
        trouble = Trouble(told(error.message), told(error.hint))
        return _refuse(await _show(app, "safety", trouble=trouble, folder=folder))
    return _go_on(app, "tasks")


@router.post("/bootstrap/tasks", response_model=None)
async def begin(app: AppDep, text: _Text = "") -> Response:
    """Begin with a task, or with an empty chat; the first run is over."""
    await anyio.to_thread.run_sync(_reach, app, DONE)
    if not text.strip():
        return _lead_to("/chat")
    session = await anyio.to_thread.run_sync(app.sessions.create)
    await app.turns.start(session.id, text)
    return _lead_to(f"/chat/{session.id}")


async def _show(
    app: App, step: str, *, trouble: Trouble | None = None, filled: ProviderForm | None = None, folder: str = ""
) -> str:
    """A step's page; with `trouble` it was refused, and what was filled in stands there again, but for the key."""
    found = await app.models.detect_local() if step == "answerer" else ()
    settings = app.settings.load()
    locals_here = tuple(
        FoundLocal(
            server.provider_id,
            name_provider(settings, server.provider_id),
            server.base_url,
            tuple(model.id for model in server.models),
        )
        for server in found
        if not server.needs_key
    )

    def build() -> str:
        match step:
            case "language":
                return render(_language_step(app))
            case "answerer":
                return render(_answerer_step(app, locals_here, trouble, filled or ProviderForm()))
            case "safety":
                return render(_safety_step(app, trouble, folder))
            case _:
                return render(_task_step(app))

    return await anyio.to_thread.run_sync(build)


def _refuse(page: str) -> Response:
    return PageResponse(page, status_code=422)


def _language_step(app: App) -> LanguageStep:
    languages = tuple(Option(tag, name, "", tag == language()) for tag, name in LANGUAGES.items())
    return LanguageStep(_progression(app, "language"), languages)


def _answerer_step(
    app: App, found: Sequence[FoundLocal], trouble: Trouble | None, filled: ProviderForm
) -> AnswererStep:
    providers = tuple(
        Option(name, entry.label, entry.base_url, name == filled.provider_id)
        for name, entry in load_catalog().items()
        if entry.key is not KeyNeed.NONE or name == "custom"
    )
    return AnswererStep(
        _progression(app, "answerer"), describe_starter(app), found, providers, filled.model, filled.base_url, trouble
    )


def _safety_step(app: App, trouble: Trouble | None, folder: str) -> SafetyStep:
    settings = app.settings.load()
    home = Path.home()
    return SafetyStep(
        progression=_progression(app, "safety"),
        modes=tuple(
            Option(mode.value, _(mode.label), _(mode.help), mode.value == settings.safety_mode) for mode in FIRST_MODES
        ),
        workspace=str(app.directory.workspace),
        folder=folder or next(iter(settings.allowed_folders), ""),
        suggestions=tuple(str(home / name) for name in _USUAL_FOLDERS if (home / name).is_dir()),
        trouble=trouble,
    )


def _task_step(app: App) -> TaskStep:
    settings = app.settings.load()
    folder = next(iter(settings.allowed_folders), str(app.directory.workspace))
    facts = describe_model(app)
    return TaskStep(_progression(app, "tasks"), folder, first_tasks(folder), facts.model or facts.provider)


def first_tasks(folder: str) -> Sequence[Task]:
    """Three things worth doing in a folder, as messages in the person's language."""
    return (
        Task(
            _("Get an overview"), _("What is in %(folder)s? Group it by kind and name the newest files.", folder=folder)
        ),
        Task(
            _("Find what takes up space"),
            _("Which are the five largest files in %(folder)s, and what are they?", folder=folder),
        ),
        Task(
            _("Understand a document"),
            _("Read the newest text or Markdown file in %(folder)s and sum it up in five sentences.", folder=folder),
        ),
    )


def _keep_provider(app: App, filled: ProviderForm) -> None:
    key = read_key(filled.api_key, app.settings.load().provider(filled.provider_id).api_key)
    app.settings.set_provider(filled.provider_id, api_key=key or None, model=filled.model, base_url=filled.base_url)


def _keep_rules(app: App, safety_mode: str, folder: str) -> None:
    """Both in one write. Raises InputError."""
    if folder and not Path(folder).expanduser().is_dir():
        raise InputError(
            _("There is no folder %(folder)s", folder=folder), hint=_("Enter the full path of one that exists")
        )

    def change(raw: RawSettings) -> None:
        raw["safetyMode"] = safety_mode
        if folder:
            known = raw.get("allowedFolders")
            others = [name for name in known if name != folder] if isinstance(known, list) else []
            raw["allowedFolders"] = [folder, *others]
            raw["fileAccessMode"] = FileAccess.CUSTOM.value

    app.settings.update(change)


def _progression(app: App, current: str) -> Progression:
    names = list(_STEPS)
    place = names.index(current)
    theme, accent = pick_look(app)
    marks = tuple(
        StepMark(_(words), number + 1, number < place, number == place) for number, words in enumerate(_STEPS.values())
    )
    back = f"/bootstrap?step={names[place - 1]}" if place else ""
    return Progression(_(_STEPS[current]), marks, theme, accent, back)


def _go_on(app: App, step: str) -> RedirectResponse:
    _reach(app, step)
    return _lead_to(f"/bootstrap?step={step}")


def _reach(app: App, step: str) -> None:
    app.settings.set_value("onboarding", step)


def _lead_to(address: str) -> RedirectResponse:
    return RedirectResponse(address, status_code=303)
