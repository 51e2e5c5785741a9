"""The hosts' tools under the neutral names, as far as a digest and a search tell them apart."""

from __future__ import annotations

from collections.abc import Mapping

CLAUDE_CODE: Mapping[str, str] = {
    "Read": "read",
    "NotebookRead": "read",
    "LS": "ls",
    "Glob": "glob",
    "Grep": "grep",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "multiedit",
    "NotebookEdit": "notebook_edit",
    "Bash": "bash",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Task": "task",
    "Agent": "task",
    "TodoWrite": "todo_write",
    "TodoRead": "todo_read",
    "TaskCreate": "tasks_add",
    "TaskUpdate": "tasks_update",
    "ExitPlanMode": "plan",
    "AskUserQuestion": "ask_user",
}
CODEX: Mapping[str, str] = {
    "exec_command": "bash",
    "shell": "bash",
    "shell_command": "bash",
    "local_shell": "bash",
    "container.exec": "bash",
    "web_search": "web_search",
    "spawn_agent": "task",
}
GEMINI: Mapping[str, str] = {
    "read_file": "read",
    "read_many_files": "read",
    "list_directory": "ls",
    "grep_search": "grep",
    "search_file_content": "grep",
    "write_file": "write",
    "replace": "edit",
    "run_shell_command": "bash",
    "google_web_search": "web_search",
    "write_todos": "todo_write",
}
OPENCODE: Mapping[str, str] = {
    "list": "ls",
    "patch": "apply_patch",
    "webfetch": "web_fetch",
    "websearch": "web_search",
    "todowrite": "todo_write",
    "todoread": "todo_read",
    "question": "ask_user",
}
