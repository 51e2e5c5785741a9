"""A plain command hook for tests: writes down what the host tells it, and answers as told beforehand.

hook = RecordingHook(tmp_path)
hook.answer("PreToolUse", containing="secret.txt", exit_code=2, stderr="not that one")
settings["hooks"]["PreToolUse"] = [{"hooks": [{"type": "command", "command": hook.command}]}]
...
assert hook.seen("PreToolUse")[0]["tool_name"] == "Write"
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

_PROGRAM = """\
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
payload = sys.stdin.read()
log = os.open(os.path.join(here, "seen.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(log, payload.replace("\\n", " ").encode() + b"\\n")
event = json.loads(payload).get("hook_event_name")
with open(os.path.join(here, "answers.json"), encoding="utf-8") as file:
    answers = json.load(file)
for answer in answers:
    if answer["event"] == event and answer["containing"] in payload:
        time.sleep(answer["delay"])
        if answer["append_message"]:
            messages = json.loads(payload)["llm_request"]["messages"]
            messages.append({"role": "user", "content": answer["append_message"]})
            output = {"hookEventName": event, "llm_request": {"messages": messages}}
            json.dump({"hookSpecificOutput": output}, sys.stdout)
        sys.stdout.write(answer["stdout"])
        sys.stderr.write(answer["stderr"])
        sys.exit(answer["exit_code"])
"""


class RecordingHook:
    """Answers with nothing and exit code 0 unless told otherwise; the first answer that fits is used."""

    def __init__(self, folder: Path, name: str = "hook") -> None:
        self._folder = folder / name
        self._folder.mkdir(parents=True)
        self._answers: list[dict[str, Any]] = []
        (self._folder / "hook.py").write_text(_PROGRAM)
        self._save()

    @property
    def command(self) -> str:
        """The command line for a host's settings; the real interpreter, as a shim costs 100 ms."""
        program = str(self._folder / "hook.py")
        return shlex.join([str(Path(sys.executable).resolve()), "-I", "-S", program])

    def answer(
        self,
        event: str,
        reply: Any = "",
        *,
        containing: str = "",
        exit_code: int = 0,
        stderr: str = "",
        delay: float = 0.0,
        append_message: str = "",
    ) -> None:
        """What to say at this event when the payload holds this text; a reply that is no text is sent as JSON.

        `append_message` answers with the messages of a BeforeModel payload and this one more.
        """
        stdout = reply if isinstance(reply, str) else json.dumps(reply)
        self._answers.append(
            {
                "event": event,
                "containing": containing,
                "stdout": stdout,
                "stderr": stderr,
                "exit_code": exit_code,
                "delay": delay,
                "append_message": append_message,
            }
        )
        self._save()

    def seen(self, event: str | None = None) -> list[dict[str, Any]]:
        """The payloads so far, of one event or of all."""
        log = self._folder / "seen.jsonl"
        lines = log.read_text().splitlines() if log.exists() else []
        payloads = [json.loads(line) for line in lines]
        return [p for p in payloads if event is None or p["hook_event_name"] == event]

    def _save(self) -> None:
        (self._folder / "answers.json").write_text(json.dumps(self._answers))
