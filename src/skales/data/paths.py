"""The shape of the data directory: which thing lives where. Spec: data-directory.md, "Tree"."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from skales.core.errors import StorageError


class DataDirectory(Struct, frozen=True):
    """Names every file and folder below one root; creating the root is the only thing it does to the disk."""

    root: Path

    @property
    def settings(self) -> Path:
        """Preferences and configuration."""
        return self.root / "settings.json"

    @property
    def sessions(self) -> Path:
        """One conversation per file."""
        return self.root / "sessions"

    @property
    def memories(self) -> Path:
        """One memory per file."""
        return self.root / "memories"

    @property
    def tasks(self) -> Path:
        """One background task per file."""
        return self.root / "tasks"

    @property
    def planner(self) -> Path:
        """One entry of the person's planner per file."""
        return self.root / "planner"

    @property
    def knowledge_graph(self) -> Path:
        """Things and people, and how they belong together."""
        return self.root / "knowledge-graph.json"

    @property
    def agent_skills(self) -> Path:
        """One skill per folder, and which of them are on."""
        return self.root / "agent-skills"

    @property
    def identity(self) -> Path:
        """Texts about who Skales is and whom it works for."""
        return self.root / "identity"

    @property
    def cron(self) -> Path:
        """One scheduled job per file."""
        return self.root / "cron"

    @property
    def cron_runs(self) -> Path:
        """What became of each job's last runs, a file per job."""
        return self.logs / "cron"

    @property
    def workflows(self) -> Path:
        """Saved workflows."""
        return self.root / "workflows.json"

    @property
    def approvals(self) -> Path:
        """One waiting question per file."""
        return self.root / "pending-approvals"

    @property
    def grants(self) -> Path:
        """What the user allowed until revoked."""
        return self.root / "grants.json"

    @property
    def grant_uses(self) -> Path:
        """How often each of those was used."""
        return self.root / "grant-uses.json"

    @property
    def tainted(self) -> Path:
        """Which files and notes hold text of others."""
        return self.root / "tainted.json"

    @property
    def workspace(self) -> Path:
        """The agent's own working folder; tools may always use it."""
        return self.root / "workspace"

    @property
    def results(self) -> Path:
        """Tool results too long for the model, whole; inside the workspace so that tools can read them."""
        return self.workspace / "results"

    @property
    def attachments(self) -> Path:
        """Files that came with messages, a folder for each conversation; tools may read them."""
        return self.root / "attachments"

    @property
    def uploads(self) -> Path:
        """Files that are chosen for a message which is not sent yet."""
        return self.root / "uploads"

    @property
    def local_models(self) -> Path:
        """Downloaded runtimes and weights."""
        return self.root / "local-models"

    @property
    def quarantine(self) -> Path:
        """Files that could not be read, set aside unchanged."""
        return self.root / "quarantine"

    @property
    def trash(self) -> Path:
        """What the user deleted; undo takes it back from here."""
        return self.root / "trash"

    @property
    def undo(self) -> Path:
        """What calls changed, with copies of what was there before."""
        return self.root / "undo"

    @property
    def logs(self) -> Path:
        """Application and audit logs."""
        return self.root / "logs"

    @property
    def audit_head(self) -> Path:
        """Where the audit log ends, so that a cut end is noticed."""
        return self.logs / "audit-head.json"

    @property
    def incidents(self) -> Path:
        """A note for each use of the kill switch."""
        return self.logs / "incidents"

    @property
    def costs(self) -> Path:
        """What calls to models used and cost, by month, and what is spent so far."""
        return self.root / "costs"

    @property
    def devkit(self) -> Path:
        """The DevKit switch and token."""
        return self.root / "devkit" / "devkit.json"

    @property
    def devkit_page(self) -> Path:
        """The DevKit documentation text."""
        return self.root / "devkit" / "DEVKIT.md"

    @property
    def capabilities(self) -> Path:
        """The self-description other programs read."""
        return self.root / "capabilities.json"

    @property
    def index(self) -> Path:
        """The derived database; may be deleted at any time."""
        return self.root / "cache" / "index.sqlite"

    @property
    def model_lists(self) -> Path:
        """What endpoints last said of their models; may be deleted at any time."""
        return self.root / "cache" / "models"

    @property
    def model_probes(self) -> Path:
        """What trying them showed about models."""
        return self.root / "model-probes.json"

    @property
    def sign_ins(self) -> Path:
        """Tokens of providers that a person signed in to."""
        return self.root / "sign-ins.json"

    @property
    def ftp_profiles(self) -> Path:
        """Servers to publish to, with their passwords."""
        return self.root / "ftp-profiles.json"

    @property
    def deploy_targets(self) -> Path:
        """Where each project is deployed to."""
        return self.root / "deploy-targets.json"

    @property
    def published(self) -> Path:
        """What was last put where, a file for each place."""
        return self.root / "published"

    @property
    def connectors(self) -> Path:
        """Services that tools may call, with their keys."""
        return self.root / "connectors.json"

    @property
    def outbox(self) -> Path:
        """What was sent or was to be sent, one intent per file."""
        return self.root / "outbox"

    @property
    def secrets(self) -> Path:
        """Secrets that a person named, for tools to use unseen."""
        return self.root / "secrets.json"

    @property
    def encryption_key(self) -> Path:
        """What secrets are sealed with where no key store can be used."""
        return self.root / ".encryption-key"

    @property
    def vault(self) -> Path:
        """Which key seals now."""
        return self.root / "vault.json"

    @property
    def vault_lock(self) -> Path:
        """Held while somebody seals or changes keys."""
        return self.root / "run" / "vault.lock"

    @property
    def instance(self) -> Path:
        """Who serves this directory now: address, process id and the local token."""
        return self.root / "run" / "server.json"

    @property
    def lock(self) -> Path:
        """Held while a program uses the directory."""
        return self.root / "run" / "lock"

    @property
    def private(self) -> tuple[Path, ...]:
        """What no tool may read or change: keys, tokens, the rules themselves, and what is written down of calls."""
        return (
            self.settings,
            self.grants,
            self.grant_uses,
            self.tainted,
            self.devkit.parent,
            self.instance.parent,
            self.approvals,
            self.outbox,
            self.costs,
            self.logs,
            self.sign_ins,
            self.connectors,
            self.undo,
            self.root / "integrations",
            self.root / "mcp-servers.json",
            self.ftp_profiles,
            self.deploy_targets,
            self.published,
            self.secrets,
            self.encryption_key,
            self.vault,
        )

    def create(self) -> None:
        """Make the root (mode 0700) and the workspace. Raises StorageError that says why it cannot."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.workspace.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The data directory {str(self.root)!r} cannot be created: {error.strerror}",
                hint="Free the path, or set SKALES_DATA_DIR to a folder you may write to",
            ) from error


def locate_data_directory(environment: Mapping[str, str] = os.environ) -> DataDirectory:
    """`SKALES_DATA_DIR` when set, else `~/.skales-data`."""
    named = environment.get("SKALES_DATA_DIR", "")
    return DataDirectory(Path(named).expanduser().absolute() if named else Path.home() / ".skales-data")
