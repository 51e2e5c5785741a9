"""Lays a memory bank out in a vault, and takes over what older layouts left there. Nothing is ever overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.memory import FOLDER
from holdfast.core.messages import Language
from holdfast.store.atomic_file import write_new

_EN: Mapping[str, str] = {
    "MEMORY.md": """# Project memory

What every session should know. Keep it short: details belong in `details/`.

## Current Focus

- Goal:
- In progress:
- Remaining:

## Where things stand

- Patterns and rules: details/patterns.md
- Requirements: details/requirements/
- Design: details/design/
- Progress: details/progress.md
- Learnings: details/learnings/
""",
    "details/patterns.md": """# Patterns

How code is written here: structure, names, errors, tests. Read before changing anything of consequence.
""",
    "details/progress.md": "# Progress\n\nWhat is done, what is under way, what comes next.\n",
    "details/requirements/README.md": "# Requirements\n\nOne file for each requirement, such as REQ-001.md.\n",
    "details/design/README.md": "# Design\n\nOne file for each decision or design.\n",
    "details/learnings/README.md": "# Learnings\n\nWhat was found out the hard way, one file each, dated.\n",
}
_ZH: Mapping[str, str] = {
    "MEMORY.md": """# 项目记忆

每个会话都应知道的内容。保持简短：细节放在 `details/`。

## 当前焦点

- 目标：
- 进行中：
- 剩余：

## 各类内容的位置

- 约定与规则：details/patterns.md
- 需求：details/requirements/
- 设计：details/design/
- 进度：details/progress.md
- 经验：details/learnings/
""",
    "details/patterns.md": "# 约定\n\n这里的代码怎么写：结构、命名、错误、测试。做任何重要修改之前先读。\n",
    "details/progress.md": "# 进度\n\n已完成、进行中、下一步。\n",
    "details/requirements/README.md": "# 需求\n\n每条需求一个文件，例如 REQ-001.md。\n",
    "details/design/README.md": "# 设计\n\n每个决策或设计一个文件。\n",
    "details/learnings/README.md": "# 经验\n\n踩过的坑，每条一个文件，注明日期。\n",
}
TEMPLATES: Mapping[Language, Mapping[str, str]] = {"en": _EN, "zh": _ZH}

OLDER: Mapping[str, str] = {
    "projectbrief.md": "details/requirements/project-brief.md",
    "productContext.md": "details/requirements/product-context.md",
    "requirements.md": "details/requirements/requirements.md",
    "systemPatterns.md": "details/patterns.md",
    "patterns.md": "details/patterns.md",
    "techContext.md": "details/design/tech-context.md",
    "architecture.md": "details/design/architecture.md",
    "design.md": "details/design/design.md",
    "progress.md": "details/progress.md",
    "activeContext.md": "MEMORY.md",
    "decisionLog.md": "details/design/decision-log.md",
    "_index.md": "MEMORY.md",
}
"""Files of the flat layouts that came before, and where their text goes; folders of these names move as they are."""
OLDER_FOLDERS = ("requirements", "design", "learnings")


@dataclass(frozen=True, slots=True)
class LaidOut:
    made: tuple[str, ...]
    kept: tuple[str, ...]
    """Already there, and left alone."""
    taken_over: tuple[tuple[str, str], ...]
    """Copied from an older layout: from, to. The originals stay."""


def lay_out(vault: Path, language: Language) -> LaidOut:
    """Make what is missing; raises `OSError` when the vault cannot be written."""
    bank = vault / FOLDER
    taken = _take_over(bank)
    made, kept = [], []
    for name, text in TEMPLATES[language].items():
        path = bank / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            kept.append(name)
        else:
            write_new(path, text.encode("utf-8"))
            made.append(name)
    fresh = {new for _, new in taken}
    return LaidOut(tuple(made), tuple(name for name in kept if name not in fresh), tuple(taken))


def _take_over(bank: Path) -> list[tuple[str, str]]:
    taken: list[tuple[str, str]] = []
    plan = [(bank / old, bank / new) for old, new in OLDER.items()]
    for folder in OLDER_FOLDERS:
        files = sorted((bank / folder).rglob("*.md")) if (bank / folder).is_dir() else []
        plan += [(file, bank / "details" / folder / file.relative_to(bank / folder)) for file in files]
    for old, new in plan:
        if old.is_file() and not new.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            write_new(new, old.read_bytes())
            taken.append((str(old.relative_to(bank)), str(new.relative_to(bank))))
    return taken
