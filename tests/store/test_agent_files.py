"""Agents as Markdown: the ADR's files load unchanged, a broken one is named with its line and left out."""

from pathlib import Path

import pytest

from holdfast.store.agent_files import AgentWatcher, chosen_agent_problem, load_agents, read_agent
from holdfast.store.config_file import ConfigError, Inline, load_config

EXAMPLES = Path(__file__).parent / "config_examples"


def write(folder, text, name="a.md"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("file", "description", "params", "prompt"),
    [
        ("writer_g.md", "Write succinctly", {"temperature": 0.2},
         "You are a writing assistant. Keep responses short and clear."),
        ("writer_p2_7.md", "Short, factual answers.", {"temperature": 0.2, "max_tokens": 512},
         "You are a concise writing assistant. Always respond with short bullet points."),
    ],
)  # fmt: skip
def test_HK2_the_adrs_agent_files_load_unchanged(file, description, params, prompt):
    agent = read_agent(EXAMPLES / file)
    assert (agent.id, agent.name, agent.description) == ("writer", "Writer", description)
    assert agent.params.given() == params
    assert agent.prompt == prompt


def test_HK2_a_header_in_yaml(tmp_path):
    text = "---\nname: Reviewer\nmodelSettings:\n  temperature: 0.1\n  topP: 0.9\n---\n\nReview.\n\n---\n\nKeep.\n"
    agent = read_agent(write(tmp_path, text, "reviewer.md"))
    assert (agent.id, agent.name) == ("reviewer", "Reviewer")
    assert agent.params.given() == {"temperature": 0.1, "top_p": 0.9}
    assert agent.prompt == "Review.\n\n---\n\nKeep."


def test_HK2_the_id_defaults_to_the_stem_and_the_header_may_be_absent_or_empty(tmp_path):
    for text in ("Just a prompt.", "---\n---\nJust a prompt.", "\ufeff---\r\n{}\r\n---\r\nJust a prompt.\r\n"):
        agent = read_agent(write(tmp_path, text, "plain.md"))
        assert (agent.id, agent.name, agent.prompt) == ("plain", "plain", "Just a prompt.")


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ("{\n  'id': 'x',\n  'modelSetting': {}\n}", ":4:3: modelSetting: unknown key 'modelSetting'; did you mean"),
        ("{\n  'modelSettings': {'temperature': 'hot'}\n}", ":3:36: modelSettings.temperature: expected a number"),
        ("{\n  'id': \n}", ":4:1: id: expected a value"),
        ("{'id': '../x'}", ":2:8: id: expected letters"),
        ("id: x\nmodelSettings:\n  temperature: 3", ":4:16: modelSettings.temperature: must be between 0 and 2"),
        ("id: x\nnam: y", ":3:1: nam: unknown key 'nam'"),
        ("id: x\nid: y", ":3:1: id: expected each key once, but 'id' stands on line 2"),
        ("id: [", ":3:1: expected YAML or JSON5; as YAML it fails: expected the node"),
        ("- a", ":2:1: expected an object, got a list"),
        ("id: 12", ":2:5: id: expected a string, got 12"),
    ],
)
def test_HK2_errors_name_file_line_and_key(tmp_path, header, place):
    path = write(tmp_path, f"---\n{header}\n---\nBody")
    with pytest.raises(ConfigError) as caught:
        read_agent(path)
    assert str(caught.value).startswith(f"{path}{place}")


def test_HK2_a_header_that_never_ends_is_named(tmp_path):
    with pytest.raises(ConfigError, match="expected `---` below the header"):
        read_agent(write(tmp_path, "---\nid: x\n"))


def test_HK2_a_broken_file_is_named_and_skipped(tmp_path):
    write(tmp_path, "fine", "fine.md")
    broken = write(tmp_path, "---\n{\n---\n", "broken.md")
    found = load_agents(tmp_path)
    assert set(found.agents) == {"fine"}
    assert [problem.source for problem in found.problems] == [str(broken)]


def test_of_two_files_with_one_id_the_first_by_name_counts_and_the_other_is_named(tmp_path):
    write(tmp_path, "---\nid: x\n---\none", "a.md")
    write(tmp_path, "---\nid: x\n---\ntwo", "b.md")
    found = load_agents(tmp_path)
    assert found.agents["x"].prompt == "one"
    assert "is the id of a.md already" in str(found.problems[0])


def test_no_folder_means_no_agents(tmp_path):
    assert load_agents(tmp_path / "gone").agents == {}


def test_HK2_edits_are_seen_and_a_problem_is_told_once(tmp_path):
    told = []
    watcher = AgentWatcher(tmp_path, told.append)
    assert watcher.current().agents == {}
    write(tmp_path, "one")
    assert watcher.current().agents["a"].prompt == "one"
    assert watcher.current() is watcher.current()
    write(tmp_path, "---\n{\n---")
    for _ in range(3):
        assert watcher.current().agents == {}
    assert len(told) == 1
    write(tmp_path, "better now")
    assert watcher.current().agents["a"].prompt == "better now"


def test_HK2_an_agent_id_that_names_no_agent_is_a_problem_with_its_place(tmp_path):
    (tmp_path / "reviewer.md").write_text("You review.")
    config = tmp_path / "config.jsonc"
    config.write_text('{"agents": {"runtime": {\n"agent": {"id": "reviewr"}}}}')
    loaded = load_config(config, Inline(environ={}))
    problem = chosen_agent_problem(loaded, load_agents(tmp_path))
    assert str(problem) == (
        f"{config}:2: agents.runtime.agent.id: no agent is called 'reviewr'; those that can be read: reviewer"
    )
    config.write_text('{"agents": {"runtime": {"agent": {"id": "reviewer"}}}}')
    assert chosen_agent_problem(load_config(config, Inline(environ={})), load_agents(tmp_path)) is None
    nothing_chosen = load_config(tmp_path / "gone.jsonc", Inline(environ={}))
    assert chosen_agent_problem(nothing_chosen, load_agents(tmp_path)) is None
