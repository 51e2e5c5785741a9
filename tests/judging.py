"""A small bench for tests: a call goes through examination and the two judges of permission, without store or disk."""

import posixpath
from dataclasses import dataclass, field
from functools import cache

from holdfast.core.events import ToolCalling
from holdfast.core.patterns import Rule
from holdfast.core.policy import EMPTY
from holdfast.core.settings import PermissionSettings
from holdfast.core.targets import Vault
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.core.verdict import Merged, merge
from holdfast.examine import Examiner
from holdfast.policies.hard_limits import HardLimitsPolicy, standard_protection
from holdfast.policies.permission import PermissionPolicy
from holdfast.rule_index import RuleIndex, rule_list
from holdfast.shell import read_command
from holdfast.testing.builders import EventBuilder

VAULT = "/vault"
HOME = "/home/u"
HOLDFAST_HOME = "/home/u/.holdfast"
PROTECTED = standard_protection(home=HOLDFAST_HOME, user_home=HOME, ports=[48123], pids=[4242])
HARD_LIMITS = HardLimitsPolicy(PROTECTED)  # one for all: it keeps nothing between calls


def rule(text: str, source: str = "/home/u/.holdfast/config.jsonc", line: int | None = None) -> Rule:
    """`allow bash shell:git status *` as a rule of the user's."""
    decision, domain, pattern = text.split(" ", 2)
    return Rule(domain, pattern, decision, source, line)


@cache
def _index(rules, settings, servers, readable):
    return RuleIndex(rule_list(settings, user_rules=rules, mcp_servers=servers, readable=readable))


@dataclass
class Bench:
    """What a session's judges say; every field can be changed by a test."""

    rules: list[Rule] = field(default_factory=list)
    settings: PermissionSettings = field(default_factory=PermissionSettings)
    servers: tuple[str, ...] = ()
    readable: tuple[str, ...] = (f"{HOLDFAST_HOME}/data/outputs",)
    resolve: object = posixpath.normpath
    expand: object = None
    tools: object = None
    mode: str = "agent"
    interactive: bool = True
    cwd: str = VAULT
    state: object = field(default_factory=dict)

    def examined(self, tool: str, **tool_input):
        examiner = Examiner(
            vault=Vault(VAULT),
            home=HOME,
            resolve=self.resolve,
            read_command=lambda text, cwd: read_command(text, cwd=cwd, home=HOME),
            tools=self.tools or NEUTRAL_TOOLS,
            expand=self.expand,
        )
        return examiner.examine(EventBuilder(cwd=self.cwd).call(tool, **tool_input))

    def index(self) -> RuleIndex:
        return _index(tuple(self.rules), self.settings, self.servers, self.readable)

    def event(self, tool: str, **tool_input) -> ToolCalling:
        over = {"mode": self.mode, "interactive": self.interactive}
        return EventBuilder(cwd=self.cwd).calling(self.examined(tool, **tool_input), over=over)

    def judge(self, tool: str, **tool_input) -> Merged:
        event = self.event(tool, **tool_input)
        verdicts = [
            HARD_LIMITS.decide(event, EMPTY)[0],
            PermissionPolicy(self.index()).decide(event, self.state)[0],
        ]
        return merge(verdicts, self.mode, interactive=self.interactive)

    def decision(self, tool: str, **tool_input) -> str:
        return self.judge(tool, **tool_input).decision

    def bash(self, command: str) -> str:
        return self.decision("bash", command=command)


def bench(*rules: str, **fields) -> Bench:
    return Bench(rules=[rule(text, line=10 + number) for number, text in enumerate(rules)], **fields)
