"""Who answers, in facts for the page: the provider and model, what is missing, what the starter model can do."""

from skales.app.app import App
from skales.app.local_provider import LOCAL_PROVIDER
from skales.core.errors import ProviderError
from skales.server.conversation_views import ModelFacts, StarterFacts
from skales.server.told import told
from skales.server.ui.phrases import show_size
from skales.server.ui.provider_names import name_provider
from skales.server.views import Trouble
from skales.server.words import _

_SETTINGS = "/settings#providers"


def describe_model(app: App, provider_id: str = "", model: str = "") -> ModelFacts:
    """The named one, else what the settings say. Nobody is asked over the network."""
    active = app.models.describe_active()
    chosen_id = provider_id or active.provider_id
    trouble: Trouble | None = None
    try:
        chosen = app.models.choose(provider_id, model)
        chosen_id, model = chosen.provider_id, chosen.model
    except ProviderError as error:
        # The hint speaks of the terminal; here the way out is the settings page.
        trouble = Trouble(told(error.message), "", _SETTINGS, _("Set it up"))
        model = model or active.model
    return ModelFacts(
        provider=name_provider(app.settings.load(), chosen_id),
        model=model,
        provider_id=chosen_id,
        is_starter=chosen_id == LOCAL_PROVIDER,
        ready=trouble is None,
        trouble=trouble,
    )


def describe_starter(app: App) -> StarterFacts:
    """The model that comes with the program, as it stands on this computer."""
    status = app.local.status()
    installed = status.runtime_installed and status.model_installed
    return StarterFacts(
        installed=installed,
        running=status.running,
        fetch_size="" if installed else show_size(status.size_bytes_to_fetch),
        accuracy=status.tool_accuracy,
    )
