"""What commands print: text for people, JSON for programs, from the same data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def emit(data: Any, text: str | Iterable[str], as_json: bool) -> None:
    """`data` as JSON when asked for, else the text."""
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False, indent=2, default=str))
        return
    for line in [text] if isinstance(text, str) else text:
        click.echo(line)


def table(rows: Iterable[tuple[str, ...]], indent: str = "") -> Iterable[str]:
    """Columns as wide as they need; the last one is left as it is."""
    kept = list(rows)
    widths = [max(len(row[column]) for row in kept) for column in range(len(kept[0]) - 1)] if kept else []
    for row in kept:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield (indent + "  ".join([*cells, row[-1]])).rstrip()


def size(count: float) -> str:
    """Bytes as people read them."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def moment(seconds: float) -> str:
    """A time of day in the user's own zone."""
    from datetime import datetime

    return datetime.fromtimestamp(seconds).astimezone().isoformat(sep=" ", timespec="seconds")


def visible(text: str, longest: int = 0) -> str:
    """Text from an agent or a file, safe for a terminal: control characters become escapes, the rest may be cut."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return text[: longest - 1] + "…" if longest and len(text) > longest else text
