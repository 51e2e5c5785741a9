"""The pictures of the page in the documents: which there are, what they show, and the page of the reference with all.

`test_gallery.py` takes them. `docs/reference/screens.md` is written with them; a test fails when it drifts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "images" / "page"
PAGE = ROOT / "docs" / "reference" / "screens.md"
DESKTOP, PHONE = "desktop-en-light", "phone-zh-dark"
KINDS = (DESKTOP, PHONE)


@dataclass(frozen=True, slots=True)
class Picture:
    """`name` begins with the screen's; `shows` is the line below the pictures."""

    name: str
    shows: str
    kinds: tuple[str, ...] = KINDS

    @property
    def screen(self) -> str:
        return self.name.partition("-")[0]

    def files(self) -> list[Path]:
        return [PICTURES / f"{self.name}-{kind}.png" for kind in self.kinds]


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    about: str
    pictures: tuple[Picture, ...]


CHAPTERS = (
    Chapter(
        "Chat",
        "Conversations with the own agent, and those of every attached host, as they happen.",
        (
            Picture("chat", "A conversation: Markdown, calls that are done, how full the context is"),
            Picture("chat-new", "Before the first word"),
            Picture("chat-streaming", "A reply on its way; Stop is there for as long as something runs"),
            Picture("chat-running", "A command that runs, with what it prints"),
            Picture("chat-approval", "A call that waits, with its question in its own card"),
            Picture("chat-states", "A call that failed, and one that was denied with a word to the agent"),
            Picture("chat-queue", "What is written meanwhile waits in a queue"),
            Picture("chat-mention", "Files are named with @, or dragged in"),
            Picture("chat-compaction", "A conversation of Claude Code: compacted, with before and after"),
            Picture("chat-health", "How full the context is, and where the strategy warns and acts"),
            Picture("chat-full", "Full access is confirmed once for a session"),
            Picture("chat-banner", "and a banner stands for as long as it holds"),
            Picture("chat-output", "A whole output that was cut for the model: find, wrap, download"),
        ),
    ),
    Chapter(
        "Inbox",
        "Every question of every host; the first answer counts, on whatever device it is given.",
        (
            Picture("inbox", "What waits, of three hosts"),
            Picture("inbox-diff", "A change of a file: the diff, why it is asked about, which rule of which file"),
            Picture("inbox-command", "A command, taken apart into what it would do"),
            Picture("inbox-always", '"Always" shows the exact rule before it is written'),
            Picture("inbox-deny", "A no with a word to the agent"),
            Picture("inbox-decided", "What was decided, by whom"),
        ),
    ),
    Chapter(
        "Sessions",
        "The chain of sessions behind a conversation.",
        (
            Picture("sessions", "Sealed and active sessions, how full they were, and their anchors"),
            Picture("sessions-digest", "The digest that the next session is given"),
            Picture("sessions-transcript", "The transcript, event by event"),
            Picture("sessions-raw", "and raw, as it is on record"),
            Picture("sessions-recovery", "After a compaction: what has to be read again, and what was"),
        ),
    ),
    Chapter(
        "Search",
        "Over everything that was said and done, in every host.",
        (
            Picture("search", "Hits with their words marked; each leads to its event"),
            Picture("search-filters", "Kind, tool, file, host, agent, project, time"),
        ),
    ),
    Chapter(
        "Audit",
        "Every decision with its reasons.",
        (
            Picture("audit", "Decisions by facet and over time"),
            Picture("audit-why", "Why one was decided: every finding of every policy"),
        ),
    ),
    Chapter(
        "Rules",
        "Who may do what.",
        (
            Picture("rules", "Your rules in their order, each with the file and line it comes from"),
            Picture("rules-test", "What the rules say to a command, and which one"),
            Picture("rules-templates", "Sets of rules to switch on"),
            Picture("rules-simulator", "Edited rules against everything on record: what would have been different"),
        ),
    ),
    Chapter(
        "Memory",
        "What a project keeps across sessions.",
        (
            Picture("memory", "The memory bank and what is proposed for it"),
            Picture("memory-proposal", "A proposal, as a diff"),
        ),
    ),
    Chapter("Figures", "Decisions by day, tokens over a session.", (Picture("plots", "Both, for one session"),)),
    Chapter(
        "Settings",
        "Each section writes the configuration file and leaves your comments in place.",
        (
            Picture("settings-appearance", "Language, theme, sound and notifications of this browser"),
            Picture("settings-prompt", "System prompt and parameters, each with \"use model default\""),
            Picture("settings-models", "Models, their windows, and whether a key is there"),
            Picture("settings-agents", "Agents"),
            Picture("settings-strategy", "When a context is made smaller, and how"),
            Picture("settings-hosts", "Attached hosts, with what the doctor found"),
            Picture("settings-notifications", "Where to be told that something waits"),
            Picture("settings-devices", "Who was let in"),
            Picture("settings-all", "Every setting, with its value and where it comes from"),
            Picture("settings-list", "The sections on a phone", (PHONE,)),
        ),
    ),
    Chapter(
        "Around it",
        "Getting in, and what the frame says.",
        (
            Picture("entry", "Who has no link types a code from another device"),
            Picture("phone-dialog", "The way in for a phone"),
            Picture("more", "What the bar at the bottom has no room for", (PHONE,)),
            Picture("lost", "The server is away; nothing is lost"),
        ),
    ),
)  # fmt: skip


def pictures() -> list[Picture]:
    return [one for chapter in CHAPTERS for one in chapter.pictures]


def written() -> str:
    """The page of the reference."""
    parts = [
        "# Screens of the page\n",
        "<!-- Made by tests/e2e/page/gallery.py with `make screenshots`; edit that instead. -->\n",
        "Every screen of the page that `holdfast serve` opens, on a desktop in English and on a phone in Chinese. The\n"
        "pictures are taken by the page's own tests, of a demonstration: a ferry company's ticket shop. How to use\n"
        "it: [the page](../how-to/page.md).\n",
    ]
    for chapter in CHAPTERS:
        parts.append(f"## {chapter.title}\n\n{chapter.about}\n")
        for one in chapter.pictures:
            shown = "\n".join(
                f'<img src="../images/page/{file.name}" width="{540 if DESKTOP in file.name else 156}" '
                f'alt="{_alt(one)}, {"desktop" if DESKTOP in file.name else "phone"}">'
                for file in one.files()
            )
            parts.append(f"{one.shows}:\n\n{shown}\n")
    return "\n".join(parts)


def _alt(one: Picture) -> str:
    return one.shows.replace('"', "&quot;")
