"""What on the providers page changes with a row: the state of its card, and where its messages go."""

from skales.data.setting_shapes import Settings
from skales.server.ui.provider_cards import build_state
from skales.server.ui.provider_rows import is_set_up, list_providers
from skales.server.ui.setting_table import Setting
from skales.server.views import View


def show_change(settings: Settings, setting: Setting) -> tuple[View, ...]:
    """The card's state for a row of a provider, nothing for any other."""
    match setting.place:
        case ("providers", provider_id, *_rest) if provider_id in list_providers(settings):
            return (build_state(settings, provider_id, is_set_up=is_set_up(settings, provider_id), is_update=True),)
        case _:
            return ()
