"""What a command works with: home, vault, configuration and store, each found or opened when it is first used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.core.messages import Language
    from holdfast.store.config_file import Inline, LoadedConfig
    from holdfast.store.home import Home
    from holdfast.store.interface import Store


@dataclass(slots=True)
class Context:
    """The global options of one invocation, and what was opened for it."""

    home_option: str | None = None
    vault_option: str | None = None
    assignments: Sequence[str] = ()
    _home: Home | None = field(default=None, repr=False)
    _config: LoadedConfig | None = field(default=None, repr=False)
    _store: Store | None = field(default=None, repr=False)

    @property
    def home(self) -> Home:
        if self._home is None:
            from holdfast.store.home import find_home

            self._home = find_home(self.home_option)
        return self._home

    @property
    def inline(self) -> Inline:
        from holdfast.store.config_file import Inline

        return Inline(assignments=self.assignments)

    @property
    def config(self) -> LoadedConfig:
        """The whole configuration; raises `ConfigError`, so that no command runs on half of one."""
        if self._config is None:
            from holdfast.store.config_file import load_config

            self._config = load_config(self.home.config, self.inline)
        return self._config

    @property
    def language(self) -> Language:
        """The configured one, else the environment's: a broken configuration is no reason to be silent."""
        import os

        from holdfast.store.config_problems import ConfigError

        try:
            chosen = self.config.settings.runtime.language
        except ConfigError:
            chosen = "auto"
        if chosen != "auto":
            return chosen
        return "zh" if os.environ.get("LANG", "").lower().startswith("zh") else "en"

    def vault(self) -> Path:
        """Raises `VaultError` in places that cannot be one."""
        from holdfast.store.home import find_vault

        return find_vault(self.vault_option, home=self.home)

    @property
    def has_store(self) -> bool:
        """Whether anything was ever recorded; looking must not make a database."""
        return self.home.database.exists()

    @property
    def store(self) -> Store:
        """The store, made with its home when there is none; raises `StoreError`."""
        if self._store is None:
            from holdfast.store.sqlite import SqliteStore

            self.home.create()
            self._store = SqliteStore(self.home.database, audit_dir=self.home.audit)
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


pass_context = click.make_pass_decorator(Context, ensure=True)
