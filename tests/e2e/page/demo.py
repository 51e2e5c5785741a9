"""The demonstration that the gallery's pictures show: a server whose record is that of a busy fortnight.

Everything comes about as it would for a user: attached hosts tell their events, the own agent talks to a model (a
scripted one on loopback), a person answers.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import uuid
from pathlib import Path

from e2e.page.demo_words import words
from e2e.page.record_scenes import Past
from e2e.page.served import Hosts, Served
from holdfast.core.events import Compacted
from holdfast.core.proposals import Edit
from holdfast.memory_bank import MemoryBank
from holdfast.testing import ChatCompletionsServer, ModelRequest, Script, ToolUse, Turn, Usage

DAY = 24 * 60
MODEL = "harbour-coder-32b"
PROXY = "https://holdfast.example.org"
RELEASE = "git fetch origin && git push --force origin main:release"
TIDY = "rm -rf exports/2023 exports/2024"
CHECKS = "./check.sh --all"
PATTERNS = "memory-bank/details/patterns.md"
MISSING = "cat exports/missing.csv"
CONFIG = """{
  // Written by hand and by the page; comments stay.
  "agents": { "runtime": {
    "model": "MODEL",
    "models": {
      "MODEL": { "baseUrl": "ENDPOINT", "customContext": 131072 },
      "claude-opus-4-1": { "keyEnv": "ANTHROPIC_API_KEY" },
      "gpt-5-codex": { "keyEnv": "OPENAI_API_KEY" },
    },
    "permission": { "rules": [
      { "domain": "bash", "pattern": "git status *", "decision": "allow" },
      { "domain": "bash", "pattern": "pytest *", "decision": "allow" },
      { "domain": "edit", "pattern": "vault:/config/**", "decision": "ask" },
      { "domain": "bash", "pattern": "npm publish *", "decision": "deny" },
    ] },
    "memory": { "guardMode": "warn" },
  } },
}
"""
FILES = {
    "README.md": "# Harbour\n\nThe ticket shop of the ferry.\n",
    "src/prices.py": (
        "from decimal import Decimal\n\nCENT = Decimal('0.01')\n\n\ndef total(passengers):\n"
        "    fares = [fare(p).quantize(CENT) for p in passengers]\n    return sum(fares).quantize(CENT)\n"
    ),
    "src/prices_test.py": "def test_total():\n    assert total(THREE) == Decimal('37.49')\n",
    "src/holds.py": "HOLD_MINUTES = 10\n",
    "docs/prices.md": "# Prices\n",
    "timetable.csv": "sailing,leaves,arrives\nA1,07:10,08:25\n",
    "config/payments.toml": (
        '[provider]\nname = "harbourpay"\nendpoint = "https://pay.example.org/v1"\ntimeout = 30\n\n'
        "[retries]\ntimes = 2\n"
    ),
    "check.sh": (
        "#!/bin/sh\nfor part in prices holds mails timetable; do\n"
        '  echo "ok    $part: 42 checks"\ndone\necho "running the booking journey ..."\nexec sleep 600\n'
    ),
}


class Demo:
    """`served` is the server; the other fields say where what is to be seen."""

    def __init__(self, folder: Path, language: str) -> None:
        self.say = words(language)
        programs = folder / "bin"
        programs.mkdir(parents=True)
        _programs(programs)
        self.served = Served(
            folder, "--behind-proxy", PROXY, home=".holdfast", vault="harbour", HOME=str(folder),
            PATH=f"{programs}:/usr/bin:/bin", XDG_CONFIG_HOME=str(folder / ".config"), SHELL="/bin/bash",
        )  # fmt: skip
        for name, text in FILES.items():
            path = self.served.vault / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (self.served.vault / "check.sh").chmod(0o755)
        self.model = ChatCompletionsServer(self._script)
        self.threads: dict[str, str] = {}
        self.sessions: dict[str, str] = {}
        self.approvals: dict[str, str] = {}
        self.denied = ""
        self.hosts: Hosts | None = None

    def start(self) -> Demo:
        self.model.start()
        text = CONFIG.replace("ENDPOINT", self.model.base_url).replace("MODEL", MODEL)
        (self.served.home / "config.jsonc").write_text(text, encoding="utf-8")
        _agents(self.served.home / "agents", self.say)
        self.served.start()
        self.name_devices()
        self.hosts = Hosts(self.served)
        self._memory_bank()
        self._fortnight()
        self._login()
        self._import()
        self._own_chats()
        self._questions()
        for host in ("claude-code", "codex"):
            attach(self, host)
        return self

    def close(self) -> None:
        if self.hosts is not None:
            self.hosts.close()
        self.served.close()
        self.model.close()

    def name_devices(self) -> None:
        """Who came first is the desk, then come the others."""
        known = sorted(self.served.get("/api/devices")["devices"], key=lambda one: one["createdAt"])
        for device, name in zip(known, ("device_desk", "device_other"), strict=False):
            self.served.post(f"/api/devices/{device['id']}", {"name": self.say(name)})

    # the own agent

    def _script(self, request: ModelRequest) -> Script:
        """What the model says follows from what it was last told."""
        said, say = request.last_user_text, self.say
        steps = {
            "ask_prices": (
                Turn(say("look_prices"), (use("read", path="src/prices.py"), use("grep", pattern="quantize"))),
                Turn(say("tell_prices"), usage=Usage(52_400, 310)),
            ),
            "ask_run": (
                Turn("", (use("read", path=PATTERNS),)),
                Turn("", (use("edit", path="src/prices.py", old="fare(p).quantize(CENT)", new="fare(p)"),)),
                Turn(say("say_run"), (use("bash", command=CHECKS),), Usage(54_100, 90)),
            ),
            "ask_release": (
                Turn("", (use("read", path=PATTERNS),)),
                Turn(say("say_release"), (use("bash", command=RELEASE),), Usage(31_000, 60)),
            ),
            "ask_tidy": (
                Turn("", (use("read", path=PATTERNS),)),
                Turn("", (use("bash", command=MISSING), use("bash", command=TIDY))),
                Turn(say("tell_tidy"), usage=Usage(12_400, 40)),
            ),
            "ask_stream": (Turn(say("tell_stream") + " " * 4000, usage=Usage(18_000, 200), piece_delay=0.02),),
            "ask_full": (Turn(say("tell_full"), usage=Usage(9_000, 60)),),
        }
        done = sum(1 for message in _since_last_user(request) if message.role == "assistant")
        for name, turns in steps.items():
            if said.strip() == self.say(name):
                return Script(
                    *turns[min(done, len(turns) - 1) :][:1], call_id_prefix=f"{name}-{done}-{uuid.uuid4().hex[:6]}"
                )
        return Script(then="OK.")

    def own(self, name: str, thread: str = "") -> str:
        if thread:
            self.served.post(f"/api/threads/{thread}/messages", {"text": self.say(name)})
        else:
            thread = self.served.thread(self.say(name))
        self.threads[name] = thread
        return thread

    def until_asked(self, thread: str) -> str:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if found := self.served.get(f"/api/threads/{thread}")["approvals"]:
                return found[0]["id"]
            time.sleep(0.05)
        raise AssertionError(f"nothing was asked in {thread}: {self.served.log()}")

    def answer(self, approval: str, answer: str, **more) -> None:
        self.served.post(f"/api/approvals/{approval}/answer", {"answer": answer, **more})

    def _own_chats(self) -> None:
        for name in ("seats_title", "mail_title"):
            self.served.until_idle(self.own(name))
        self.served.until_idle(self.own("ask_full"))
        tidy = self.own("ask_tidy")
        end = time.monotonic() + 60
        while self.served.get(f"/api/threads/{tidy}")["busy"]:
            assert time.monotonic() < end, f"{tidy} does not come to its end: {self.served.log()}"
            waiting = self.served.get(f"/api/threads/{tidy}")["approvals"]
            for one in waiting:
                if TIDY in str(one["what"]):
                    self.answer(one["id"], "deny", message=self.say("deny_tidy"))
                else:
                    self.answer(one["id"], "once")
            time.sleep(0.1)
        self.served.until_idle(self.own("ask_prices"))

    def run_checks(self) -> str:
        """The conversation in which a command prints what it does."""
        thread = self.own("ask_run", self.threads["ask_prices"])
        self.answer(self.until_asked(thread), "once")
        return thread

    # attached hosts

    def _fortnight(self) -> None:
        """Decisions of the last days: what the histogram and the figures are made of."""
        for day in range(13, 0, -1):
            past = Past(self.hosts, day * DAY + 60 * (day % 5))
            host, title = (("claude-code", "mail_title"), ("codex", "seats_title"), ("opencode", "import_title"))[
                day % 3
            ]
            where = past.begin(host, f"day-{day}")
            past.say(where, self.say(title))
            for number in range(3 + day * 7 % 6):
                past.call(where, "read", "ok", path=("src/holds.py", "README.md", "docs/prices.md")[number % 3])
                past.later(2)
            past.call(where, "bash", "On branch main", command="git status --short")
            if day % 2:
                past.call(where, "bash", "12 passed", command="pytest -q tests")
                past.call(where, "bash", "installed", command="pip install rich")
            if day % 4 == 1:
                past.call(where, "bash", None, command="npm publish --access public")
            past.measure(where, 30_000 + day * 4_000)
            past.reply(where, self.say("import_done" if host == "opencode" else "login_answer"))
            self.hosts.chain.end_turn(where, "run-1")

    def _login(self) -> None:
        past, say = Past(self.hosts, 210), self.say
        first = past.begin("claude-code", "login-1", model="claude-opus-4-1")
        past.say(first, say("login_title"))
        past.reply(first, say("login_plan"))
        past.call(
            first,
            "read",
            "def test_login():\n    page = open_shop()\n    page.log_in('ann')\n",
            path="tests/test_login.py",
        )
        past.measure(first, 22_000)
        past.later(9)
        past.call(
            first,
            "bash",
            "F...\n1 failed, 3 passed in 2.31s",
            command="pytest tests/test_login.py",
            failed=True,
            exit_code=1,
        )
        past.measure(first, 61_000)
        past.later(12)
        self.denied = past.call(first, "bash", None, command="rm -rf / --no-preserve-root").id
        past.call(first, "bash", "installed", command="pip install freezegun")
        past.call(first, "edit", "ok", path="src/session.py", old="sleep(60)", new="wait_until(renewed)")
        past.measure(first, 104_000)
        past.later(14)
        past.reply(first, say("login_found"))
        past.measure(first, 146_000)
        past.later(6)
        past.tell(Compacted, first, summary=say("login_summary"), before=168_000, after=42_000)
        past.measure(first, 42_000)
        past.later(12)
        past.say(first, say("login_sso"), invocation="run-2")
        past.call(first, "read", "SSO = True\n", path="src/sso.py")
        past.measure(first, 88_000)
        past.later(9)
        past.reply(first, say("login_answer"), invocation="run-2")
        past.measure(first, 158_000)
        past.later(5)
        self.hosts.chain.sealer.seal_now(first, by="ann", turn_is_over=True)
        past.later(20)
        second = past.begin("claude-code", "login-2", thread=first.thread, model="claude-opus-4-1")
        past.say(second, say("login_docs"), invocation="run-3")
        past.call(second, "read", "# Goal\n", path="memory-bank/MEMORY.md", invocation="run-3")
        past.measure(second, 58_000)
        past.later(8)
        past.call(second, "write", "ok", path="docs/sessions.md", content="# Sessions and clocks\n")
        past.measure(second, 121_000)
        past.later(8)
        past.tell(Compacted, second, summary=say("login_summary"), before=150_000, after=30_000, invocation="run-3")
        past.measure(second, 34_000, exact=False)
        for name in ("src/session.py", "src/sso.py", "docs/handbook.md"):
            past.call(
                second, "read", "\n".join(f"# line {at} of {name}, as it stands" for at in range(1_400)), path=name
            )
        past.say(second, say("login_style"), invocation="run-4")
        past.reply(second, say("login_docs_done"), invocation="run-4")
        past.later(7)
        past.measure(second, 143_000, exact=False, compressions=1)
        self.sessions |= {"login": first.session, "login_now": second.session}
        self.threads["login"] = first.thread

    def _import(self) -> None:
        past = Past(self.hosts, 55)
        where = past.begin("codex", "import-1", model="gpt-5-codex")
        past.say(where, self.say("import_title"))
        past.call(where, "bash", "importer.py\ntimetable.py", command="ls src")
        past.call(where, "edit", "ok", path="src/importer.py", old="write(rows)", new="write(rows, dry_run)")
        past.reply(where, self.say("import_done"))
        past.measure(where, 47_000)
        past.later(10)
        past.say(where, self.say("output_title"), invocation="run-2")
        log = "\n".join(_log_line(number) for number in range(24_000))
        past.call(where, "bash", log, command="cat logs/import.log", exit_code=0)
        self.threads["output"] = where.thread

    def _questions(self) -> None:
        """What waits for an answer, of three hosts."""
        release = self.own("ask_release")
        self.approvals["release"] = self.until_asked(release)
        assert self.hosts is not None
        publish = self.hosts.begin("codex")
        self.hosts.say(publish, self.say("publish_title"))
        self.approvals["publish"] = self.hosts.ask(
            publish, "bash", command="docker push registry.example.org/booking:1.4"
        ).id
        payments = self.hosts.begin("claude-code")
        self.hosts.say(payments, self.say("payments_title"))
        asked = self.hosts.ask(
            payments, "edit", path=str(self.served.vault / "config/payments.toml"),
            old_string='name = "harbourpay"\nendpoint = "https://pay.example.org/v1"\ntimeout = 30',
            new_string='name = "quaypay"\nendpoint = "https://api.quaypay.example/v2"\ntimeout = 10',
        )  # fmt: skip
        self.approvals["payments"] = asked.id

    def _memory_bank(self) -> None:
        say, folder = self.say, self.served.vault / "memory-bank"
        (folder / "details").mkdir(parents=True)
        memory = f"# Memory\n\n## Current focus\n\n- Goal: {say('memory_goal')}\n\n## Notes\n\n- {say('memory_note')}\n"
        (folder / "MEMORY.md").write_text(memory, encoding="utf-8")
        (folder / "details" / "patterns.md").write_text(f"# Patterns\n\n- {say('memory_pattern')}\n", encoding="utf-8")
        past = Past(self.hosts, 40)
        where = past.begin("claude-code", "memory-1")
        past.say(where, say("memory_title"))
        bank = MemoryBank(self.hosts.control.store, clock=time.time, new_id=lambda: uuid.uuid4().hex)
        for name, line, why in (
            ("MEMORY.md", "memory_line", "memory_why"),
            ("details/patterns.md", "memory_line_two", "memory_why_two"),
        ):
            edit = Edit(append=f"{say(line)}\n")
            bank.propose(where, str(self.served.vault), path=name, edit=edit, why=say(why))


def use(tool: str, /, **given: str) -> ToolUse:
    return ToolUse(tool, given)


def _since_last_user(request: ModelRequest):
    found = []
    for message in reversed(request.messages):
        if message.role == "user":
            break
        found.append(message)
    return found


def _log_line(number: int) -> str:
    clock = f"02:{number // 400:02}:{number // 7 % 60:02}"
    if number in (4_711, 9_000, 15_015, 22_222):
        return f"{clock} WARN  sailing A{number % 90}: two rows for the same minute, kept the later one"
    return f"{clock} INFO  sailing A{number % 90}: {number % 17} seats, {number % 5} changes"


def _agents(folder: Path, say) -> None:
    folder.mkdir()
    for name in ("review", "write"):
        head = f"---\nname: {say(f'agent_{name}')}\ndescription: {say(f'agent_{name}_about')}\n---\n"
        (folder / f"{name}.md").write_text(f"{head}{say('prompt')}\n", encoding="utf-8")


def _programs(folder: Path) -> None:
    """Hosts that only know their version, and the interpreter that runs everything here."""
    for name, version in (("claude", "2.1.325 (Claude Code)"), ("codex", "codex-cli 0.166.0"), ("gemini", "0.61.0")):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "{version}"\n', encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    own = Path(sys.executable).parent / "holdfast"
    (folder / "holdfast").write_text(f'#!/bin/sh\nexec "{own}" "$@"\n', encoding="utf-8")
    (folder / "holdfast").chmod(0o755)


def attach(demo: Demo, host: str) -> None:
    environment = {**os.environ, **demo.served.environment}
    command = [sys.executable, "-m", "holdfast", "--home", str(demo.served.home), "attach", host]
    subprocess.run(command, env=environment, cwd=demo.served.vault, check=True, capture_output=True, timeout=60)
