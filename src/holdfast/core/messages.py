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
        return Message(self, {name: str(value) for name, value in params.items()})


@dataclass(frozen=True, slots=True)
class Message:
    """A phrase with its places filled."""

    phrase: Phrase
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        return self.phrase.code

    def text(self, language: Language = "en") -> str:
        template = self.phrase.zh if language == "zh" else self.phrase.en
        return template.format_map(_Lenient(self.params))

    def to_dict(self) -> dict[str, object]:
        return {"code": self.code, "params": dict(self.params), "en": self.text("en"), "zh": self.text("zh")}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Message:
        """A message that was written down: its sentences are kept as they were, whatever the phrase says now."""
        en, zh = (str(data.get(language, "")).replace("{", "{{").replace("}", "}}") for language in LANGUAGES)
        params = data.get("params")
        values = {str(k): str(v) for k, v in params.items()} if isinstance(params, Mapping) else {}
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
