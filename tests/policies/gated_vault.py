"""A real vault on disk behind a plane with the memory gates only: for the tests of the gates."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from holdfast.core.events import ToolCall, ToolResult
from holdfast.core.settings import MemorySettings
from holdfast.core.targets import Vault
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.examine import Examiner
from holdfast.plane import Plane, Surroundings
from holdfast.policies.context_gate import ContextGate
from holdfast.policies.recovery_gate import RecoveryGate
from holdfast.policies.writer_guard import WriterGuard
from holdfast.shell import read_command
from holdfast.store.interface import Session
from holdfast.store.memory_files import MemoryFiles
from holdfast.testing.builders import EventBuilder, session_id
from holdfast.testing.memory_store import MemoryStore

FILES = {
    "memory-bank/MEMORY.md": (
        "# Memory\n\n## Current Focus\n\n- Goal: ship it\n- In progress: tests\n- Remaining: docs\n"
    ),
    "memory-bank/details/patterns.md": "patterns",
    "memory-bank/details/progress.md": "progress",
    "memory-bank/details/requirements/REQ-005.md": "a requirement",
    "memory-bank/details/design/index-first.md": "a design",
}


class GatedVault:
    """Calls go through the gates and, when allowed, are reported as done."""

    def __init__(
        self, folder: Path, *, agent: str = "holdfast", files=None, folds_case: bool = False, **settings
    ) -> None:
        self.root = Path(os.path.realpath(folder)) / "vault"
        for name, text in (FILES if files is None else files).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.root.mkdir(exist_ok=True)
        self.settings = MemorySettings(**settings)
        self.store = MemoryStore()
        self.where = session_id(agent=agent)
        self.store.open_session(Session(self.where, host=agent, vault=str(self.root), started_at=1.0))
        self.build = EventBuilder(self.where, cwd=str(self.root))
        self._calls = count(1)
        self._files = MemoryFiles(folds_case=folds_case)
        self._examiner = Examiner(
            vault=Vault(str(self.root), folds_case=folds_case),
            home="/home/nobody",
            resolve=os.path.realpath,
            read_command=lambda text, cwd: read_command(text, cwd=cwd or None),
            tools=NEUTRAL_TOOLS,
        )
        policies = (RecoveryGate(self.settings), WriterGuard(self.settings), ContextGate(self.settings))
        ids = count(1)
        self.plane = Plane(
            self.store,
            lambda: policies,
            Surroundings(
                clock=lambda: 0.0,
                new_id=lambda: f"id{next(ids)}",
                examine=lambda call, vault: self._examiner.examine(call),
                keep_output=lambda *_: None,
                compose_output=lambda spill, path, language: spill.preview,
                propose_rules=lambda call, outcome: [],
                language=lambda vault: "en",
                memory=self._files.facts,
            ),
        )

    def call(self, tool: str, **tool_input) -> ToolCall:
        return ToolCall(f"call{next(self._calls)}", tool, tool_input, cwd=str(self.root))

    def examined(self, tool: str, **tool_input) -> ToolCall:
        return self._examiner.examine(self.call(tool, **tool_input))

    def says(self, text="please", **over):
        return self.plane.handle(self.build.prompt(text, **over))

    def tries(self, tool: str, where=None, **tool_input):
        over = {"where": where} if where else None
        return self.plane.handle(self.build.calling(self.call(tool, **tool_input), over=over))

    def does(self, tool: str, *, failed=False, where=None, **tool_input):
        """The whole round trip; a denied call is never reported as done."""
        call = self.call(tool, **tool_input)
        over = {"where": where} if where else None
        asked = self.plane.handle(self.build.calling(call, over=over))
        if asked.decision == "deny":
            return asked
        result = ToolResult(output="text", failed=failed)
        self.plane.handle(self.build.called(call, over={"result": result, **(over or {})}))
        return asked

    def reads(self, path, **over):
        return self.does("read", path=str(path), **over)

    def writes(self, path, where=None):
        return self.tries("write", where=where, path=str(path), content="x")

    def compacts(self):
        return self.plane.handle(self.build.compacted())

    def recovering(self) -> list[str]:
        return list(self.store.state(self.where).data.get("recovery_gate", {}).get("unread", []))
