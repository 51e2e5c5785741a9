"""Follows the configuration while the program runs.

There is no thread: whoever needs the configuration asks for it, and that costs one `stat`. A broken edit is reported
once, aloud, and the last good configuration stays in force until the file is right again (HK1).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from holdfast.core.messages import Phrase
from holdfast.store.config_file import Inline, LoadedConfig, load_text
from holdfast.store.config_layers import read_text
from holdfast.store.config_problems import ConfigError, ConfigProblem

_GONE = Phrase(
    "config.gone",
    "is gone; what was read last stays in force until it is back or Holdfast is restarted",
    "已不存在；在它恢复或 Holdfast 重启之前，沿用最后读到的内容",
)
_Stamp = tuple[int, int, int, int, int]
# A second write may follow within one tick of the file system's clock and leave every stamp equal.
_SETTLED_NANOSECONDS = 2_000_000_000


class ConfigWatcher:
    """`current()` is the configuration in force. Raises `ConfigError` when made on a broken file."""

    def __init__(
        self,
        path: Path,
        inline: Inline | None = None,
        *,
        on_problem: Callable[[ConfigError], None] | None = None,
        on_change: Callable[[LoadedConfig], None] | None = None,
    ) -> None:
        self.path = path
        self._inline = inline or Inline()
        self._on_problem = on_problem
        self._on_change = on_change
        self._lock = threading.Lock()
        self._stamp, self._settled = self._look()
        self._text = read_text(path)
        self._config = load_text(path, self._text, self._inline)

    def current(self) -> LoadedConfig:
        with self._lock:
            stamp, settled = self._look()
            if stamp == self._stamp and self._settled:
                return self._config
            self._stamp, self._settled = stamp, settled
            problem, changed = self._reload()
            config = self._config
        # outside the lock, so that a callback may ask for the configuration itself
        if problem is not None and self._on_problem:
            self._on_problem(problem)
        if changed and self._on_change:
            self._on_change(config)
        return config

    def _reload(self) -> tuple[ConfigError | None, bool]:
        """A problem that was not told before, and whether another configuration came into force."""
        before = self._config
        try:
            text = read_text(self.path)
            if text is None and self._text is not None:
                raise ConfigError([ConfigProblem(str(self.path), _GONE())])
            if text == self._text and not before.problems:
                return None, False
            config = load_text(self.path, text, self._inline)
        except ConfigError as error:
            if error.problems == before.problems:
                return None, False
            self._config = replace(before, problems=error.problems)
            return error, False
        changed = text != self._text
        self._text, self._config = text, config
        return None, changed

    def _look(self) -> tuple[_Stamp | None, bool]:
        """What tells one state of the file from another, and whether that can be relied on yet."""
        try:
            status = self.path.stat()
        except OSError:
            return None, True
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return stamp, time.time_ns() - newest > _SETTLED_NANOSECONDS
