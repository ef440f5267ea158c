"""settings.json: what the person chose, read forgivingly and written strictly.

A key of the wrong type costs itself alone: it counts as its default, is reported, and stays in the file. A change is
checked as a whole before anything is written. Spec: data-directory.md, "settings.json".
"""

import copy
from collections.abc import Callable

from skales.core.errors import BrokenDocumentError, InputError, NotFoundError
from skales.core.ids import is_safe_id
from skales.core.json import JsonValue
from skales.data.document import Stamp, read_object, stamp_of, storage_errors
from skales.data.endpoints import mask_key as mask_key  # whoever shows settings masks keys
from skales.data.endpoints import parse_api_key, parse_base_url
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import SETTINGS, SecretDocument
from skales.data.setting_faults import RawSettings, SettingFault, parse_settings, refuse_new_faults
from skales.data.setting_names import open_object, read_setting, write_setting
from skales.data.setting_shapes import Settings
from skales.data.vault import Vault


class SettingsStore:
    """Reads and changes the file; a person may edit it at any time. Thread-safe.

    `changed` hears of each change made here, with the file's object before and after.
    """

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, vault: Vault | None = None) -> None:
        self._path = directory.settings
        self._quarantine = quarantine
        self._vault = vault or Vault(directory, quarantine)
        self._document = SecretDocument(SETTINGS, directory, quarantine, self._vault)
        self._cached: tuple[tuple[Stamp, int], Settings, tuple[SettingFault, ...]] | None = None
        self.changed: Callable[[RawSettings, RawSettings], None] = _nobody

    def load(self) -> Settings:
        """What counts now. A missing or broken file means all defaults, and a broken one is set aside.

        Raises StorageError when the file is there and cannot be read.
        """
        return self._read()[0]

    def faults(self) -> tuple[SettingFault, ...]:
        """Values of the file that do not count; the quarantine's notices name them too."""
        return self._read()[1]

    def update(self, change: Callable[[RawSettings], None]) -> Settings:
        """Alter the raw object in place; keys that nobody here knows survive.

        Raises InputError that names the key and what it may be; nothing is written then. Faults that the file
        had before do not stand in the way.
        """
        before: RawSettings = {}
        after: RawSettings = {}

        def change_checked(raw: RawSettings) -> None:
            nonlocal before, after
            before = copy.deepcopy(raw)
            change(raw)
            refuse_new_faults(before, raw)
            after = copy.deepcopy(raw)

        self._document.update(change_checked)
        self.changed(before, after)
        return self.load()

    def raw(self) -> RawSettings:
        """The object of the file as it is; empty while it is missing or broken."""
        try:
            return dict(read_object(self._path, self._quarantine))
        except (NotFoundError, BrokenDocumentError):
            return {}

    def set_provider(
        self,
        provider_id: str,
        *,
        base_url: str | None = None,
        model: str | None = None,
        api_key: str | None = None,
        activate: bool = False,
    ) -> Settings:
        """Change what is given, in an entry that is made when missing; an empty key removes the stored one.

        `activate` makes it the provider that answers, and switches it on. Raises InputError.
        """
        if not is_safe_id(provider_id):
            raise InputError(f"{provider_id!r} cannot name a provider", hint="Use letters, digits, _ and -")
        wanted: RawSettings = {
            **({} if base_url is None else {"baseUrl": parse_base_url(base_url)}),
            **({} if model is None else {"model": model.strip()}),
            **({} if api_key is None else {"apiKey": parse_api_key(api_key)}),
            **({"enabled": True} if activate else {}),
        }

        def change(raw: RawSettings) -> None:
            open_object(open_object(raw, "providers"), provider_id).update(wanted)
            if activate:
                raw["activeProvider"] = provider_id

        return self.update(change)

    def get_value(self, name: str = "") -> JsonValue:
        """What counts under a dotted name of the file, such as `providers.openai.model`; secrets are masked.

        Without a name, everything. Raises NotFoundError that suggests the nearest name.
        """
        return read_setting(self.load(), name)

    def set_value(self, name: str, text: str) -> Settings:
        """Set a dotted name from text, read as the type of the key. Raises InputError."""
        return self.update(lambda raw: write_setting(Settings, raw, name, text))

    def _read(self) -> tuple[Settings, tuple[SettingFault, ...]]:
        with storage_errors(self._path, "read"):
            stamp, changed = stamp_of(self._path), self._vault.changed
        cached = self._cached
        if cached is None or cached[0] != (stamp, changed):
            try:
                raw, stamp = self._document.read_stamped()
            except (NotFoundError, BrokenDocumentError):
                raw = {}
            settings, faults = parse_settings(raw)
            if faults:
                self._quarantine.report(self._path, "; ".join(map(str, faults)))
            cached = self._cached = ((stamp, changed), settings, faults)
        return cached[1], cached[2]


def _nobody(_before: RawSettings, _after: RawSettings) -> None:
    """Nobody listens."""
