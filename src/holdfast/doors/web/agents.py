"""The user's own agents (HK2): `agents/*.md`, the chosen one, and what is wrong with them."""

from __future__ import annotations

from holdfast.core.decode import encode
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.records import Answer, problem_data
from holdfast.doors.web.routes import Call, Route
from holdfast.store.agent_files import chosen_agent_problem, load_agents

MOST_AGENTS = 200


def list_agents(call: Call) -> Answer:
    records = call.server.records
    files = load_agents(records.control.home.agents)
    config = records.control.config
    chosen = config.settings.runtime.agent.id
    missing = chosen_agent_problem(config, files)
    return {
        "chosen": chosen,
        "agents": [
            {
                "id": agent.id,
                "name": agent.name,
                "description": agent.description,
                "params": encode(agent.params),
                "prompt": agent.prompt,
                "file": str(agent.path),
                "chosen": agent.id == chosen,
            }
            for agent in list(files.agents.values())[:MOST_AGENTS]
        ],
        "problems": [problem_data(problem) for problem in (*files.problems, *((missing,) if missing else ()))],
    }


ROUTES = (Route("GET", "/api/agents", list_agents, "The user's own agents", returns=shapes.Agents),)
