"""The reading of a command in words, for people."""

from __future__ import annotations

from holdfast.shell.reading import CommandReading, Effect

_VERBS = {
    "reads": "reads",
    "writes": "writes",
    "deletes": "deletes",
    "runs": "runs",
    "network": "talks to",
    "installs": "installs",
    "changes_permissions": "changes permissions of",
    "git_history": "changes git",
    "external_state": "changes outside state",
}


def explain(reading: CommandReading) -> str:
    """Several lines: the judgement, why, what would run, and every effect."""
    lines = [f"{reading.risk}: {reading.reason}"]
    if reading.read_only:
        lines.append("It is proven to be read-only.")
    if reading.unknown:
        lines.append(f"Not known before it runs: {reading.unknown_why}.")
    if reading.has_error:
        lines.append("bash would not accept it as it is written.")
    if reading.simple_commands:
        lines.append("What would run:")
        for command in reading.simple_commands:
            through = f"  (through {' > '.join(command.via)})" if command.via else ""
            lines.append(f"  {command.text}{through}")
    if reading.effects:
        lines.append("What it would do:")
        lines.extend(f"  {_line(effect)}" for effect in reading.effects)
    return "\n".join(lines)


def _line(effect: Effect) -> str:
    extras = [effect.detail] if effect.detail else []
    if effect.whole:
        extras.append("whole content")
    if not effect.certain:
        extras.append("not certain")
    suffix = f" ({', '.join(extras)})" if extras else ""
    return f"{_VERBS[effect.kind]} {effect.target or '?'}{suffix}"
