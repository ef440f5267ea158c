"""Who answers in a conversation: the choice beside the message field, and what there is to choose from.

A choice counts from the next message on. In a new chat there is no file yet that could hold it; the page keeps it and
sends it with the first message. Nobody is asked over the network here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import anyio.to_thread
from fastapi import APIRouter, Form
from msgspec import Struct

from skales.app.app import App
from skales.app.model_offers import ProviderOffer
from skales.core.errors import InputError
from skales.core.ids import SessionId
from skales.core.ports import ModelTraits
from skales.data.sessions import Session
from skales.server.access import AppDep, PageSession
from skales.server.conversation_views import Composer
from skales.server.ui.models import describe_model
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.provider_names import name_provider
from skales.server.words import _

router = APIRouter(dependencies=[PageSession])

_LONGEST_ID = 200


class Suggestion(Struct, frozen=True):
    """A model that can be chosen."""

    provider_id: str
    provider: str
    model: str
    sees: bool

    @property
    def names(self) -> Mapping[str, str]:
        """For sentences about it."""
        return {"model": self.model, "provider": self.provider}

    def as_facts(self) -> Mapping[str, str]:
        """For the page's scripts."""
        sees = "true" if self.sees else "false"
        return {"provider": self.provider_id, "model": self.model, "label": self.model or self.provider, "sees": sees}


class ModelOption(Struct, frozen=True):
    """A model in the list. `traits` are short words for what it can; the default names no provider."""

    provider_id: str
    model: str
    label: str
    sees: bool
    traits: tuple[str, ...] = ()
    is_current: bool = False


class ModelGroup(Struct, frozen=True):
    """What one provider serves."""

    provider_id: str
    label: str
    options: tuple[ModelOption, ...]


class ModelList(Struct, frozen=True):
    """The list of the picker. `standard` is what the settings say."""

    template: ClassVar[str] = "chat/picker_list.html"
    standard: ModelOption
    standard_words: str
    groups: tuple[ModelGroup, ...]


@router.get("/ui/models", response_class=PageResponse)
def list_models(app: AppDep, provider: str = "", model: str = "") -> str:
    """What there is to choose from; the named one is marked as the present choice."""
    return render(build_model_list(app, provider, model))


@router.post("/ui/chat/{session_id}/model")
async def choose_model(
    app: AppDep,
    session_id: SessionId,
    provider: Annotated[str, Form()] = "",
    model: Annotated[str, Form()] = "",
) -> Mapping[str, str]:
    """Let another model answer from the next message on; none named means what the settings say.

    Raises InputError, NotFoundError.
    """
    await anyio.to_thread.run_sync(set_model, app, session_id, provider, model)
    return await anyio.to_thread.run_sync(lambda: build_composer(app, app.sessions.load(session_id)).as_facts())


def set_model(app: App, session_id: SessionId, provider_id: str, model: str) -> None:
    """Write the choice into the conversation. Raises InputError, NotFoundError."""
    provider_id, model = check_choice(app, provider_id, model)
    app.sessions.update(session_id, provider=provider_id, model=model)


def check_choice(app: App, provider_id: str, model: str) -> tuple[str, str]:
    """A choice as it can be kept. Raises InputError for a provider that cannot answer, or an id that is none."""
    model = model.strip()
    if not provider_id:
        return "", ""
    if provider_id not in {offer.provider_id for offer in app.models.available()}:
        raise InputError(
            _("%(provider)s is not set up", provider=name_provider(app.settings.load(), provider_id)),
            hint=_("Set it up in the settings"),
        )
    if len(model) > _LONGEST_ID or not model.isprintable():
        raise InputError(_("This is no name of a model"), hint=_("Copy it from the provider's list"))
    return provider_id, model


async def find_models(app: App, text: str) -> Sequence[Suggestion]:
    """The models of this id at providers that can answer; `provider/model` names any id of one of them."""
    return await anyio.to_thread.run_sync(_find_models, app, text.strip())


def build_composer(app: App, session: Session | None) -> Composer:
    """What the message field has to know. Reads the disk."""
    provider_id, model = (session.provider, session.model) if session else ("", "")
    facts = describe_model(app, provider_id, model)
    return Composer(
        session_id=session.id if session else "",
        provider_id=provider_id,
        model=model,
        label=facts.model or facts.provider,
        provider=facts.provider,
        sees=_traits_of(app, facts.provider_id, facts.model).vision,
    )


def build_model_list(app: App, provider_id: str = "", model: str = "") -> ModelList:
    """Everything that can be chosen. Reads the disk."""
    standard = describe_model(app)
    sees = _traits_of(app, standard.provider_id, standard.model).vision
    name = standard.model or standard.provider
    groups = (
        ModelGroup(
            offer.provider_id,
            offer.label,
            tuple(
                _build_option(app, offer, known, is_current=(offer.provider_id, known) == (provider_id, model))
                for known in offer.models
            ),
        )
        for offer in app.models.available()
    )
    return ModelList(
        standard=ModelOption("", "", name, sees, is_current=not provider_id),
        standard_words=_("%(model)s of %(provider)s, as the settings say", model=name, provider=standard.provider),
        groups=tuple(groups),
    )


def _build_option(app: App, offer: ProviderOffer, model: str, *, is_current: bool) -> ModelOption:
    traits = _traits_of(app, offer.provider_id, model)
    return ModelOption(
        offer.provider_id, model, model, traits.vision, tuple(_describe_traits(traits)), is_current=is_current
    )


def _describe_traits(traits: ModelTraits) -> Iterator[str]:
    if traits.vision:
        yield _("sees")
    if traits.tools:
        yield _("tools")
    if traits.reasoning:
        yield _("reasons")
    if traits.context_tokens:
        yield _("%(size)s context", size=_show_window(traits.context_tokens))


def _show_window(tokens: int) -> str:
    """As vendors say it: `128K`, `1M`."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.1f}".removesuffix(".0") + "M"
    return f"{tokens // 1000}K" if tokens >= 1000 else str(tokens)


def _find_models(app: App, text: str) -> Sequence[Suggestion]:
    offers = app.models.available()
    named, slash, rest = text.partition("/")
    exact = [(offer, model) for offer in offers for model in offer.models if model.casefold() == text.casefold()] or [
        (offer, rest) for offer in offers if slash and rest and offer.provider_id == named
    ]
    return [
        Suggestion(offer.provider_id, offer.label, model, _traits_of(app, offer.provider_id, model).vision)
        for offer, model in exact
    ]


def _traits_of(app: App, provider_id: str, model: str) -> ModelTraits:
    return app.models.facts(provider_id, model)
