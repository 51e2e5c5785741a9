"""What shows up at the door of the chain, and what it is told about its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holdfast.core.events import StartSource
from holdfast.core.messages import Message, Phrase
from holdfast.store.interface import Session

How = Literal["known", "new", "next", "named", "continued", "claimed"]

SEVERAL = Phrase(
    "threads.several",
    "Several threads of this project were sealed and wait: {threads}. This is a new thread; to go on with one of them "
    "run `holdfast continue THREAD` and start again.",
    "本项目有多个已封存、等待继续的线程：{threads}。现在是新线程；要继续其中之一，请运行 "
    "`holdfast continue THREAD` 后重新开始。",
)
TAKEN = Phrase(
    "threads.taken",
    "Thread {thread} goes on elsewhere (session {session}), so this is a new thread.",
    "线程 {thread} 已在别处继续（会话 {session}），因此这里是新线程。",
)
BUSY = Phrase(
    "threads.busy",
    "Thread {thread} has a turn under way in session {session}, so this is a new thread; wait for its end to join it.",
    "线程 {thread} 的会话 {session} 中有回合正在进行，因此这里是新线程；请等其结束后再加入。",
)
JOINED = Phrase(
    "threads.joined",
    "This goes on with thread {thread}, as session {number}.",
    "继续线程 {thread}，这是第 {number} 个会话。",
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A host's session as it shows up with its first event, or with any later one."""

    host: str
    session: str
    """The host's own id."""
    vault: str
    cwd: str = ""
    source: StartSource | None = None
    """None on events that begin nothing."""
    agent: str = ""
    """Empty: the host's name."""
    thread: str = ""
    """HOLDFAST_THREAD, or the thread that `--thread` names."""
    model: str = ""
    mode: str = "agent"
    transcript: str = ""

    @property
    def agent_id(self) -> str:
        return self.agent or self.host


@dataclass(frozen=True, slots=True)
class Opening:
    """Where the work belongs, and how that came about."""

    session: Session
    how: How
    hint: Message | None = None
    """For the user."""

    @property
    def begins(self) -> bool:
        """Whether a session was opened just now."""
        return self.how != "known"
