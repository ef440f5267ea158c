"""Builds what asks models and what keeps count of it."""

from msgspec import Struct

from skales.agent.secrecy import VeiledChooser
from skales.app.costs import CallAccounts
from skales.app.model_endpoints import ModelStores
from skales.app.models import Models
from skales.automation.origins import parent_of
from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import ModelChooser
from skales.data.ledger import Ledger
from skales.data.model_lists import ModelLists
from skales.data.model_probes import ModelProbes
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore
from skales.data.settings import SettingsStore
from skales.data.sign_ins import SignIns
from skales.data.spending import SpendingStore
from skales.data.vault import Vault
from skales.localmodels.local_models import LocalModels
from skales.security.clean_messages import CleanMessages
from skales.security.veil import Veil


class ModelNeeds(Struct, frozen=True, kw_only=True):
    """What it is built from."""

    directory: DataDirectory
    quarantine: Quarantine
    clock: Clock
    ids: IdSource
    vault: Vault
    settings: SettingsStore
    sessions: SessionStore
    veil: Veil


class ModelRooms(Struct, frozen=True, kw_only=True):
    """One of each; `chooser` is the one to ask, which lets no secret through."""

    local: LocalModels
    models: Models
    chooser: ModelChooser
    ledger: Ledger
    spending: SpendingStore
    accounts: CallAccounts


def build_models(needs: ModelNeeds, chooser: ModelChooser | None) -> ModelRooms:
    """All of it; `chooser` stands in for the configured models."""
    local = LocalModels(needs.directory, needs.quarantine, needs.clock)
    stores = ModelStores(
        lists=ModelLists(needs.directory, needs.clock),
        probes=ModelProbes(needs.directory, needs.quarantine, needs.clock),
        sign_ins=SignIns(needs.directory, needs.quarantine, needs.vault),
        clock=needs.clock,
        ids=needs.ids,
    )
    models = Models(needs.settings, local, stores)
    asked = chooser or models
    ledger, spending = Ledger(needs.directory), SpendingStore(needs.directory, needs.quarantine, needs.clock)
    accounts = CallAccounts(ledger, spending, asked.facts, needs.settings.load, needs.clock)
    accounts.payer = lambda session_id: parent_of(needs.sessions, session_id) or session_id
    models.accounts = accounts
    return ModelRooms(
        local=local,
        models=models,
        chooser=VeiledChooser(asked, CleanMessages(needs.veil)),
        ledger=ledger,
        spending=spending,
        accounts=accounts,
    )
