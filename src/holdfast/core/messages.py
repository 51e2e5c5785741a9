"""Sentences for people and models, in every language the project speaks.

A policy declares its sentences as phrases beside the code that uses them. What travels is the code and its
parameters; the text is rendered at the last moment, so the page, the terminal and a host can each choose a language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence with `{named}` places, known by its code."""

    code: str
    en: str
    zh: str

    def __call__(self, **params: object) -> Message:
        return Message(self, {name: v if isinstance(v, Message) else str(v) for name, v in params.items()})


@dataclass(frozen=True, slots=True)
class Message:
    """A phrase with its places filled; a place that holds a message speaks the language of the whole."""

    phrase: Phrase
    params: Mapping[str, str | Message] = field(default_factory=dict)

    @property
    def code(self) -> str:
        return self.phrase.code

    def text(self, language: Language = "en") -> str:
        template = self.phrase.zh if language == "zh" else self.phrase.en
        return template.format_map(
            _Lenient({name: v.text(language) if isinstance(v, Message) else v for name, v in self.params.items()})
        )

    def to_dict(self) -> dict[str, object]:
        params = {name: v.to_dict() if isinstance(v, Message) else v for name, v in self.params.items()}
        return {"code": self.code, "params": params, "en": self.text("en"), "zh": self.text("zh")}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Message:
        """A message that was written down: its sentences are kept as they were, whatever the phrase says now."""
        en, zh = (str(data.get(language, "")).replace("{", "{{").replace("}", "}}") for language in LANGUAGES)
        params = data.get("params")
        values: dict[str, str | Message] = {}
        for name, value in params.items() if isinstance(params, Mapping) else ():
            values[str(name)] = cls.from_dict(value) if isinstance(value, Mapping) else str(value)
        return cls(Phrase(str(data.get("code", "plain")), en, zh), values)

    def __str__(self) -> str:
        return self.text()


class _Lenient(dict[str, str]):
    """A forgotten place shows up as `{name}`: a message must never raise while it explains a decision."""

    def __init__(self, params: Mapping[str, str]) -> None:
        super().__init__(params)

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


_PLAIN = Phrase("plain", "{text}", "{text}")


def plain(text: str) -> Message:
    """A text that has no translation: a user's own words, or another program's."""
    return _PLAIN(text=text)


class TellableError(Exception):
    """An error that explains itself to people: `message` in every language, `str()` in English."""

    def __init__(self, message: Message | str) -> None:
        self.message = message if isinstance(message, Message) else plain(message)
        super().__init__(self.message.text())


def message_of(error: BaseException) -> Message:
    """What an error says; another program's words stay as they are."""
    return error.message if isinstance(error, TellableError) else plain(str(error))
