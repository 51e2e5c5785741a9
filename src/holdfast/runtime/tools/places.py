"""Where a path that the model wrote really leads: found the same way as the judges found it.

A tool runs with all rights of its process, after the call was judged. Between the two something that runs in the vault
could have turned a folder into a link. So a path named inside the vault must lie inside it, and whatever is opened
afterwards (`files.py`) follows no link at all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from holdfast.control import folds_case
from holdfast.core.targets import Vault, absolute, is_inside, locate
from holdfast.runtime.tool import ToolContext, ToolFailure

_VAULT = "places.vault"
GUARDED = (
    ".git/hooks", ".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".codex/config.toml",
    ".gemini/settings.json", ".opencode/plugin", ".opencode/plugins", "opencode.json", "opencode.jsonc",
    ".vscode/tasks.json", ".vscode/settings.json", ".envrc",
)  # fmt: skip
"""In the vault, but run or obeyed by programs outside of the sandbox: writing one would be a way out."""
GIT_CONFIG = ".git/config"


@dataclass(frozen=True, slots=True)
class Place:
    """A path without links, and how to speak of it."""

    path: Path
    shown: str
    """Relative to the vault, or absolute when outside."""
    inside: bool

    @property
    def named(self) -> str:
        """For the end of a sentence."""
        return "the vault" if self.shown == "." else self.shown

    def below(self, name: str) -> Place:
        shown = name if self.shown == "." else f"{self.shown.rstrip('/')}/{name}"
        return Place(self.path / name, shown, self.inside)


def find(context: ToolContext, text: str) -> Place:
    """The place a path stands for; `ToolFailure` when no tool should go there."""
    if "\x00" in text:
        raise ToolFailure(f"{text!r} holds a NUL character and names no file. Give the path without it.")
    if not text.strip():
        raise ToolFailure("The path is empty. Give a path relative to the working directory, or an absolute one.")
    vault = _vault(context)
    home = str(Path.home())
    target, real = locate(text, vault=vault, cwd=str(context.cwd), resolve=os.path.realpath, home=home)
    lexical = absolute(text.strip(), str(context.cwd), home)
    if target.scheme == "vault":
        place = Place(Path(real), target.value.lstrip("/") or ".", True)
        if lexical != real and any(is_inside(place.shown, name) for name in (*GUARDED, GIT_CONFIG)):
            raise ToolFailure(f"{text!r} is a link to {place.shown}. Name {place.shown} itself.")
        return place
    if is_inside(lexical, vault.root) or is_inside(lexical, str(context.vault)):
        raise ToolFailure(
            f"{text!r} is a link that leads out of the vault, to {real}. Name {real} itself if that is what you mean."
        )
    return Place(Path(real), real, False)


def find_entry(context: ToolContext, text: str) -> Place:
    """Like `find`, for what is to be moved or deleted: a link is neither itself nor what it leads to."""
    lexical = absolute(text.strip(), str(context.cwd), str(Path.home()))
    if "\x00" not in text and Path(lexical).is_symlink():
        raise ToolFailure(
            f"{text!r} is a link to {os.path.realpath(lexical)}. Name that path to mean the thing itself; the link "
            "alone can be removed or renamed with `bash` (rm, mv)."
        )
    return find(context, text)


def find_folder(context: ToolContext, text: str | None) -> Place:
    """A folder, the working directory when none is named."""
    place = find(context, text if text and text.strip() else ".")
    if not place.path.is_dir():
        if place.path.exists():
            raise ToolFailure(f"{place.shown} is a file, not a folder. Use `read`, or name its folder.")
        raise ToolFailure(missing(place))
    return place


def missing(place: Place) -> str:
    """What to say about a path that is not there, with names that are close to it."""
    import difflib  # noqa: PLC0415 (only for a mistake)

    said = f"{place.shown} does not exist."
    folder = place.path.parent
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return f"{said} Its folder is not there either: look with `ls` or `glob`."
    close = difflib.get_close_matches(place.path.name, names, 3, 0.6)
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    return f"{said}{hint} Look with `ls` or `glob` for the right name."


def _vault(context: ToolContext) -> Vault:
    known = context.memory.get(_VAULT)
    if isinstance(known, tuple) and known[0] == context.vault:
        vault: Vault = known[1]
        return vault
    root = Path(os.path.realpath(context.vault))
    vault = Vault(str(root), folds_case=folds_case(root))
    context.memory[_VAULT] = (context.vault, vault)
    return vault


def vault_root(context: ToolContext) -> Path:
    """The vault without links."""
    return Path(_vault(context).root)
