"""Each host's tools under the neutral names, as data (PE1). A tool of no table keeps its name and is asked about.

What is missing here on purpose: tools whose effect cannot be seen in their input (a script that starts agents, a
schedule, a new worktree, another program's shell). They are unknown, so a person is asked.

The adapters of the hosts and the importers of their transcripts read the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping

CLAUDE_CODE: Mapping[str, str] = {
    "Read": "read",
    "NotebookRead": "notebook_read",
    "LS": "ls",
    "Glob": "glob",
    "Grep": "grep",
    "LSP": "look_up",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "multiedit",
    "NotebookEdit": "notebook_edit",
    "Bash": "bash",
    "Monitor": "bash",
    "BashOutput": "job_output",
    "TaskOutput": "job_output",
    "KillShell": "job_stop",
    "TaskStop": "job_stop",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Task": "task",
    "Agent": "task",
    "SendMessage": "task",
    "ListAgents": "tool_search",
    "TodoWrite": "todo_write",
    "TodoRead": "todo_read",
    "TaskCreate": "tasks_add",
    "TaskUpdate": "tasks_update",
    "TaskGet": "tasks_get",
    "TaskList": "tasks_list",
    "CronList": "tasks_list",
    "ScheduleWakeup": "plan",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "ReportFindings": "plan",
    "StructuredOutput": "plan",
    "AskUserQuestion": "ask_user",
    "ToolSearch": "tool_search",
    "ListMcpResourcesTool": "tool_search",
    "WaitForMcpServers": "tool_search",
    "Skill": "skill",
}

OPENCODE: Mapping[str, str] = {
    "read": "read",
    "list": "ls",
    "glob": "glob",
    "grep": "grep",
    "lsp": "look_up",
    "write": "write",
    "edit": "edit",
    "multiedit": "multiedit",
    "apply_patch": "apply_patch",
    "patch": "apply_patch",
    "bash": "bash",
    "webfetch": "web_fetch",
    "websearch": "web_search",
    "codesearch": "web_search",
    "task": "task",
    "todowrite": "todo_write",
    "todoread": "todo_read",
    "plan_enter": "plan",
    "plan_exit": "plan",
    "question": "ask_user",
    "skill": "skill",
    "invalid": "invalid",
}

CODEX: Mapping[str, str] = {
    "Bash": "bash",
    "apply_patch": "apply_patch",
    "view_image": "look_up",
    "update_plan": "update_plan",
    "get_goal": "plan",
    "create_goal": "plan",
    "update_goal": "plan",
    "request_user_input": "ask_user",
    "tool_search": "tool_search",
    "list_mcp_resources": "tool_search",
    "list_mcp_resource_templates": "tool_search",
    "spawn_agent": "task",
    "collaborationspawn_agent": "task",
    "collaborationfollowup_task": "task",
    "collaborationsend_message": "task",
    "collaborationwait_agent": "job_output",
    "collaborationlist_agents": "tool_search",
    "collaborationinterrupt_agent": "job_stop",
    "send_input": "task",
    "wait_agent": "job_output",
    "close_agent": "job_stop",
}

CODEX_TRANSCRIPT: Mapping[str, str] = {
    **CODEX,
    "exec_command": "bash",
    "shell": "bash",
    "shell_command": "bash",
    "local_shell": "bash",
    "container.exec": "bash",
    "web_search": "web_search",
}
"""Its hooks word calls in another way than its transcript does."""

GEMINI: Mapping[str, str] = {
    "read_file": "read",
    "read_many_files": "read_many",
    "list_directory": "ls",
    "glob": "glob",
    "grep_search": "grep",
    "search_file_content": "grep",
    "write_file": "write",
    "replace": "edit",
    "run_shell_command": "bash",
    "list_background_processes": "job_output",
    "read_background_output": "job_output",
    "web_fetch": "web_fetch",
    "google_web_search": "web_search",
    "invoke_agent": "task",
    "complete_task": "task",
    "write_todos": "todo_write",
    "tracker_create_task": "tasks_add",
    "tracker_update_task": "tasks_update",
    "tracker_add_dependency": "tasks_update",
    "tracker_get_task": "tasks_get",
    "tracker_list_tasks": "tasks_list",
    "tracker_visualize": "tasks_graph",
    "update_topic": "plan",
    "enter_plan_mode": "plan",
    "exit_plan_mode": "plan",
    "ask_user": "ask_user",
    "activate_skill": "skill",
    "get_internal_docs": "tool_search",
    "list_mcp_resources": "tool_search",
}

_ONLY_READ = frozenset(
    ("read", "read_many", "notebook_read", "ls", "glob", "grep", "look_up", "todo_read", "tool_search", "job_output")
)


def reading(tools: Mapping[str, str]) -> frozenset[str]:
    """The tools that go on when Holdfast itself has failed (HO4)."""
    return frozenset(name for name, neutral in tools.items() if neutral in _ONLY_READ)
