"""Kill -9 in the middle of things: nothing is carried out twice, nothing acknowledged is lost, history stays valid."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from holdfast.control import Control
from holdfast.core.history import is_valid
from holdfast.runtime.threads import threads
from holdfast.runtime.transcript import Transcript
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.store.interface import AlreadyDecided
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.script import Script, Turn, Usage

pytestmark = pytest.mark.e2e

TESTS = Path(__file__).parents[1]
PHASES = ("streaming", "running", "waiting", "compacting")
FILLER = "words that fill the window until it has to be compacted, " * 12


class Model:
    """Answers by what it is shown: four calls for each message, then words."""

    def __call__(self, request):
        if not request.tools:
            return Turn("SUMMARY of what was done so far.", first_byte_delay=0.15)
        start = max(index for index, message in enumerate(request.messages) if message.role == "user")
        results = [message for message in request.messages[start:] if message.role == "tool"]
        label = request.last_user_text.replace(" ", "-") + f"-{request.number}"
        used = Usage(input_tokens=len(request.transcript) // 4 + 50)
        call = self._call(len(results), label)
        if call is None:
            return Turn(f"All done. {FILLER}", usage=used, piece_delay=0.004)
        return Turn("Now the next step.", tool_calls=(call,), usage=used, piece_delay=0.004)

    def _call(self, step, label):
        if step in (0, 3):
            return ToolUse("mark", {"path": "ledger", "token": f"{label}-{step}"})
        if step == 1:
            return ToolUse("bash", {"command": f"echo {label}-{step} >> ledger; sleep 0.05"})
        return ToolUse("read", {"path": "ledger"}) if step == 2 else None


class Person:
    """Answers every question from another process's place: yes to a call, no to one that may have run."""

    def __init__(self, home, inline):
        self._control = Control.open(home, inline=inline)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._answer)
        self.hold = threading.Event()
        self.asked_again = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()
        self._control.close()

    def _answer(self):
        while not self._stop.wait(0.03):
            if self.hold.is_set():
                continue
            for approval in self._control.approvals.pending():
                answer = "deny" if approval.policy == "interrupted" else "once"
                self.asked_again += approval.policy == "interrupted"
                try:
                    self._control.approvals.answer(approval.id, answer, by="person")
                except AlreadyDecided:
                    continue


class Zygote:
    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, str(TESTS / "e2e" / "runtime_zygote.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def start(self, order):
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        word, pid = self.line().split()
        assert word == "pid"
        return int(pid)

    def line(self):
        line = self._process.stdout.readline()
        assert line, "the starter of processes has died"
        return line.strip()


def run_with_kills(tmp_path, kills, seed):
    rng = random.Random(seed)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "ledger").touch()
    home = Home(tmp_path / "home")
    with ChatCompletionsServer(Script(then=Model())) as server:
        about = {"baseUrl": server.base_url, "customContext": 3500}
        runtime = {"model": "scripted", "models": {"scripted": about}, "doomLoop": {"enabled": False}}
        body = {"agents": {"runtime": runtime}}
        order = {"home": str(home.root), "vault": str(vault), "settings": body, "messages": kills // 2 + 2}
        inline = Inline(environ={}, mapping=body)
        Control.open(home, inline=inline).close()
        killed = Counter()
        with Person(home, inline) as person, Zygote() as zygote:
            wanted = [PHASES[number % len(PHASES)] for number in range(kills)]
            rng.shuffle(wanted)
            code = None
            while code != 0:
                pid = zygote.start(order)
                phase = wanted[-1] if wanted else None
                if phase == "waiting":
                    person.hold.set()
                while not (line := zygote.line()).startswith("ended"):
                    assert not line.startswith("bad"), line
                    if line == phase:
                        time.sleep(rng.uniform(0.0, 0.06))
                        os.kill(pid, signal.SIGKILL)
                        killed[phase] += 1
                        wanted.pop()
                        phase = None
                person.hold.clear()
                code = int(line.split()[1])
                assert code in (0, -signal.SIGKILL), line
                check(home, inline, vault)
                if code == 0 and wanted:
                    order["messages"] += 2
                    code = None
            repeated = person.asked_again
        sealed = check(home, inline, vault) - 1
    return killed, repeated, sealed


def check(home, inline, vault):
    """What must hold at any moment, also right after a kill; returns how many sessions there are."""
    control = Control.open(home, inline=inline)
    try:
        (newest,) = threads(control, vault)
        chain = control.store.chain(newest.id.key)
        assert [session.state for session in chain[:-1]] == ["sealed"] * (len(chain) - 1)
        for session in chain:
            assert is_valid(Transcript(control.plane, session.id).load().items)
        records = [r for session in chain for r in control.store.events(session.id.session, limit=100_000)]
        ledger = Counter((vault / "ledger").read_text().split())
        assert max(ledger.values(), default=1) == 1, "a call was carried out twice"
        finished = Counter(r.data["call"]["id"] for r in records if r.kind == "tool_called")
        assert max(finished.values(), default=1) == 1, "a result was recorded twice"
        for record in records:
            if record.kind == "tool_called" and record.tool == "mark" and not record.data["result"]["failed"]:
                assert ledger[record.data["call"]["input"]["token"]] == 1, "an acknowledged effect is lost"
        tokens = {r.data["call"]["input"]["token"] for r in records if r.kind == "tool_calling" and r.tool == "mark"}
        marks = {token for token in ledger if token.endswith(("-0", "-3"))}
        assert marks <= tokens, "an effect without a record"
        prompts = Counter(r.text for r in records if r.kind == "prompt_submitted" and r.text.startswith("message"))
        assert max(prompts.values(), default=1) == 1, "a message was taken twice"
        report = control.store.verify_audit()
        assert report.ok, report.problems
        return len(chain)
    finally:
        control.close()


def test_PE6_twenty_kills_lose_nothing_and_repeat_nothing(tmp_path):
    killed, repeated, sealed = run_with_kills(tmp_path, 20, seed=20)
    assert sum(killed.values()) == 20
    assert set(killed) == set(PHASES)
    assert repeated > 0, "no kill hit a running call, so the question about it was never tried"
    assert sealed > 0, "no session was ever full, so the hand-over was never tried"


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_PE6_a_hundred_kills_lose_nothing_and_repeat_nothing(tmp_path):
    killed, repeated, sealed = run_with_kills(tmp_path, 100, seed=int(os.environ.get("HOLDFAST_SEED", "100")))
    assert sum(killed.values()) == 100
    assert repeated > 0
    assert sealed > 0
