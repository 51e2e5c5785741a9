"""How the offline model carries out each kind of request, as steps with the real tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from holdfast.core.messages import Language, Message
from holdfast.runtime import offline_words as say
from holdfast.runtime.offline_hands import Call, Hands, Result, Work
from holdfast.runtime.offline_intents import Intent, IntentKind

MOST_LINES = 12
NO_OUTPUT = "[no output]"
"""What the tool says instead of nothing."""
REMEMBERED_IN = "details/learnings/remembered.md"
MOST_WATCHING = 40
"""Reads of one file in a row; the loop watch speaks up long before."""

Worker = Callable[[Intent, Hands, Language], Work]


def _said(message: Message) -> Worker:
    """An intent that needs no tool."""

    def work(intent: Intent, hands: Hands, language: Language) -> Work:
        yield from ()
        return message.text(language)

    return work


def _or_trouble(result: Result, what: str, language: Language) -> str | None:
    if result.ok:
        return None
    phrase = say.REFUSED if result.denied else say.FAILED
    return phrase(what=what, why=result.why).text(language)


def _excerpt(text: str, language: Language, *, tail: bool = False) -> str:
    lines = text.strip("\n").split("\n")
    shown = lines[-MOST_LINES:] if tail else lines[:MOST_LINES]
    fence = "```" if "```" not in text else "~~~~"
    block = "\n".join([fence, *shown, fence])
    left = len(lines) - len(shown)
    more = say.MORE_ONE() if left == 1 else say.MORE(count=left)
    return f"{block}\n{more.text(language)}" if left > 0 else block


def _read(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("read", path=intent.path)
    trouble = _or_trouble(result, f"read {intent.path}", language)
    if trouble:
        return trouble
    if not result.text.strip():
        return say.EMPTY_FILE(path=intent.path).text(language)
    lines = len(result.text.strip("\n").split("\n"))
    phrase = say.READ_ONE if lines == 1 else say.READ
    return phrase(path=intent.path, lines=lines, excerpt=_excerpt(result.text, language)).text(language)


def _list(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("ls", path=intent.path)
    trouble = _or_trouble(result, f"ls {intent.path}".strip(), language)
    if trouble:
        return trouble
    where = f"`{intent.path}`" if intent.path else say.THIS_FOLDER().text(language)
    names = entries(result.text)
    phrase = say.LISTED_ONE if len(names) == 1 else say.LISTED
    return phrase(count=len(names), where=where, excerpt=_excerpt("\n".join(names), language)).text(language)


def _glob(intent: Intent, hands: Hands, language: Language) -> Work:
    pattern = intent.text if "/" in intent.text else f"**/{intent.text}"
    return (yield from _matches(hands.call("glob", pattern=pattern), intent, language))


def _search(intent: Intent, hands: Hands, language: Language) -> Work:
    return (yield from _matches(hands.call("grep", pattern=re.escape(intent.text), path=intent.path), intent, language))


def _matches(call: Call, intent: Intent, language: Language) -> Work:
    result = yield call
    trouble = _or_trouble(result, f"{call.tool} {intent.text}", language)
    if trouble:
        return trouble
    lines = [line for line in result.text.splitlines() if line.strip()]
    if not lines or re.match(r"(?i)no (?:match|file)", lines[0]):
        return say.NOT_FOUND(text=intent.text).text(language)
    return say.FOUND(text=intent.text, count=len(lines), excerpt=_excerpt(result.text, language)).text(language)


def _write(intent: Intent, hands: Hands, language: Language) -> Work:
    content = intent.text if intent.text.endswith("\n") else intent.text + "\n"
    result = yield hands.call("write", path=intent.path, content=content)
    return _or_trouble(result, f"write {intent.path}", language) or say.WROTE(path=intent.path).text(language)


def _replace(intent: Intent, hands: Hands, language: Language) -> Work:
    # A file is read before it is changed: an edit of what was never seen is refused.
    result = yield hands.call("read", path=intent.path)
    trouble = _or_trouble(result, f"read {intent.path}", language)
    if trouble:
        return trouble
    result = yield hands.call("edit", path=intent.path, old=intent.old, new=intent.text)
    return _or_trouble(result, f"edit {intent.path}", language) or say.CHANGED(path=intent.path).text(language)


def _move(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("move", source=intent.path, to=intent.to)
    moved = say.MOVED(path=intent.path, to=intent.to).text(language)
    return _or_trouble(result, f"move {intent.path}", language) or moved


def _delete(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("delete", path=intent.path)
    return _or_trouble(result, f"delete {intent.path}", language) or say.DELETED(path=intent.path).text(language)


def _command(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("bash", command=intent.text)
    trouble = _or_trouble(result, intent.text, language)
    if trouble:
        return trouble
    if result.text.strip() in ("", NO_OUTPUT):
        return say.RAN_SILENTLY(command=intent.text).text(language)
    return say.RAN(command=intent.text, excerpt=_excerpt(result.text, language, tail=True)).text(language)


_TEST_COMMANDS = (
    ("Makefile", "make test"),
    ("pyproject.toml", "python -m pytest -q"),
    ("package.json", "npm test"),
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
)


def _tests(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("ls")
    trouble = _or_trouble(result, "ls", language)
    if trouble:
        return trouble
    there = set(entries(result.text))
    command = next((command for file, command in _TEST_COMMANDS if file in there), "")
    if not command and any(name.startswith("test") for name in there):
        command = "python -m pytest -q"
    if not command:
        return say.NO_TESTS().text(language)
    return (yield from _command(Intent("command", text=command), hands, language))


def _fetch(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("web_fetch", url=intent.text)
    fetched = say.FETCHED(url=intent.text, excerpt=_excerpt(result.text, language)).text(language)
    return _or_trouble(result, intent.text, language) or fetched


def _web_search(intent: Intent, hands: Hands, language: Language) -> Work:
    return (yield from _matches(hands.call("web_search", query=intent.text), intent, language))


def _summarise(intent: Intent, hands: Hands, language: Language) -> Work:
    if re.search(r"\.\w+$", intent.path):
        return (yield from _read(intent, hands, language))
    listing = yield hands.call("ls", path=intent.path)
    trouble = _or_trouble(listing, f"ls {intent.path}".strip(), language)
    if trouble:
        return trouble
    names = entries(listing.text)
    parts: list[str] = []
    for name in worth_reading(names):
        path = f"{intent.path.rstrip('/')}/{name}" if intent.path else name
        result = yield hands.call("read", path=path, limit=40)
        if result.ok:
            parts.append(f"- **{name}**: {first_words(result.text)}")
    where = f"`{intent.path}`" if intent.path else say.THIS_FOLDER().text(language)
    shown = ", ".join(f"`{name}`" for name in names[:MOST_LINES]) + (", ..." if len(names) > MOST_LINES else "")
    phrase = say.SUMMARY_ONE if len(names) == 1 else say.SUMMARY
    summary = phrase(where=where, count=len(names), names=shown, parts="\n".join(parts))
    return summary.text(language)


def _plan(intent: Intent, hands: Hands, language: Language) -> Work:
    steps = say.PLAN_STEPS().text(language).split("\n")
    call = _plan_call(hands, steps)
    if call is not None:
        result = yield call
        trouble = _or_trouble(result, "manage_plan", language)
        if trouble:
            return trouble
    about = f" ({intent.text})" if intent.text else ""
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return say.PLAN(about=about, steps=listed).text(language)


def _plan_call(hands: Hands, steps: Sequence[str]) -> Call | None:
    """The plan in whatever form the tool takes a list."""
    properties = hands.tools.get("manage_plan", {})
    for name, schema in properties.items():
        if not isinstance(schema, Mapping) or schema.get("type") != "array":
            continue
        items = schema.get("items", {})
        fields = items.get("properties", {}) if isinstance(items, Mapping) else {}
        if not fields:
            return Call("manage_plan", {name: list(steps)})
        title = next(
            (key for key in ("title", "step", "text", "content", "description", "name") if key in fields), None
        )
        if title is None:
            return None
        status = _first_choice(fields.get("status"))
        extra = {"status": status} if status else {}
        return Call("manage_plan", {name: [{title: step, **extra} for step in steps]})
    return None


def _first_choice(schema: object) -> str:
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    return str(choices[0]) if isinstance(choices, list | tuple) and choices else ""


def _delegate(intent: Intent, hands: Hands, language: Language) -> Work:
    result = yield hands.call("task", prompt=intent.text, about=intent.text[:60])
    told = say.DELEGATED(excerpt=_excerpt(result.text, language)).text(language)
    return _or_trouble(result, "task", language) or told


def _remember(intent: Intent, hands: Hands, language: Language) -> Work:
    why = say.BECAUSE_ASKED().text(language)
    result = yield hands.call("memory_propose", path=REMEMBERED_IN, append=f"- {intent.text}", why=why)
    return _or_trouble(result, "memory_propose", language) or say.REMEMBERED().text(language)


def _watch(intent: Intent, hands: Hands, language: Language) -> Work:
    for _ in range(MOST_WATCHING):
        result = yield hands.call("read", path=intent.path)
        if not result.ok:
            return say.STOPPED_WATCHING(path=intent.path, why=result.why).text(language)
        if intent.text and intent.text.lower() in result.text.lower():
            return say.WATCHED(path=intent.path, text=intent.text).text(language)
    return say.GAVE_UP(path=intent.path, count=MOST_WATCHING).text(language)


WORKS: Mapping[IntentKind, Worker] = {
    "read": _read, "list": _list, "glob": _glob, "search": _search, "write": _write, "replace": _replace,
    "delete": _delete, "move": _move, "command": _command, "tests": _tests, "fetch": _fetch,
    "web_search": _web_search, "plan": _plan, "summarise": _summarise, "delegate": _delegate, "watch": _watch,
    "remember": _remember, "settled": _said(say.SETTLED()),
    "help": _said(say.HELP()), "thanks": _said(say.WELCOME()), "unknown": _said(say.UNKNOWN()),
}  # fmt: skip


def entries(listing: str) -> list[str]:
    """The names in a listing, whether it is bare names or names with sizes behind them; folders without their slash."""
    names: list[str] = []
    for line in listing.splitlines():
        name = re.split(r"\s{2,}|\t", line.strip().lstrip("-*├└│─ "))[0].strip()
        if name and not name.endswith(":") and not name.startswith(("[", "(")):
            names.append(name.rstrip("/"))
    return names


def worth_reading(names: Sequence[str]) -> list[str]:
    """What tells most about a folder: its README, then what describes the project, then other texts."""

    def rank(name: str) -> int:
        low = name.lower()
        if low.startswith("readme"):
            return 0
        if low in ("pyproject.toml", "package.json", "cargo.toml", "go.mod", "makefile"):
            return 1
        return 2 if low.endswith((".md", ".txt", ".rst")) else 3

    readable = [name for name in names if rank(name) < 3]
    return sorted(readable, key=lambda name: (rank(name), name))[:3]


def first_words(text: str) -> str:
    """The first line that says something, without line numbers or Markdown's marks."""
    for line in text.splitlines():
        words = re.sub(r"^\s*(?:\d+\s*[|\t:→]\s*)?[#>*=\-\s\[\]]*", "", line).strip()
        if len(words) > 1:
            return words[:160]
    return ""
