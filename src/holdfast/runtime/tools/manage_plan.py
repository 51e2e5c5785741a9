"""`manage_plan`: the agent's own list of steps, kept for the session and shown to the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools.arguments import optional_text, schema

STATUSES = ("pending", "in_progress", "done", "cancelled")
MOST_STEPS = 100
_PLAN = "plan.steps"
_MARKS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]", "cancelled": "[-]"}


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    steps = given.get("steps")
    if steps is not None:
        context.memory[_PLAN] = _checked(steps)
    plan = plan_of(context.memory)
    if not plan:
        return ToolOutput("There is no plan yet. Give `steps` to make one.", display={"plan": []})
    why = optional_text(given, "explanation")
    lines = [f"{_MARKS[step['status']]} {step['title']}" for step in plan]
    done = sum(step["status"] == "done" for step in plan)
    display: dict[str, Any] = {"plan": plan}
    if why:
        display["explanation"] = why
    return ToolOutput("\n".join([f"Plan, {done} of {len(plan)} done:", *lines]), display=display)


def plan_of(memory: dict[str, Any]) -> list[dict[str, str]]:
    """The session's plan: title and status of each step."""
    plan: list[dict[str, str]] = memory.get(_PLAN, [])
    return plan


def _checked(steps: object) -> list[dict[str, str]]:
    if not isinstance(steps, list):
        raise ToolFailure("'steps' must be a list of {title, status}.")
    if len(steps) > MOST_STEPS:
        raise ToolFailure(f"A plan has at most {MOST_STEPS} steps, this has {len(steps)}. Put some together.")
    plan = []
    for number, step in enumerate(steps, 1):
        given = {"title": step} if isinstance(step, str) else step
        if not isinstance(given, Mapping) or not str(given.get("title", "")).strip():
            raise ToolFailure(f"Step {number} has no title. Each step is {{title, status}}.")
        status = str(given.get("status", "pending"))
        if status not in STATUSES:
            raise ToolFailure(f"Step {number}: status must be one of {', '.join(STATUSES)}, not {status!r}.")
        plan.append({"title": " ".join(str(given["title"]).split()), "status": status})
    running = sum(step["status"] == "in_progress" for step in plan)
    if running > 1:
        raise ToolFailure(f"{running} steps are in_progress; work on one at a time.")
    return plan


TOOL = Tool(
    name="manage_plan",
    description=(
        "Keep a plan for work of several steps, so that you and the user see where it stands. Give the whole list of "
        "`steps` each time you change it; exactly one step is in_progress while you work. Without `steps` it returns "
        "the plan as it is. Not needed for a single simple step."
    ),
    parameters=schema(
        {
            "steps": {
                "type": "array",
                "description": "The whole plan, in order.",
                "items": schema(
                    {
                        "title": {"type": "string", "description": "What is done in this step."},
                        "status": {"type": "string", "enum": list(STATUSES), "default": "pending"},
                    },
                    ["title"],
                ),
            },
            "explanation": {"type": "string", "description": "Why the plan changed, in a sentence."},
        }
    ),
    run=run,
)
