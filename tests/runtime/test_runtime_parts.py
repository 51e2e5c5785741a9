"""The runner's small parts, each by itself."""

import asyncio
import json
import subprocess
import sys
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.control import Control
from holdfast.core.history import Item
from holdfast.core.settings import BudgetSettings, ModelSettings, RuntimeSettings
from holdfast.runtime import ui_events
from holdfast.runtime.claim import Busy, FileClaim
from holdfast.runtime.dialect import input_from_items, items_from_input, split_system
from holdfast.runtime.ledger import Ledger
from holdfast.runtime.message_queue import MessageQueue
from holdfast.runtime.model_shelf import ModelShelf
from holdfast.runtime.models import choose, is_local
from holdfast.runtime.trouble import Trouble
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.store.interface import Approval
from holdfast.testing.builders import session_id
from holdfast.testing.memory_store import MemoryStore
from holdfast.testing.scripted_ids import ScriptedIds


def test_PE6_a_claim_is_given_back_when_its_process_is_killed(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from holdfast.runtime.claim import FileClaim\n"
        "FileClaim(Path(sys.argv[1]), 's').__enter__(); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Busy, match=f"process {holder.pid}"), FileClaim(tmp_path, "s"):
            pass
        with FileClaim(tmp_path, "another session"):
            pass
        holder.kill()
        holder.wait(timeout=10)
        with FileClaim(tmp_path, "s"):
            pass
    finally:
        holder.kill()
        holder.communicate()


def test_PE6_queued_messages_keep_their_order_and_leave_one_by_one():
    queue = MessageQueue(MemoryStore(), session_id(thread="s").key, ScriptedIds())
    queue.put("one", 1.0)
    queue.put("two", 2.0)
    other = MessageQueue(queue._store, session_id(thread="t").key, ScriptedIds("t"))
    other.put("elsewhere", 1.5)
    first, second = queue.waiting()
    assert (first.text, second.text) == ("one", "two")
    queue.taken(first)
    assert [queued.text for queued in queue.waiting()] == ["two"]
    assert queue.clear() == 1
    assert [queued.text for queued in other.waiting()] == ["elsewhere"]


def test_UI3_a_budget_is_checked_against_the_threads_totals():
    ledger = Ledger(MemoryStore(), session_id(), lambda name: choose(RuntimeSettings(), name))
    ledger.add(600, 300, 0.5)
    ledger.check(BudgetSettings(max_tokens=1000, max_cost=1.0))
    ledger.add(100, 0, 0.5)
    for budget in (BudgetSettings(max_tokens=1000), BudgetSettings(max_cost=1.0)):
        with pytest.raises(Trouble) as caught:
            ledger.check(budget)
        assert caught.value.code == "budget"
    assert ledger.add(1, 1, None).cost is None


MESSAGES = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, st.text()),
    st.builds(lambda text: {"role": "assistant", "content": text}, st.text()),
    st.builds(
        lambda call, name: {"type": "function_call", "call_id": call, "name": name, "arguments": "{}"},
        st.text(),
        st.text(),
    ),
    st.builds(lambda call, out: {"type": "function_call_output", "call_id": call, "output": out}, st.text(), st.text()),
    st.builds(lambda blob: {"type": "reasoning", "summary": [], "encrypted_content": blob}, st.text()),
)


@given(st.lists(MESSAGES, max_size=10))
def test_CO4_an_untouched_item_goes_back_exactly_as_it_came(entries):
    assert input_from_items(items_from_input(entries)) == entries


@given(st.lists(st.sampled_from(["system", "user", "assistant"]), max_size=8))
def test_CO6_only_leading_system_items_become_the_system_text(kinds):
    items = [Item(kind, f"{number}") for number, kind in enumerate(kinds)]
    text, rest = split_system(items)
    assert [item.text for item in items] == [*text.split("\n\n")] * bool(text) + [item.text for item in rest]
    assert not rest or rest[0].kind != "system"


@pytest.mark.parametrize(
    ("name", "host", "key"),
    [
        ("gpt-5", "api.openai.com", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "api.anthropic.com", "ANTHROPIC_API_KEY"),
        ("gemini-2.5-pro", "generativelanguage.googleapis.com", "GEMINI_API_KEY"),
        ("models/gemini-2.5-pro", "generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    ],
)
def test_UI3_well_known_models_need_only_their_key(name, host, key):
    choice = choose(RuntimeSettings(model=name))
    assert host in choice.base_url
    assert (choice.key_name, choice.needs_key) == (key, True)
    assert choice.window


def test_UI3_a_server_on_this_machine_needs_no_key():
    own = ModelSettings(base_url="http://localhost:11434/v1", custom_context=8000)
    choice = choose(RuntimeSettings(model="llama3.1", models={"llama3.1": own}))
    assert (choice.needs_key, choice.window) == (False, 8000)
    assert is_local("http://127.0.0.1:8080/v1")
    assert not is_local("https://127.example.com/v1")


def test_OP1_without_a_model_it_is_the_offline_one():
    choice = choose(RuntimeSettings())
    assert choice.offline
    assert not choice.needs_key
    assert choice.cost(10_000, 10_000) == 0.0


def test_UI3_every_event_can_be_told_as_json():
    approval = Approval("a1", session_id(), "c1", 1.0, "bash", {"input": {"command": "ls"}})
    values = {
        "approval": approval, "input": {"x": 1}, "display": {}, "dropped_tools": {}, "typed": True, "failed": False,
        "exit_code": None, "window": None, "thread_cost": None, "exact": True,
    }  # fmt: skip
    kinds = set()
    for cls in ui_events.UiEvent.__args__:
        given = {
            f.name: values.get(f.name, 1 if f.type in ("int", "float") else "x")
            for f in fields(cls)
            if f.name not in ("kind",)
        }
        told = json.loads(json.dumps(ui_events.to_json(cls(**given))))
        kinds.add(told["kind"])
    assert len(kinds) == len(ui_events.UiEvent.__args__)


def test_OP1_core_and_command_line_never_load_the_agent_library():
    for module in (
        "holdfast.control",
        "holdfast.doors.cli_chat",
        "holdfast.runtime.models",
        "holdfast.runtime.ui_events",
    ):
        code = f"import sys, {module}; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert {"agents", "openai", "pydantic"}.isdisjoint(done.stdout.split()), module


def test_UI3_a_model_is_opened_once_however_many_ask_for_it(tmp_path):
    control = Control.open(Home(tmp_path / "home"), inline=Inline(environ={}))
    shelf = ModelShelf(control)

    async def whole():
        opened = await asyncio.gather(*(shelf.open() for _ in range(8)))
        assert len({id(model) for _, model in opened}) == 1
        await shelf.close()

    asyncio.run(whole())
    control.close()
