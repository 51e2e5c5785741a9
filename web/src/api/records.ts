/**
 * The records half of the API: chains, search, audit, rules, settings, memory and figures.
 *
 * Times are seconds since 1970. Every list is paged: hand `cursor` back to get the next page, null means the end.
 * Texts of agents, tools and files are data: put them on the page as text, never as markup.
 */
import { del, get, post, put, seg } from './http';
import type { Message } from './http';

export type { Message } from './http';

export type Decision = 'allow' | 'ask' | 'deny';
export type Mode = 'agent' | 'full_access';
export type Domain = 'read' | 'edit' | 'bash' | 'web_fetch' | 'web_search' | 'mcp';
export type StrategyName = 'handoff' | 'compress' | 'hybrid';

// ---------------------------------------------------------------- chains

export interface Fill {
  used: number;
  window: number | null;
  reserve: number | null;
  /** Share of the usable window; null when no window is known. */
  ratio: number | null;
  exact: boolean;
  measuredAt: number;
  ageSeconds: number;
  stale: boolean;
}

/** The strategy that holds for a session, with its two marks. */
export interface StrategyMarks {
  strategy: StrategyName;
  warn: number;
  action: number;
  maxCompressions: number;
  /** false: measured and recorded, never sealed. */
  chain: boolean;
  source: 'override' | 'config' | 'family' | 'provider' | 'global';
  family: string;
  approximate: boolean;
  notes: Message[];
}

/** What lies between two compactions of a session. */
export interface Segment {
  firstEvent: number;
  lastEvent: number;
  startedAt: number;
  endedAt: number;
  /** The compaction that ended it; null for the last one. */
  compaction: {
    eventNo: number;
    at: number;
    before: number | null;
    after: number | null;
    trigger: 'auto' | 'manual';
    inferred: boolean;
  } | null;
}

export interface ThreadRow {
  thread: string;
  agent: string;
  host: string;
  title: string;
  vault: string;
  /** Number of sessions so far. */
  sessions: number;
  /** The newest session. */
  session: string;
  state: 'active' | 'sealing' | 'sealed';
  startedAt: number;
  lastAt: number;
  pending: number;
}

export interface ChainSession {
  session: string;
  thread: string;
  agent: string;
  host: string;
  vault: string;
  model: string;
  mode: Mode;
  number: number;
  title: string;
  state: 'active' | 'sealing' | 'sealed';
  /** threshold, budget, compressions, manual, handoff, reaped, imported; empty while it lives. */
  sealReason: string;
  /** Set when finalising did not end in time. */
  sealMark: string;
  /** The reason of a seal that waits for the end of the turn. */
  sealWanted: string;
  startedAt: number;
  endedAt: number | null;
  /** Seconds, until now for a live one. */
  duration: number;
  events: number;
  compressions: number;
  fill: Fill | null;
  marks: StrategyMarks;
  segments: Segment[];
  /** Whether unseal would be accepted: the last of its chain, sealed, not imported. */
  canUnseal: boolean;
}

export interface Chain {
  thread: string;
  agent: string;
  title: string;
  vault: string;
  hosts: string[];
  /** Oldest first; of very many the latest. */
  sessions: ChainSession[];
  leftOut: number;
}

export interface SessionDetail extends ChainSession {
  archive: { state: 'none' | 'verified' | 'damaged'; file: string; sha256: string; events: number; problem: string };
}

export type TranscriptView = 'chat' | 'handoff' | 'raw';

export interface ChatEntry {
  eventNo: number;
  at: number;
  invocationId: string;
  who: 'user' | 'agent' | 'tool' | 'holdfast';
  text: string;
  subagent?: string;
  /** The tool that is being called. */
  calls?: string;
  decision?: Decision;
  /** The tool that answered. */
  tool?: string;
  /** ok, failed, or `exit 2`. */
  outcome?: string;
}

export interface RawEntry {
  eventNo: number;
  id: string;
  at: number;
  kind: string;
  invocation?: string;
  tool?: string;
  subagent?: string;
  files?: string[];
  data: Record<string, unknown>;
  /** Long strings in it were cut; `sessionEvent` gives more. */
  cut?: boolean;
}

export interface HandoffEntry {
  invocationId: string;
  events: [number, number];
  at: number;
  asked: string;
  tools: Record<string, number>;
  failed: number;
  answered: string;
}

export interface TranscriptPage<Entry = ChatEntry | RawEntry | HandoffEntry> {
  session: string;
  view: TranscriptView;
  /** Oldest first, in both directions. */
  entries: Entry[];
  /** Number of the last event of the session. */
  total: number;
  /** The page before and the page after this one. */
  before: string | null;
  after: string | null;
}

export interface Digest {
  session: string;
  number: number;
  startedAt: number;
  endedAt: number;
  events: number;
  invocations: number;
  compactions: number;
  language: 'en' | 'zh';
  prompts: { text: string; no: number }[];
  tools: Record<string, number>;
  files: { path: string; operations: Record<string, number> }[];
  commands: { command: string; outcome: string; no: number }[];
  errors: { tool: string; text: string; times: number; no: number }[];
  decisions: { who: string; what: string; about: string; at: number }[];
  questions: string[];
  tasks: string[];
  lastPrompt: string;
  lastReply: string;
  minutes: string;
  minutesBy: string;
  note: string;
}

export interface Sealing {
  status: 'sealed' | 'sealing' | 'waits' | 'refused' | 'not_wanted';
  message: Message;
  warning: Message | null;
  session: ChainSession;
}

export interface HandOff extends Sealing {
  /** What the next session will be told; null while the seal waits. */
  packet: { text: string; tokens: number } | null;
}

export interface Recovery {
  session: string;
  /** Whether the gate is switched on in the settings. */
  enabled: boolean;
  /** The gate is closed: these anchors must be read first. */
  required: boolean;
  unread: string[];
  read: string[];
  anchors: string[];
  compactions: number;
}

export const chains = {
  list: (filters: { host?: string; agent?: string; vault?: string; q?: string; cursor?: string; limit?: number } = {}) =>
    get<{ threads: ThreadRow[]; cursor: string | null }>('/api/chains', filters),
  chain: (thread: string, agent?: string) => get<Chain>(`/api/chains/${seg(thread)}`, { agent }),
  session: (session: string) => get<SessionDetail>(`/api/sessions/${seg(session)}`),
  digest: (session: string) => get<{ digest: Digest; text: { en: string; zh: string } }>(`/api/sessions/${seg(session)}/digest`),
  /** The beginning, without a place; `event` jumps: that event with its neighbours. `from: 'end'` begins at the end. */
  events: (session: string, page: { view?: TranscriptView; cursor?: string; event?: number; from?: 'start' | 'end'; limit?: number } = {}) =>
    get<TranscriptPage>(`/api/sessions/${seg(session)}/events`, page),
  /** One event, with strings up to 200,000 characters. */
  event: (session: string, eventNo: number) => get<RawEntry>(`/api/sessions/${seg(session)}/events/${eventNo}`),
  seal: (session: string, over = false) => post<Sealing>(`/api/sessions/${seg(session)}/seal`, { over }),
  unseal: (session: string) => post<{ session: ChainSession }>(`/api/sessions/${seg(session)}/unseal`, {}),
  handOff: (session: string) => post<HandOff>(`/api/sessions/${seg(session)}/handoff`, {}),
  recovery: (session: string) => get<Recovery>(`/api/sessions/${seg(session)}/recovery`),
};

// ---------------------------------------------------------------- search

export interface SearchHit {
  session: string;
  thread: string;
  agent: string;
  host: string;
  vault: string;
  title: string;
  number: number;
  eventNo: number;
  invocationId: string;
  kind: string;
  tool: string;
  subagent: string;
  at: number;
  snippet: string;
  /** Where the snippet matches: from, to, counted as JavaScript counts. */
  marks: [number, number][];
}

export interface SearchPage {
  hits: SearchHit[];
  cursor: string | null;
  match: 'all' | 'any';
  order: 'best' | 'newest';
  /** false: time ran out before everything was looked at. */
  complete: boolean;
  /** Why a search that should also go by meaning went by words only; empty otherwise. */
  notice: Message | null;
}

export interface SearchFilters {
  session?: string[];
  thread?: string[];
  kind?: string[];
  tool?: string[];
  file?: string[];
  agent?: string[];
  host?: string[];
  vault?: string;
  since?: number;
  until?: number;
  match?: 'auto' | 'all' | 'any';
  cursor?: string;
  limit?: number;
}

export interface SearchOptions {
  kinds: string[];
  tools: string[];
  agents: string[];
  hosts: string[];
  vaults: string[];
}

export const search = {
  find: (q: string, filters: SearchFilters = {}) => get<SearchPage>('/api/search', { q, ...filters }),
  options: () => get<SearchOptions>('/api/search/options'),
};

// ---------------------------------------------------------------- audit

export interface AuditRow {
  position: number;
  eventId: string;
  at: number;
  decision: Decision | '';
  domain: string;
  tool: string;
  /** mode_changed, undo, memory_applied, ... where it is no tool call. */
  what: string;
  targets: string[];
  rulePattern: string;
  policy: string;
  decidedBy: string;
  mode: string;
  session: string;
  thread: string;
  agent: string;
  subagent: string;
  host: string;
  lifted: boolean;
}

export type FacetName = 'decision' | 'domain' | 'tool' | 'agent' | 'host' | 'policy';

export interface AuditFilters {
  decision?: string[];
  domain?: string[];
  tool?: string[];
  agent?: string[];
  host?: string[];
  policy?: string[];
  session?: string;
  since?: number;
  until?: number;
  q?: string;
}

export interface AuditPage {
  /** Newest first. */
  entries: AuditRow[];
  cursor: string | null;
  total: number;
  /** Counts of each value under all other filters, most frequent first. */
  facets: Record<FacetName, { value: string; count: number }[]>;
  histogram: { seconds: number; buckets: { at: number; allow: number; ask: number; deny: number }[] };
  complete: boolean;
}

export interface RuleRef {
  pattern: string;
  decision: Decision;
  domain: Domain;
  source: string;
  line: number | null;
  index: number | null;
}

export interface Finding {
  policy: string;
  decision: Decision;
  hard: boolean;
  why: Message;
  rule: RuleRef | null;
  target: string;
  domain: string;
  next: Message | null;
  lifted: boolean;
}

/** The whole entry as it is on record, and the story of it. */
export interface AuditDetail {
  row: AuditRow;
  entry: Record<string, unknown>;
  findings: Finding[];
  /** Who decided, and what would change it: sentences, with the command as a parameter where there is one. */
  why: { decidedBy: Message; what: string; change: Message[] };
  /** Where it stands in the session's transcript; null when the session is gone. */
  eventNo: number | null;
}

export interface AuditReport {
  ok: boolean;
  files: number;
  entries: number;
  problems: { file: string; line: number; kind: string; message: Message }[];
}

export interface SimulatedChange {
  eventId: string;
  sessionId: string;
  timestamp: number;
  tool: string;
  target: string;
  before: Decision;
  after: Decision;
  ruleBefore: string;
  ruleAfter: string;
}

export interface Simulation {
  replayed: number;
  changed: number;
  totals: { before: Decision; after: Decision; count: number }[];
  /** Equal changes counted together, most frequent first, at most 200. */
  groups: { count: number; change: SimulatedChange }[];
  groupsLeftOut: number;
  /** Cannot be judged again: secrets were taken out of the record, or its form is unknown. */
  redacted: number;
  unreadable: number;
}

export const audit = {
  list: (filters: AuditFilters & { cursor?: string; limit?: number; buckets?: number } = {}) => get<AuditPage>('/api/audit', { ...filters }),
  /** By event id, call id or approval id: every entry about it, oldest first. */
  entry: (id: string) => get<{ entries: AuditDetail[] }>(`/api/audit/entries/${seg(id)}`),
  verify: (session?: string) => get<AuditReport>('/api/audit/verify', { session }),
  /** An address that works once, within a minute: set it as `location` or as the `href` of a link. */
  exported: async (format: 'jsonl' | 'csv', filters: AuditFilters = {}): Promise<string> =>
    (await post<{ url: string }>('/api/audit/export', { format, ...filters })).url,
  /** One entry or one session against the rules of today. */
  replay: (what: { event?: string; session?: string }) => post<Simulation>('/api/audit/replay', what),
};

// ---------------------------------------------------------------- rules

export interface RuleRow extends RuleRef {
  /** Place in the order in which rules are looked at; a later one wins. */
  order: number;
  origin: 'built-in' | 'template' | 'user' | 'inline';
  /** Can be removed here; `index` is its number then. */
  own: boolean;
  expires: number | null;
  expired: boolean;
  only: '' | 'read_only';
  /** The order of a later rule that always wins over it; null when none is known to. */
  shadowedBy: number | null;
}

export interface RulesPage {
  file: string;
  rules: RuleRow[];
  builtIn: number;
  outsideEdit: 'deny' | 'ask';
  problems: ConfigProblem[];
}

export interface NewRule {
  domain: Domain;
  pattern: string;
  decision: Decision;
  expires?: number | null;
}

export interface Effect {
  kind: string;
  target: string;
  detail?: string;
  by?: string;
  whole?: boolean;
  certain: boolean;
  path: boolean;
}

export interface CommandReading {
  command: string;
  risk: 'safe' | 'caution' | 'dangerous';
  read_only: boolean;
  unknown: boolean;
  unknown_why?: string;
  unknown_said?: Message;
  has_error?: boolean;
  effects: Effect[];
  reason: string;
  reason_code: string;
  reason_params: Record<string, string>;
  commands: { text: string; via: string[]; dynamic: boolean }[];
}

export interface RuleTest {
  decision: Decision;
  hard: boolean;
  why: Message | null;
  findings: Finding[];
  accesses: {
    domain: Domain;
    target: string;
    verb: string;
    by: string;
    certain: boolean;
    decision: Decision;
    why: Message;
    /** Every rule that matches, the deciding one first. */
    rules: (RuleRef & { role: 'decides' | 'shadowed' | 'does_not_count' })[];
  }[];
  reading: CommandReading | null;
  /** What `always` would write. */
  proposals: { rules: NewRule[]; [key: string]: unknown }[];
}

/** Either a target of a domain, or a call of a tool. */
export type RuleQuestion =
  | { domain: Domain; target: string; mode?: Mode; vault?: string; cwd?: string }
  | { tool: string; input: Record<string, unknown>; mode?: Mode; vault?: string; cwd?: string };

export interface RuleTemplate {
  name: string;
  on: boolean;
  about: Message;
  rules: RuleRef[];
}

/** Edits of the user's rules: those to leave out by their index, and new ones, each where `rules.add` would write it. */
export interface SimulateRequest {
  add?: NewRule[];
  remove?: number[];
  /** Instead of edits: all of the user's own rules. */
  rules?: NewRule[];
  templates?: string[];
  since?: number;
  session?: string;
}

export interface SimulationJob {
  id: string;
  state: 'running' | 'done' | 'cancelled' | 'timed_out' | 'failed';
  replayed: number;
  total: number;
  result: Simulation | null;
  problem: Message | null;
}

export const rules = {
  list: (all = false, domain?: Domain) => get<RulesPage>('/api/rules', { all: all ? 1 : undefined, domain }),
  /** With `index` the rule is put back where it stood: the undo of `remove`. */
  add: (rule: NewRule & { index?: number }) =>
    post<{ added: boolean; rule: RuleRef; shadowedBy: RuleRef | null }>('/api/rules', rule),
  /** `rule` is what the person saw: refused when the file has changed meanwhile. */
  remove: (index: number, rule: NewRule) => del<{ removed: RuleRef & { expires: number | null } }>(`/api/rules/${index}`, rule),
  test: (question: RuleQuestion) => post<RuleTest>('/api/rules/test', question),
  templates: () => get<{ templates: RuleTemplate[] }>('/api/rules/templates'),
  switchTemplate: (name: string, on: boolean) => put<{ templates: RuleTemplate[] }>('/api/rules/templates', { name, on }),
  simulate: (request: SimulateRequest) => post<SimulationJob>('/api/rules/simulate', request),
  simulation: (id: string) => get<SimulationJob>(`/api/rules/simulate/${seg(id)}`),
  cancelSimulation: (id: string) => del<SimulationJob>(`/api/rules/simulate/${seg(id)}`),
};

// ---------------------------------------------------------------- settings

export interface ConfigProblem {
  file: string;
  line: number | null;
  column: number | null;
  key: string;
  message: Message;
}

export interface SettingKind {
  type: 'boolean' | 'integer' | 'number' | 'text' | 'choice' | 'list' | 'object';
  nullable: boolean;
  /** For a choice, and for a list of choices. */
  options: string[];
  min: number | null;
  max: number | null;
}

export interface Setting {
  key: string;
  section: string;
  value: unknown;
  default: unknown;
  /** `source` is `default`, a file, or what gave it inline. */
  origin: { source: string; line: number | null };
  isDefault: boolean;
  /** false: given by environment or command line, which win over the file. */
  editable: boolean;
  doc: string;
  kind: SettingKind;
}

export interface SettingsPage {
  file: string;
  exists: boolean;
  settings: Setting[];
  /** A broken later edit of the file: the last good one is in force. */
  problems: ConfigProblem[];
}

export interface SettingWritten {
  setting: Setting;
  changed: boolean;
  line: number | null;
  backup: string | null;
}

export const settings = {
  list: () => get<SettingsPage>('/api/settings'),
  set: (key: string, value: unknown) => put<SettingWritten>('/api/settings', { key, value }),
  unset: (key: string) => put<SettingWritten>('/api/settings', { key, unset: true }),
};

export type ParamName = 'temperature' | 'topP' | 'maxTokens';

export interface SystemPrompt {
  mode: 'default' | 'custom';
  /** null while the mode is default: the default hides everything. */
  custom: { text: string; params: Record<ParamName, number | null> } | null;
  limits: Record<ParamName, { type: 'integer' | 'number'; min: number | null; max: number | null }>;
  /** An agent with a body of its own is chosen: its text is used instead of the custom one. */
  agent: string | null;
}

export const systemPrompt = {
  get: () => get<SystemPrompt>('/api/system-prompt'),
  /** Switch to custom; without `text` it begins with what was written before, else with the default's text. */
  custom: (change: { text?: string; params?: Partial<Record<ParamName, number | null>> } = {}) =>
    put<SystemPrompt>('/api/system-prompt', { mode: 'custom', ...change }),
  /** Back to the default; what was written stays in the file for the next time. */
  restore: () => put<SystemPrompt>('/api/system-prompt', { mode: 'default' }),
};

export interface ModelRow {
  name: string;
  current: boolean;
  configured: boolean;
  offline: boolean;
  baseUrl: string;
  api: 'chat' | 'responses';
  local: boolean;
  window: number | null;
  /** Where the window comes from. */
  windowSource: 'custom' | 'table' | 'unknown';
  customContext: number | null;
  managed: boolean;
  maxOutput: number | null;
  inputPrice: number | null;
  outputPrice: number | null;
  needsKey: boolean;
  keyName: string;
  /** Where a key was found; never the key. */
  keySource: 'environment' | 'keyring' | 'credentials' | null;
}

export interface KnownModel {
  pattern: string;
  window: number;
  output: number;
  managed: boolean;
}

export const models = {
  list: () => get<{ current: string; models: ModelRow[]; table: KnownModel[] }>('/api/models'),
};

export interface AgentRow {
  id: string;
  name: string;
  description: string;
  params: Record<ParamName, number | null>;
  prompt: string;
  file: string;
  chosen: boolean;
}

export const agents = {
  list: () => get<{ chosen: string; agents: AgentRow[]; problems: ConfigProblem[] }>('/api/agents'),
};

export interface HostStrategy extends StrategyMarks {
  host: string;
  /** What holds without any family. */
  default: StrategyName;
  /** Whether the host tells that it has compacted. */
  signal: 'yes' | 'inferred' | 'no';
  /** Where the host compacts by itself: a share of the window, less so many tokens. */
  compactsAt: { share: number; less: number } | null;
}

export interface Family {
  id: string;
  match: { host: string; agent: string; model: string } | null;
  sessionChain: boolean;
  /** null: the host's default. */
  strategy: StrategyName | null;
  warn: number;
  action: number;
  maxCompressions: number;
  budgetReserve: number | null;
  line: number | null;
  /** false: given by environment or command line. */
  editable: boolean;
}

export interface FamilyChange {
  match?: { host?: string; agent?: string; model?: string } | null;
  sessionChain?: boolean;
  strategy?: StrategyName | null;
  warn?: number;
  action?: number;
  maxCompressions?: number;
  budgetReserve?: number | null;
}

export interface StrategiesPage {
  hosts: HostStrategy[];
  families: Family[];
  /** Names that are known without `match`, and the host of each. */
  known: Record<string, string>;
  /** warn must be below action, by at least `step`. */
  limits: { warn: Limits; action: Limits; maxCompressions: Limits; budgetReserve: Limits; step: number };
}

export interface Limits {
  min: number | null;
  max: number | null;
}

export const strategies = {
  list: () => get<StrategiesPage>('/api/strategies'),
  set: (family: string, change: FamilyChange) => put<StrategiesPage>(`/api/strategies/${seg(family)}`, change),
  remove: (family: string) => del<StrategiesPage>(`/api/strategies/${seg(family)}`, {}),
};

export interface HealthFinding {
  check: string;
  level: 'ok' | 'warning' | 'problem';
  what: Message;
  fix: Message | null;
}

export interface HostHealth {
  host: string;
  attached: boolean;
  installed: boolean;
  level: 'ok' | 'warning' | 'problem';
  findings: HealthFinding[];
}

export interface DoctorReport {
  healthy: boolean;
  at: number;
  hosts: HostHealth[];
  /** Everything that is not about one host. */
  findings: HealthFinding[];
  /** false: the deadline passed before every check had answered. */
  complete: boolean;
}

export const doctor = {
  report: (check?: string) => get<DoctorReport>('/api/doctor', { check }),
};

// ---------------------------------------------------------------- memory

export interface MemoryStatus {
  vault: string;
  enabled: boolean;
  files: string[];
  memory: boolean;
  patterns: boolean;
  cut: boolean;
  goal: string;
  guardMode: 'off' | 'warn' | 'block';
  recovery: boolean;
  pending: number;
  injected: string;
  vaults: string[];
}

export interface ProposalRow {
  id: string;
  vault: string;
  path: string;
  why: string;
  at: number;
  by: string;
  thread: string;
  session: string;
  status: 'pending' | 'applied' | 'skipped' | 'undone';
  settledAt: number | null;
  settledBy: string;
}

export interface ProposalDetail extends ProposalRow {
  /** A unified diff against the file as it is now; empty once it is settled. */
  diff: string;
  /** Why it cannot be applied as it stands; null when it can. */
  problem: Message | null;
}

export const memory = {
  status: (vault?: string) => get<MemoryStatus>('/api/memory', { vault }),
  proposals: (filters: { vault?: string; status?: ProposalRow['status']; cursor?: string; limit?: number } = {}) =>
    get<{ proposals: ProposalRow[]; cursor: string | null; total: number }>('/api/memory/proposals', filters),
  proposal: (id: string) => get<ProposalDetail>(`/api/memory/proposals/${seg(id)}`),
  settle: (id: string, answer: 'apply' | 'skip' | 'undo') => post<ProposalDetail>(`/api/memory/proposals/${seg(id)}`, { answer }),
};

// ---------------------------------------------------------------- figures

export interface SessionFigures {
  session: string;
  points: { eventNo: number; at: number; used: number; window: number | null; ratio: number | null; exact: boolean; output: number }[];
  /** Points were thinned out to at most so many; the first, the last and the peaks stay. */
  thinned: boolean;
  compactions: { eventNo: number; at: number; before: number | null; after: number | null; trigger: string; inferred: boolean; method: string }[];
  marks: StrategyMarks;
  tokens: { input: number; output: number };
}

export interface DayOfDecisions {
  /** 2026-11-15, in the time zone that was asked for. */
  day: string;
  at: number;
  allow: number;
  ask: number;
  deny: number;
}

export const stats = {
  session: (session: string) => get<SessionFigures>(`/api/stats/sessions/${seg(session)}`),
  /** `offset` is minutes east of UTC: `-new Date().getTimezoneOffset()`. */
  decisions: (days = 30, offset = 0) => get<{ days: DayOfDecisions[]; total: number }>('/api/stats/decisions', { days, offset }),
};
