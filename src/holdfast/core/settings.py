"""Every setting, typed, with the line of documentation that the reference and `config show` print.

Keys are the camelCase of the field names. The ADR's keys stand under `agents.runtime`, the lesson's `breeds` at the
top level; both examples load unchanged (HK1, SC9).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.core.decode import SettingError
from holdfast.core.messages import Phrase
from holdfast.core.patterns import Rule
from holdfast.core.targets import Domain
from holdfast.core.verdict import Decision, Mode

GuardMode = Literal["off", "warn", "block"]
StrategyName = Literal["handoff", "compress", "hybrid"]
Profile = Literal["desktop", "mobile"]

_NO_ADDRESS = Phrase(
    "config.no_address",
    "baseUrl must begin with http:// or https://, got {got}",
    "baseUrl 须以 http:// 或 https:// 开头，实际为 {got}",
)
_WARN_BELOW = Phrase(
    "config.warn_below", "warn ({warn}) must be below action ({action})", "warn（{warn}）须小于 action（{action}）"
)


def setting(default: Any, doc: str, **limits: Any) -> Any:
    """A field with its documentation and, for numbers, its bounds."""
    metadata = {"doc": doc, **limits}
    if isinstance(default, dict | list):
        copy = default
        return field(default_factory=lambda: type(copy)(copy), metadata=metadata)
    if dataclasses.is_dataclass(default) and isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def required(doc: str, **limits: Any) -> Any:
    """A field that must be given."""
    return field(metadata={"doc": doc, **limits})


@dataclass(frozen=True, slots=True)
class ModeSettings:
    default: Mode = setting("agent", "Mode of a new session: agent or full_access.")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    id: str = setting("", "Which agents/*.md is used; empty: the default agent.")


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    enabled: bool = setting(True, "Compact by itself when the threshold is passed; /compact works either way.")
    threshold: float = setting(0.8, "Share of the usable window at which compaction starts.", min=0.1, max=1.0)
    fallback_char_limit: int = setting(120_000, "Characters that trigger it when no window is known.", min=1000)
    protected_turns: int = setting(3, "Latest user/assistant turns that stay untouched.", min=1, max=100)
    protected_tools: tuple[str, ...] = setting(
        ("task", "tasks_*", "write", "edit", "move", "delete"), "Tools whose outputs are never pruned (globs)."
    )
    estimator: Literal["bytes", "chars4", "tokenizer"] = setting(
        "bytes", "How tokens are estimated: byte classes, characters/4, or a real tokenizer (extra `tokenizer`)."
    )
    model: str = setting("", "Model that writes summaries; empty: the working model.")
    prompt_limit: int = setting(100_000, "Most tokens of history handed to the summariser.", min=1000)
    timeout_seconds: float = setting(120.0, "Deadline for the summary; after it history is only pruned.", min=1)
    pinned: tuple[str, ...] = setting((), "Lines that survive every compaction verbatim.")


@dataclass(frozen=True, slots=True)
class TruncationSettings:
    max_lines: int = setting(2000, "Lines of a tool's output handed to the model.", min=1)
    max_bytes: int = setting(51_200, "Bytes of a tool's output handed to the model.", min=64)
    ttl_days: float = setting(7, "Days that full outputs are kept; 0 keeps them for ever.", min=0)


@dataclass(frozen=True, slots=True)
class DoomLoopSettings:
    enabled: bool = setting(True, "Watch for loops.")
    max_attempts: int = setting(3, "Tries of one model request in one run.", min=1)
    max_tool_calls: int = setting(60, "Tool calls in one run of the own agent with a person present.", min=1)
    max_tool_calls_unattended: int = setting(600, "Tool calls in one run in hosts and unattended.", min=1)
    same_tool_threshold: int = setting(5, "Same tool with same arguments in a row.", min=2)
    max_signature_bytes: int = setting(8192, "Arguments larger than this are compared by tool name only.", min=64)
    cooldown_tool_calls: int = setting(3, "Calls that are not checked after the user said go on.", min=0)
    same_result_threshold: int = setting(4, "Same call with the same result in a row.", min=2)
    cycle_repeats: int = setting(4, "Times a period of 2 or 3 calls may repeat.", min=2)
    same_error_threshold: int = setting(4, "Same error in a row.", min=2)


@dataclass(frozen=True, slots=True)
class ExternalTools:
    enabled: bool = setting(False, "Load tools/*.py (desktop only).")


@dataclass(frozen=True, slots=True)
class McpServer:
    command: str = setting("", "Program of a stdio server.")
    args: tuple[str, ...] = setting((), "Its arguments.")
    env: Mapping[str, str] = setting({}, "Environment added for it.")
    url: str = setting("", "Address of a streamable HTTP server.")
    enabled: bool = setting(True, "Whether it is started.")


@dataclass(frozen=True, slots=True)
class BashSettings:
    timeout_seconds: float = setting(120.0, "Deadline of a command that asks for none.", min=1)
    max_timeout_seconds: float = setting(600.0, "Longest deadline that a call may ask for.", min=1)
    network: Literal["judged", "off", "on"] = setting(
        "judged", "Network in the sandbox: judged gives it to commands that were seen to need it and were allowed."
    )
    sandbox: Literal["auto", "off"] = setting("auto", "auto takes the best this machine has; off runs as the user.")
    pass_env: tuple[str, ...] = setting((), "Further environment variables that commands may see.")
    hidden: tuple[str, ...] = setting((), "Further paths that commands may not see.")
    max_processes: int = setting(1024, "Processes that one command may start.", min=16, max=100_000)
    max_output_bytes: int = setting(4 << 30, "Bytes of output after which a command is stopped.", min=1 << 20)


@dataclass(frozen=True, slots=True)
class ToolSettings:
    external: ExternalTools = setting(ExternalTools, "Tools of the user's own.")
    bash: BashSettings = setting(BashSettings, "Running commands.")
    web_search: Mapping[str, str] = setting({}, "Search provider: {provider, url}; keys come from the environment.")


@dataclass(frozen=True, slots=True)
class ChatSystemHook:
    mode: Literal["append", "prepend", "replace"] = setting("append", "How the text joins the system prompt.")
    text: str = setting("", "The text.")


@dataclass(frozen=True, slots=True)
class ModelParams:
    """The parameters a user may set; anything else is refused."""

    temperature: float | None = setting(None, "Sampling temperature.", min=0, max=2)
    top_p: float | None = setting(None, "Nucleus sampling.", min=0, max=1)
    max_tokens: int | None = setting(None, "Most tokens of one answer.", min=1)

    def given(self) -> dict[str, Any]:
        return {f.name: v for f in dataclasses.fields(self) if (v := getattr(self, f.name)) is not None}


@dataclass(frozen=True, slots=True)
class ChatHooks:
    system: ChatSystemHook | None = setting(None, "Text added to the system prompt.")
    params: ModelParams | None = setting(None, "Model parameters.")


@dataclass(frozen=True, slots=True)
class ToolBeforeHook:
    tool: str = required("Tool name (glob).")
    merge_input: Mapping[str, Any] = setting({}, "Defaults merged into the input; never overriding.")


@dataclass(frozen=True, slots=True)
class ToolAfterHook:
    tool: str = required("Tool name (glob).")
    prepend_text: str = setting("", "Text before a string output.")
    append_text: str = setting("", "Text after a string output.")


@dataclass(frozen=True, slots=True)
class ToolHooks:
    before: tuple[ToolBeforeHook, ...] = setting((), "Applied before a tool runs.")
    after: tuple[ToolAfterHook, ...] = setting((), "Applied to a tool's output.")


@dataclass(frozen=True, slots=True)
class HookSettings:
    chat: ChatHooks = setting(ChatHooks, "Hooks on what is sent to the model.")
    tool: ToolHooks = setting(ToolHooks, "Hooks on tool calls.")
    python: bool = setting(True, "Load hooks/*.py.")
    timeout_seconds: float = setting(2.0, "Deadline of one Python hook.", min=0.01, max=60)


@dataclass(frozen=True, slots=True)
class RuleSetting:
    domain: Domain = required("Which kind of access: read, edit, bash, web_fetch, web_search or mcp.")
    pattern: str = required("Glob over the target, or an RE2 expression behind regex:.")
    decision: Decision = required("allow, ask or deny.")
    expires: float | None = setting(None, "Seconds since 1970 after which the rule no longer counts.", min=0)

    def rule(self, source: str, line: int | None, index: int) -> Rule:
        return Rule(self.domain, self.pattern, self.decision, source, line, index, self.expires)


@dataclass(frozen=True, slots=True)
class PermissionSettings:
    rules: tuple[RuleSetting, ...] = setting((), "The user's rules; the last match wins.")
    outside_edit: Literal["deny", "ask"] = setting("deny", "Edits outside the vault.")
    templates: tuple[Literal["read-only-commands", "package-tests", "git-read", "web-docs"], ...] = setting(
        (), "Rule templates that are switched on."
    )
    approval_timeout_seconds: float = setting(300.0, "How long an approval waits in a host.", min=1, max=86_400)
    unattended: bool = setting(False, "Nobody can be asked: every ask becomes a deny with a reason.")


@dataclass(frozen=True, slots=True)
class ShellSettings:
    commands: Mapping[str, Any] = setting({}, "Knowledge of programs beyond the built-in table.")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    enabled: bool = setting(True, "Inject memory-bank/MEMORY.md and keep the gates.")
    guard_mode: GuardMode = setting(
        "warn", "Context gate: off, warn or block (MEMORY_BANK_GUARD_MODE wins over the file)."
    )
    recovery: bool = setting(True, "Recovery gate after compaction.")
    doc_first: bool = setting(False, "Warn once per message when code is written before a document was read.")
    max_chars: int = setting(12_000, "Characters of MEMORY.md that are injected.", min=200)
    high_risk: tuple[str, ...] = setting((), "Further path globs of high risk.")
    low_risk: tuple[str, ...] = setting((), "Further path globs of low risk.")


@dataclass(frozen=True, slots=True)
class SystemPromptSettings:
    mode: Literal["default", "custom"] = setting("default", "default hides everything; custom uses the fields below.")
    text: str = setting("", "The custom prompt; it replaces the default one.")
    params: ModelParams = setting(ModelParams, "Custom parameters; an absent one uses the model's default.")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    base_url: str = setting("", "Address of an OpenAI-compatible endpoint.")
    api: Literal["chat", "responses"] = setting("chat", "Which protocol it speaks.")
    key_env: str = setting("", "Environment variable that holds the key.")
    custom_context: int | None = setting(None, "Context window in tokens, before the built-in table.", min=256)
    max_output: int | None = setting(None, "Output limit in tokens.", min=1)
    input_price: float | None = setting(None, "Price of a million input tokens.", min=0)
    output_price: float | None = setting(None, "Price of a million output tokens.", min=0)


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    max_tokens: int | None = setting(None, "Stop a thread's run beyond this many tokens.", min=1)
    max_cost: float | None = setting(None, "Stop a thread's run beyond this cost.", min=0)


@dataclass(frozen=True, slots=True)
class DigestSettings:
    model: str = setting("", "Cheap model that writes minutes of a sealed session; empty: rule-based only.")
    timeout_seconds: float = setting(30.0, "Its deadline.", min=1)


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """Search by meaning: off until both a model and an endpoint are named."""

    model: str = setting("", "Model that turns texts into vectors; empty: search by words only.")
    base_url: str = setting(
        "", "Address of an OpenAI-compatible endpoint for embeddings. What was said in your sessions is sent there."
    )
    key_env: str = setting("", "Environment variable that holds its key; a server on this machine needs none.")
    dimensions: int | None = setting(
        None, "Length of the vectors, for models that offer several; absent: the model's own.", min=8, max=8192
    )
    timeout_seconds: float = setting(
        3.0, "Deadline for the vector of a query; after it the search goes by words.", min=0.1, max=60
    )

    def __post_init__(self) -> None:
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise SettingError(_NO_ADDRESS(got=repr(self.base_url)))

    @property
    def enabled(self) -> bool:
        return bool(self.model and self.base_url)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    semantic: SemanticSettings = setting(SemanticSettings, "Search by meaning; only the home's own file sets it.")


@dataclass(frozen=True, slots=True)
class NotifySettings:
    webhook: str = setting("", "URL that is posted to when an approval waits.")
    ntfy: str = setting("", "ntfy topic URL.")
    desktop: bool = setting(False, "Notify through the desktop.")


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    mode: ModeSettings = setting(ModeSettings, "Modes.")
    agent: AgentSettings = setting(AgentSettings, "The chosen agent.")
    compaction: CompactionSettings = setting(CompactionSettings, "Keeping the history inside the window.")
    truncation: TruncationSettings = setting(TruncationSettings, "Keeping outputs small.")
    doom_loop: DoomLoopSettings = setting(DoomLoopSettings, "Stopping loops.")
    tools: ToolSettings = setting(ToolSettings, "Tools.")
    hooks: HookSettings = setting(HookSettings, "Hooks.")
    permission: PermissionSettings = setting(PermissionSettings, "Permission.")
    shell: ShellSettings = setting(ShellSettings, "Reading shell commands.")
    memory: MemorySettings = setting(MemorySettings, "Memory bank and gates.")
    system_prompt: SystemPromptSettings = setting(SystemPromptSettings, "System prompt and parameters.")
    mcp: Mapping[str, McpServer] = setting({}, "MCP servers by name; being listed here makes them known (PE4).")
    model: str = setting("", "Model of the own agent; empty: the offline model.")
    models: Mapping[str, ModelSettings] = setting({}, "Endpoints and limits by model name.")
    budget: BudgetSettings = setting(BudgetSettings, "Limits per thread.")
    digest: DigestSettings = setting(DigestSettings, "Minutes of sealed sessions.")
    search: SearchSettings = setting(SearchSettings, "Searching what was said and done.")
    notify: NotifySettings = setting(NotifySettings, "What happens when an approval waits.")
    profile: Profile = setting("desktop", "desktop, or mobile: no bash, no external tools.")
    language: Literal["auto", "en", "zh"] = setting("auto", "Language of messages; auto follows the project.")


@dataclass(frozen=True, slots=True)
class Thresholds:
    warn: float = setting(0.85, "Ratio at which the user is warned.", min=0.0, max=1.0)
    action: float = setting(0.90, "Ratio at which the strategy acts.", min=0.0, max=1.0)

    def __post_init__(self) -> None:
        if not self.warn < self.action:
            raise SettingError(_WARN_BELOW(warn=self.warn, action=self.action))


@dataclass(frozen=True, slots=True)
class HybridSettings:
    max_compressions: int = setting(1, "Compactions allowed before the session is sealed.", min=0, max=100)


@dataclass(frozen=True, slots=True)
class SessionStrategy:
    strategy: StrategyName | None = setting(None, "handoff, compress or hybrid; absent: the host's default.")
    thresholds: Thresholds = setting(Thresholds, "When to warn and when to act.")
    hybrid: HybridSettings = setting(HybridSettings, "Only for hybrid.")
    budget_reserve: int | None = setting(None, "Tokens that must remain; below that the session is sealed.", min=0)


@dataclass(frozen=True, slots=True)
class BreedFeatures:
    session_chain: bool = setting(True, "false measures and records, but never seals.")
    session_strategy: SessionStrategy = setting(SessionStrategy, "Strategy of this family.")


@dataclass(frozen=True, slots=True)
class BreedMatch:
    host: str = setting("", "Host name (glob).")
    agent: str = setting("", "Agent id (glob).")
    model: str = setting("", "Model name (glob).")


@dataclass(frozen=True, slots=True)
class Breed:
    id: str = required("Name of the family.")
    match: BreedMatch | None = setting(None, "Which agents belong to it.")
    features: BreedFeatures = setting(BreedFeatures, "What it does.")


@dataclass(frozen=True, slots=True)
class AgentsSection:
    runtime: RuntimeSettings = setting(RuntimeSettings, "The runtime control plane.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration."""

    agents: AgentsSection = setting(AgentsSection, "Agents.")
    breeds: tuple[Breed, ...] = setting((), "Session strategies by agent family.")
    schema: str = field(default="", metadata={"doc": "Address of a JSON schema, for editors.", "key": "$schema"})

    @property
    def runtime(self) -> RuntimeSettings:
        return self.agents.runtime


@dataclass(frozen=True, slots=True)
class AgentHeader:
    """What may stand between the two lines of dashes of `agents/*.md` (HK2)."""

    id: str = setting("", "Name by which `agent.id` chooses it; absent: the file's name without `.md`.")
    name: str = setting("", "Name that people see; absent: the id.")
    description: str = setting("", "What it is good for.")
    model_settings: ModelParams = setting(ModelParams, "temperature, topP and maxTokens.")


DEFAULTS = Settings()
