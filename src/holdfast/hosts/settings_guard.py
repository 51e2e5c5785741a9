"""Whether a host may load its changed settings: not if they would switch our hooks off within a session (PE10).

Writing such a file is denied before it happens; this is for what got written all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.core.messages import Message, Phrase
from holdfast.hosts.attach.ours import is_our_hook
from holdfast.store.attached import manifests
from holdfast.store.home import Home
from holdfast.store.json5_tree import Json5Error, parse

SWITCHES_OFF = Phrase(
    "settings_guard.switches_off",
    "{path} now switches hooks off, so it is not loaded into this session. If you want that, run `holdfast detach`.",
    "{path} 现在会关闭钩子，因此不会载入本会话。如果确实需要，请运行 `holdfast detach`。",
)
TAKES_OUT = Phrase(
    "settings_guard.takes_out",
    "{path} no longer calls Holdfast, so it is not loaded into this session. If you want that, run `holdfast detach`.",
    "{path} 不再调用 Holdfast，因此不会载入本会话。如果确实需要，请运行 `holdfast detach`。",
)


def why_not(home: Home, path: str) -> Message | None:
    """The reason not to load a settings file; None when nothing speaks against it."""
    try:
        data = parse(Path(path).read_text(encoding="utf-8", errors="replace")).value
    except (OSError, Json5Error):
        data = None
    if isinstance(data, Mapping) and data.get("disableAllHooks") is True:
        return SWITCHES_OFF(path=path)
    ours = any(file.path == path and file.kind == "json" for manifest in manifests(home) for file in manifest.files)
    hooks = data.get("hooks") if isinstance(data, Mapping) else None
    return TAKES_OUT(path=path) if ours and _had_hooks(home, path) and not is_our_hook(hooks) else None


def _had_hooks(home: Home, path: str) -> bool:
    """Whether it was this file that got our hooks, and not only our server."""
    return any(file.path == path and file.secret for manifest in manifests(home) for file in manifest.files)
