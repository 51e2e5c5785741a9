"""A host's hooks against a real control, without the host: payloads as the CLIs send them, answers as they get them."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

from holdfast.hosts.gateway import Asked
from holdfast.hosts.registry import gateway_for, open_control
from holdfast.store.home import Home

NAMES = {
    "claude-code": {"write": "Write", "read": "Read", "bash": "Bash"},
    "codex": {"write": "apply_patch", "read": "Bash", "bash": "Bash"},
    "gemini": {"write": "write_file", "read": "read_file", "bash": "run_shell_command"},
    "opencode": {"write": "write", "read": "read", "bash": "bash"},
}


class Stage:
    """One host's session in a vault; `session` may be changed to speak as another one."""

    def __init__(self, folder: Path, host: str, *, config: str = "", patience: float = 20.0) -> None:
        self.patience = patience
        self.host = host
        self.home = Home(folder / "home")
        self.vault = folder / "vault"
        self.vault.mkdir(parents=True)
        self.home.create()
        if config:
            self.home.config.write_text(config)
        self.control = open_control(self.home)
        self.gateway = gateway_for(self.control)
        self.session = "s1"
        self.turn = "turn-1"

    def close(self) -> None:
        self.control.close()

    def send(self, payload: dict[str, Any], *, deadline: float | None = None, **environment: str) -> dict[str, Any]:
        """What the host gets back; `exit` holds the code when it is not 0."""
        reply = self.gateway.answer(
            self.host, json.dumps(payload).encode(), Asked(deadline or self.patience, environment or None)
        )
        if reply.after is not None:
            reply.after()
        answer = json.loads(reply.out or b"{}")
        return {**answer, "exit": reply.code, "stderr": reply.err.decode()} if reply.code else answer

    def hook(self, event: str, **fields: Any) -> dict[str, Any]:
        """A payload of this host's own shape."""
        if self.host == "opencode":
            return {"hook": event, "sessionID": self.session, "cwd": str(self.vault), "messageID": self.turn, **fields}
        common = {"hook_event_name": event, "session_id": self.session, "cwd": str(self.vault)}
        if self.host == "gemini":
            return {**common, "timestamp": self.turn, "transcript_path": "", **fields}
        turn = "prompt_id" if self.host == "claude-code" else "turn_id"
        return {**common, turn: self.turn, "transcript_path": "", **fields}

    def prompt(self, text: str = "please") -> dict[str, Any]:
        match self.host:
            case "gemini":
                return self.send(self.hook("BeforeAgent", prompt=text))
            case "opencode":
                return self.send(self.hook("chat.message", text=text))
            case _:
                return self.send(self.hook("UserPromptSubmit", prompt=text))

    def calling(self, tool: str, arguments: dict[str, Any], call: str = "c1") -> dict[str, Any]:
        return self.send(self.calling_payload(tool, arguments, call))

    def calling_payload(self, tool: str, arguments: dict[str, Any], call: str = "c1") -> dict[str, Any]:
        match self.host:
            case "opencode":
                return self.hook("tool.execute.before", tool=tool, args=arguments, callID=call)
            case "gemini":
                return self.hook("BeforeTool", tool_name=tool, tool_input=arguments)
            case _:
                return self.hook("PreToolUse", tool_name=tool, tool_input=arguments, tool_use_id=call)

    def called(self, tool: str, arguments: dict[str, Any], output: str, call: str = "c1") -> dict[str, Any]:
        match self.host:
            case "opencode":
                fields = {"tool": tool, "args": arguments, "callID": call, "output": output, "metadata": {}}
                return self.send(self.hook("tool.execute.after", **fields))
            case "gemini":
                response = {"llmContent": output, "returnDisplay": ""}
                return self.send(self.hook("AfterTool", tool_name=tool, tool_input=arguments, tool_response=response))
            case "claude-code":
                response = {"stdout": output, "stderr": "", "interrupted": False}
            case _:
                response = output
        fields = {"tool_name": tool, "tool_input": arguments, "tool_use_id": call, "tool_response": response}
        return self.send(self.hook("PostToolUse", **fields))

    def write(self, name: str, call: str = "c1") -> dict[str, Any]:
        tool = NAMES[self.host]["write"]
        return self.calling(tool, self.write_arguments(name), call)

    def write_arguments(self, name: str) -> dict[str, Any]:
        path = str(self.vault / name)
        match self.host:
            case "codex":
                return {"command": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"}
            case "opencode":
                return {"filePath": path, "content": "x"}
            case _:
                return {"file_path": path, "content": "x"}

    def bash(self, command: str, call: str = "c1") -> dict[str, Any]:
        return self.calling(NAMES[self.host]["bash"], {"command": command}, call)

    def answering(self, answer: str = "once", message: str = "") -> threading.Thread:
        """Somebody at the inbox who answers the next question."""

        def watch() -> None:
            end = time.monotonic() + 15
            while time.monotonic() < end:
                for approval in self.control.approvals.pending():
                    self.control.approvals.answer(approval.id, answer, by="tester", message=message)
                    return
                time.sleep(0.01)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        return thread

    def audit(self) -> list[dict[str, Any]]:
        return [dict(entry) for entry in self.control.store.audit()]

    def decisions(self) -> list[tuple[str, str]]:
        return [(entry["tool"], entry["decision"]) for entry in self.audit() if "tool" in entry]

    def kinds(self, session: str | None = None) -> list[str]:
        return [record.kind for record in self.control.store.events(session or self.session)]


def is_allowed(host: str, answer: dict[str, Any]) -> bool:
    """What the host would make of an answer before a call, by what was seen live."""
    if answer.get("exit"):
        return False
    match host:
        case "claude-code":
            return bool(answer["hookSpecificOutput"]["permissionDecision"] == "allow")
        case "codex":
            known = {"hookSpecificOutput", "systemMessage"}
            assert set(answer) <= known, "an unknown field would fail open"
            specific = answer.get("hookSpecificOutput", {})
            decision = specific.get("permissionDecision")
            assert decision != "allow" or "updatedInput" in specific, "a bare allow is an error to Codex"
            return decision != "deny"
        case "gemini":
            return answer.get("decision") not in ("deny", "block")
        case _:
            return answer.get("allow") is True


def reason_of(host: str, answer: dict[str, Any]) -> str:
    match host:
        case "claude-code" | "codex":
            return str(answer["hookSpecificOutput"]["permissionDecisionReason"])
        case "gemini":
            return str(answer["reason"])
        case _:
            return str(answer["deny"])


def rewritten(host: str, answer: dict[str, Any]) -> Any:
    match host:
        case "claude-code" | "codex":
            return answer["hookSpecificOutput"].get("updatedInput")
        case "gemini":
            return answer["hookSpecificOutput"].get("tool_input")
        case _:
            return answer.get("args")


def replaced(host: str, answer: dict[str, Any]) -> Any:
    match host:
        case "claude-code":
            return answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
        case "codex":
            assert answer["decision"] == "block"
            return answer["reason"]
        case "gemini":
            assert answer["decision"] == "deny"
            return answer["reason"]
        case _:
            return answer["output"]
