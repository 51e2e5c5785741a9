"""What is wrong with a configuration, as one line each: `file:line:column: key: what was expected, what was found`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.core.messages import Message, Phrase, TellableError


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    source: str
    """The file, or the name of the option or variable that brought the value."""
    message: Message
    key: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.told().text()

    def told(self) -> Message:
        """The whole line as a message."""
        place = self.source + "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        return (
            _AT_KEY(place=place, key=self.key, what=self.message) if self.key else _AT(place=place, what=self.message)
        )


_AT = Phrase("config.at", "{place}: {what}", "{place}：{what}")
_AT_KEY = Phrase("config.at_key", "{place}: {key}: {what}", "{place}：{key}：{what}")


class ConfigError(TellableError):
    """A configuration that must not be used; nothing was written."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__(_all(self.problems))


def _all(problems: Sequence[ConfigProblem]) -> Message:
    """All in one level: a file may have thousands."""
    lines = "\n".join(f"{{p{number}}}" for number in range(len(problems)))
    return Phrase("config.problems", lines, lines)(**{f"p{n}": problem.told() for n, problem in enumerate(problems)})
