"""Puts the parts together: home, configuration, store, policies and plane, as every door uses them.

There is one assembly for the daemon, the hook command, the own runtime and the library, so that no door can be
stricter or laxer than another.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.approvals import Approvals
from holdfast.core.events import ToolCall
from holdfast.core.memory import MemoryFacts, language_of
from holdfast.core.messages import Language
from holdfast.core.outcome import Outcome
from holdfast.core.patterns import Rule
from holdfast.core.policy import Policy
from holdfast.core.settings import HookSettings, RuleSetting, Settings
from holdfast.core.targets import Vault
from holdfast.core.tools import NEUTRAL_TOOLS, ToolSpec
from holdfast.core.verdict import Spill
from holdfast.examine import Examiner
from holdfast.glob_files import expand_glob
from holdfast.memory_bank import MemoryBank
from holdfast.plane import Kept, Plane, Surroundings
from holdfast.policies.compaction import Compaction
from holdfast.policies.context_gate import ContextGate
from holdfast.policies.doom_loop import DoomLoop
from holdfast.policies.hard_limits import HardLimitsPolicy
from holdfast.policies.hard_limits.protected import glob_of, standard_protection
from holdfast.policies.memory_proposals import MemoryProposals
from holdfast.policies.modes import ModesPolicy
from holdfast.policies.permission import PermissionPolicy
from holdfast.policies.recovery_gate import RecoveryGate
from holdfast.policies.session_strategy import SessionStrategyPolicy
from holdfast.policies.standing_orders import StandingOrdersPolicy
from holdfast.policies.truncation import Truncation, compose
from holdfast.policies.user_hooks import UserHooks
from holdfast.policies.writer_guard import WriterGuard
from holdfast.python_hooks import PythonHooks
from holdfast.rule_index import RuleIndex, covers, rule_list
from holdfast.rule_proposals import propose_rules, why_only_once
from holdfast.shell import CommandReading, CommandTable, default_table, read_command
from holdfast.store import tokenizer
from holdfast.store.attached import attached_files, files_with_token, stamp
from holdfast.store.config_file import ConfigError, Inline, LoadedConfig
from holdfast.store.config_watch import ConfigWatcher
from holdfast.store.config_write import add_rule
from holdfast.store.home import Home, own_pids, own_port
from holdfast.store.interface import Store, StoreError
from holdfast.store.memory_files import MemoryFiles
from holdfast.store.orders import Orders
from holdfast.store.outputs import OutputStore, Swept
from holdfast.store.page_processes import page_pids, page_ports
from holdfast.store.sqlite import SqliteStore

OWN_MCP_SERVER = "holdfast"
_DAY = 86_400.0
_SWEPT = "outputs-swept"
_MOST_READINGS, _LONGEST_KEPT = 256, 4_096
_SWEEP_AT_START = 3600.0
"""Every hook command is a start; after a sweep the next ones within this time need none."""


@dataclass(frozen=True, slots=True)
class InForce:
    """What one configuration amounts to; built once for each."""

    config: LoadedConfig
    index: RuleIndex
    policies: tuple[Policy, ...]
    table: CommandTable
    guarded: tuple[int, ...] = ()
    """What the limits that guard Holdfast itself were built from."""


class Control:
    """An open Holdfast. `close` when done; safe under threads."""

    def __init__(
        self,
        home: Home,
        store: Store,
        *,
        inline: Inline | None = None,
        user: str = "local",
        tools: Mapping[str, ToolSpec] | None = None,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] | None = None,
        on_problem: Callable[[ConfigError], None] | None = None,
        wait_limit: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.home = home
        self.store = store
        self.user = user
        self.clock = clock
        self.new_id = new_id or (lambda: uuid.uuid4().hex)
        self._tools = {**NEUTRAL_TOOLS, **(tools or {})}
        self._watcher = ConfigWatcher(home.config, inline, on_problem=on_problem)
        self._lock = threading.Lock()
        self._in_force: InForce | None = None
        self._examiners: dict[str, Examiner] = {}
        self._readings: dict[tuple[str, str, str], tuple[CommandTable, CommandReading]] = {}
        self._memory_files: MemoryFiles | None = None
        self._python_hooks: PythonHooks | None = None
        self._python_hooks_set: HookSettings | None = None
        self.memory_bank = MemoryBank(store, clock=clock, new_id=self.new_id)
        self.outputs = OutputStore(home.outputs, store, clock=clock)
        self.orders = Orders(home)
        self._looked_for_old = clock()
        self.plane = Plane(store, lambda: self.in_force().policies, self._surroundings(), approval_timeout=wait_limit)
        self.approvals = Approvals(self.plane, clock=clock, new_id=self.new_id, write_rule=self.write_rule)

    @classmethod
    def open(cls, home: Home, **options: Any) -> Control:
        """Open the store of a home, making what is missing."""
        home.create()
        control = cls(home, SqliteStore(home.database, audit_dir=home.audit), **options)
        control.sweep_outputs(not_since=_SWEEP_AT_START)
        return control

    def close(self) -> None:
        if self._python_hooks is not None:
            self._python_hooks.close()
        self.store.close()

    def sweep_outputs(self, *, not_since: float = 0.0) -> Swept:
        """Take away the outputs that are old (TR5), unless that was done less than `not_since` seconds ago."""
        now = self.clock()
        self._looked_for_old = now
        try:
            last = self.store.noted(_SWEPT)
            if isinstance(last, int | float) and 0 <= now - last < not_since:
                return Swept()
            ttl_days = self.settings.runtime.truncation.ttl_days
            self.store.note(_SWEPT, now)
            return self.outputs.sweep(ttl_days)
        except (ConfigError, StoreError, OSError):
            return Swept()  # whoever works with the configuration or the store next says what is wrong with it

    def _sweep_daily(self) -> None:
        """A process that lives for days looks once a day, beside its work."""
        if self.clock() - self._looked_for_old >= _DAY:
            self._looked_for_old = self.clock()
            sweep = partial(self.sweep_outputs, not_since=_DAY)
            threading.Thread(target=sweep, name="holdfast-sweep", daemon=True).start()

    # configuration

    @property
    def config(self) -> LoadedConfig:
        return self._watcher.current()

    @property
    def settings(self) -> Settings:
        return self.config.settings

    def in_force(self) -> InForce:
        """The policies of the latest good configuration."""
        self._sweep_daily()
        config = self._watcher.current()
        guarded = stamp(self.home)
        known = self._in_force
        if known is not None and known.config is config and known.guarded == guarded:
            return known
        with self._lock:
            known = self._in_force
            if known is None or known.config is not config or known.guarded != guarded:
                known = self._in_force = self._build(config, guarded)
                self._examiners.clear()
            return known

    def _build(self, config: LoadedConfig, guarded: tuple[int, ...]) -> InForce:
        runtime = config.settings.runtime
        index = rules_in_force(config, self.home)
        protected = standard_protection(
            home=os.path.realpath(self.home.root),
            user_home=os.path.realpath(Path.home()),
            ports=(*own_port(self.home), *page_ports(self.home)),
            pids=(*own_pids(self.home), *page_pids(self.home)),
            further=(*_own_places(), *(glob_of(os.path.realpath(path)) for path in attached_files(self.home))),
            secrets=map(os.path.realpath, files_with_token(self.home)),
            process_names=("holdfast",) if sys.platform == "linux" else ("holdfast", "python", "python3"),
        )
        policies: tuple[Policy, ...] = (
            UserHooks(runtime.hooks),
            self._hooks_for(runtime.hooks),
            StandingOrdersPolicy(),
            ModesPolicy(),
            HardLimitsPolicy(protected),
            RecoveryGate(runtime.memory),
            WriterGuard(runtime.memory),
            ContextGate(runtime.memory),
            MemoryProposals(runtime.memory),
            PermissionPolicy(index, fold_case=folds_case(self.home.root), covers=covers),
            DoomLoop(runtime.doom_loop),
            Truncation(runtime.truncation),
            Compaction(config.settings, tokenizer=tokenizer.count),
            SessionStrategyPolicy(config.settings),
        )
        table = default_table()
        if runtime.shell.commands:
            table = table.extended(runtime.shell.commands)
        return InForce(config, index, policies, table, guarded)

    def offer(self, tools: Mapping[str, ToolSpec]) -> None:
        """Judge the tools of the next run by these specs; tools that are gone are unknown from now on, so they ask."""
        table = {**NEUTRAL_TOOLS, **tools}
        with self._lock:
            if table != self._tools:
                self._tools = table
                self._examiners.clear()

    def _hooks_for(self, settings: HookSettings) -> PythonHooks:
        """One process for the user's own hooks, kept while its settings stay the same."""
        if self._python_hooks is None or self._python_hooks_set != settings:
            if self._python_hooks is not None:
                self._python_hooks.close()
            self._python_hooks = PythonHooks(self.home.hooks, enabled=settings.python, timeout=settings.timeout_seconds)
            self._python_hooks_set = settings
        return self._python_hooks

    def write_rule(self, rule: Rule) -> Rule:
        """An `always`: into the user's own file, above the deny rules (PE7)."""
        return add_rule(self.home.config, RuleSetting(rule.domain, rule.pattern, rule.decision)).rule

    # what the plane asks for

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            clock=self.clock,
            new_id=self.new_id,
            examine=self.examine,
            keep_output=self._keep_output,
            compose_output=compose,
            propose_rules=self._propose,
            only_once=lambda call, outcome: why_only_once(call, outcome.findings),
            language=self.language,
            memory=self.memory_facts,
            settle=self.memory_bank.settle,
            orders=self.orders.of,
        )

    def memory_facts(self, vault: str) -> MemoryFacts | None:
        settings = self.settings.runtime.memory
        if not settings.enabled:
            return None
        if self._memory_files is None or self._memory_files.max_chars != settings.max_chars:
            self._memory_files = MemoryFiles(settings.max_chars, folds_case=folds_case(Path(vault)))
        return self._memory_files.facts(vault)

    def examine(self, call: ToolCall, vault: str) -> ToolCall:
        examiner = self._examiners.get(vault)
        if examiner is None:
            root = os.path.realpath(vault or call.cwd or Path.cwd())
            examiner = Examiner(
                vault=Vault(root, folds_case=folds_case(Path(root))),
                home=str(Path.home()),
                resolve=os.path.realpath,
                read_command=self._read_command,
                tools=self._tools,
                expand=expand_glob,
            )
            if vault:
                self._examiners[vault] = examiner
        return examiner.examine(call)

    def _read_command(self, text: str, cwd: str) -> CommandReading:
        """A command is read when it is asked for, and again when its result comes: the second time it is known."""
        table = self.in_force().table
        asked = (text, cwd, str(Path.home()))
        known = self._readings.get(asked)
        if known is not None and known[0] is table:
            return known[1]
        reading = read_command(text, cwd=cwd or None, home=asked[2], table=table)
        if len(text) <= _LONGEST_KEPT:
            if len(self._readings) >= _MOST_READINGS:
                self._readings.clear()
            self._readings[asked] = (table, reading)
        return reading

    def _propose(self, call: ToolCall, outcome: Outcome) -> Sequence[Mapping[str, Any]]:
        return propose_rules(call, outcome.findings, self.in_force().index)

    def _keep_output(self, spill: Spill, where: Any, vault: str, at: float) -> Kept | None:
        date = time.strftime("%Y-%m-%d", time.gmtime(at))
        # On mobile the vault is not ours to leave files in (HK6).
        place = vault if self.settings.runtime.profile == "desktop" else None
        kept = self.outputs.keep(spill.text, place, date, spill.tool, spill.call_id, spill.suffix)
        return Kept(str(kept.path), kept.size, kept.sha256) if kept else None

    def language(self, vault: str) -> Language:
        """The configured language, else that of the project's memory bank, else the environment's."""
        chosen = self.settings.runtime.language
        if chosen != "auto":
            return chosen
        facts = self.memory_facts(vault) if vault else None
        if facts is not None and (spoken := language_of(facts.text)) is not None:
            return spoken
        return "zh" if os.environ.get("LANG", "").lower().startswith("zh") else "en"


def rules_in_force(config: LoadedConfig, home: Home) -> RuleIndex:
    """Built-in, template, user and inline rules, in this order, ready to be asked (PE3)."""
    runtime = config.settings.runtime
    rules = rule_list(
        runtime.permission,
        user_rules=config.rules,
        mcp_servers=(*runtime.mcp, OWN_MCP_SERVER),
        readable=(os.path.realpath(home.outputs),),
        home=os.path.realpath(Path.home()),
    )
    return RuleIndex(rules, fold_case=folds_case(home.root))


def folds_case(folder: Path) -> bool:
    """Whether the file system at `folder` takes `A` and `a` for one name."""
    probe = folder
    while not probe.exists() and probe != probe.parent:
        probe = probe.parent
    for part in (probe, *probe.parents):
        other = part.name.swapcase()
        if other != part.name:
            try:
                return part.samefile(part.parent / other)
            except OSError:
                return False
    return False


def _own_places() -> tuple[str, ...]:
    """The installed program, and the interpreter that runs it."""
    return (
        glob_of(str(Path(__file__).resolve().parent)) + "/**",
        glob_of(sys.prefix) + "/pyvenv.cfg",
        glob_of(sys.prefix) + "/bin/python*",
    )
