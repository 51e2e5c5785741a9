/**
 * The live half of the API: approvals, chat, outputs, files, devices and the events of the stream.
 *
 * Times are seconds since 1970. Texts of agents, tools and files are data: put them on the page as text, or as Markdown
 * through the sanitiser, never as markup.
 */
import { del, get, LiveStream, post, seg, upload, type Message, type StreamEvent } from './http';

export type Mode = 'agent' | 'full_access';
export type Decision = 'allow' | 'ask' | 'deny';

// ---------------------------------------------------------------- hello

export interface Hello {
  version: string;
  user: string;
  /** What the server's own messages are in; the page may choose another. */
  language: 'en' | 'zh';
  profile: 'desktop' | 'mobile';
  home: string;
  /** The directory a new thread works in. */
  vault: string;
  model: string;
  /** The built-in offline model answers: no key is configured. */
  offline: boolean;
  hosts: { name: string; attached: boolean }[];
  pending: number;
  panic: boolean;
  approvalTimeoutSeconds: number;
  defaultMode: Mode;
  uploadLimit: number;
  /** Whether `outputs.open` can start the system's program for this browser (same machine, desktop profile). */
  canOpen: boolean;
  /** Whether a phone could reach this server as it listens now. */
  reachable: boolean;
  device: Device;
  /** The stream's number at the time of this answer. */
  eventNo: number;
}

export const hello = (): Promise<Hello> => get('/api/hello');

// ---------------------------------------------------------------- devices and pairing

export interface Device {
  id: string;
  name: string;
  /** `link`: by the one-time link of the terminal; `code`: paired from another device. */
  kind: 'link' | 'code';
  createdAt: number;
  lastSeen: number;
  current: boolean;
}

export interface Pairing {
  /** To be typed, like `K7QM-3XRD`. */
  code: string;
  /** With the code in it, for the QR. */
  url: string;
  /** An SVG document; show it as an image (`data:image/svg+xml,...`). */
  qr: string;
  expiresAt: number;
  reachable: boolean;
}

export const devices = {
  list: () => get<{ devices: Device[] }>('/api/devices'),
  pair: () => post<Pairing>('/api/devices/pair'),
  rename: (id: string, name: string) => post<Device>(`/api/devices/${seg(id)}`, { name }),
  revoke: (id: string) => del<{ devices: Device[] }>(`/api/devices/${seg(id)}`),
};

// ---------------------------------------------------------------- approvals

export type ApprovalStatus = 'pending' | 'answered' | 'expired' | 'cancelled';
export type Answer = 'once' | 'always' | 'for_a_while' | 'deny';

export interface RuleRef {
  pattern: string;
  decision: Decision;
  domain: string;
  /** `built-in`, `inline`, `template NAME`, or the path of the file that holds it. */
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

export interface Access {
  domain: string;
  target: string;
  verb: string;
  by: string;
}

/** One thing a command would do. */
export interface Effect {
  kind: 'reads' | 'writes' | 'deletes' | 'runs' | 'network' | 'installs' | 'changes_permissions' | 'git_history' | 'external_state';
  target: string;
  detail?: string;
  by?: string;
  whole?: boolean;
  certain: boolean;
  path: boolean;
}

export interface Reading {
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
}

export interface ProposedRule {
  domain: string;
  pattern: string;
  decision: Decision;
  expires?: number | null;
}

/** One choice for "always": the exact rules it writes (each pattern may be edited), and what would still win over them. */
export interface Proposal {
  rules: ProposedRule[];
  still: Message[];
}

/** What is to happen, ready to be shown. */
export interface What {
  /**
   * `command`: a shell command; `diff`: a unified diff (or a patch as the tool takes it); `mode`: full access by
   * configuration is to be confirmed before the first message (MO1); `input`: the arguments as JSON.
   */
  kind: 'command' | 'diff' | 'mode' | 'input';
  text: string;
  path: string;
  /** false: the diff could not be made against the file as it is (too large, no text, gone); only the new text is shown. */
  complete: boolean;
}

export interface ApprovalCard {
  id: string;
  status: ApprovalStatus;
  policy: string;
  tool: string;
  callId: string;
  invocation: string;
  thread: string;
  session: string;
  agent: string;
  subagent: string;
  host: string;
  vault: string;
  /** The thread's title. */
  title: string;
  createdAt: number;
  /** null: it waits for as long as it takes. */
  deadline: number | null;
  what: What;
  input: Record<string, unknown>;
  findings: Finding[];
  accesses: Access[];
  proposals: Proposal[];
  /** Why there is no "always", when there is none. */
  onlyOnce: Message | null;
  reading: Reading | null;
  /** The answers that can be given. */
  answers: Answer[];
  answer: Answer | null;
  answeredAt: number | null;
  answeredBy: string;
  /** Answered by the very device that asks. */
  answeredHere: boolean;
  message: string;
  /** What was written down by `always` or granted for a while. */
  rules: ProposedRule[];
}

export interface Answered {
  approval: ApprovalCard;
  /** Why an "always" counted only once; null when all went well. */
  problem: Message | null;
}

export const approvals = {
  list: (status: ApprovalStatus | 'all' = 'pending', limit = 100) =>
    get<{ approvals: ApprovalCard[]; eventNo: number }>('/api/approvals', { status, limit }),
  get: (id: string) => get<ApprovalCard>(`/api/approvals/${seg(id)}`),
  /** `ApiError` 409 `already_decided` carries the card as it is now in `body.approval`; 422 `bad_rule` names the rule. */
  answer: (id: string, answer: Answer, more: { message?: string; rules?: ProposedRule[] } = {}) =>
    post<Answered>(`/api/approvals/${seg(id)}/answer`, { answer, ...more }),
};

// ---------------------------------------------------------------- chat

export type ToolState = 'preparing' | 'waiting' | 'running' | 'done' | 'denied' | 'failed' | 'interrupted';

interface ItemBase {
  /** Stable: an item with the same key replaces the one that is shown. */
  key: string;
  session: string;
  /** The number of the event in its session; 0 for what is not in the record yet. */
  no: number;
  at: number;
  invocation: string;
  /** The name of the sub-agent; empty for the main agent. */
  subagent: string;
  /** A message was edited and sent again: this is no longer part of the conversation. */
  superseded: boolean;
}

export interface UserItem extends ItemBase {
  kind: 'user';
  id: string;
  text: string;
  typed: boolean;
}

export interface AssistantItem extends ItemBase {
  kind: 'assistant';
  text: string;
  reasoning: string;
}

export interface Truncated {
  lines: number;
  bytes: number;
  /** Empty when it could not be kept. */
  path: string;
}

export interface ToolItem extends ItemBase {
  kind: 'tool';
  callId: string;
  tool: string;
  input: Record<string, unknown>;
  what: What;
  state: ToolState;
  /** The approval that was asked for, or empty. */
  approval: string;
  /** What the model saw. */
  output: string;
  exitCode: number | null;
  durationMs: number | null;
  /** Why it was denied, in words of a person or of the record. */
  reason: string;
  /** The same as the policy said it, when it was one. */
  why: Message | null;
  truncated: Truncated | null;
}

export interface CompactionItem extends ItemBase {
  kind: 'compaction';
  trigger: 'auto' | 'manual';
  method: string;
  before: number | null;
  after: number | null;
  summary: string;
  droppedTools: Record<string, number>;
  /** Concluded from other traces: the host gave no signal. */
  inferred: boolean;
}

export interface SessionItem extends ItemBase {
  kind: 'session';
  number: number;
  source: string;
  mode: Mode;
  host: string;
  model: string;
}

export interface ModeItem extends ItemBase {
  kind: 'mode';
  to: Mode;
  by: string;
}

export interface EndedItem extends ItemBase {
  kind: 'ended';
  reason: string;
}

/** Something the person was told in a run: a gate's warning, a loop, a budget that is used up. */
export interface NoticeItem extends ItemBase {
  kind: 'notice';
  /** The run could not go on. */
  problem: boolean;
  code: string;
  message: Message;
  next: Message | null;
}

export type Item = UserItem | AssistantItem | ToolItem | CompactionItem | SessionItem | ModeItem | EndedItem | NoticeItem;

export interface Health {
  session: string;
  thread: string;
  used: number;
  window: number | null;
  reserve: number | null;
  /** Share of the usable window; null when no window is known. */
  ratio: number | null;
  exact: boolean;
  at: number;
  ageSeconds: number;
  stale: boolean;
  /** The strategy's marks. */
  strategy: 'handoff' | 'compress' | 'hybrid';
  warn: number;
  action: number;
  compressions: number;
  maxCompressions: number;
  /** What fills it, estimated: the largest first. */
  segments: { kind: 'user' | 'assistant' | 'call' | 'result' | 'system' | 'summary'; tokens: number }[];
}

export interface Usage {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  cost: number | null;
  maxTokens: number | null;
  maxCost: number | null;
}

export interface ThreadRow {
  thread: string;
  agent: string;
  host: string;
  title: string;
  vault: string;
  /** The newest session. */
  session: string;
  sessions: number;
  state: 'active' | 'sealing' | 'sealed';
  mode: Mode;
  model: string;
  lastAt: number;
  pending: number;
  /** A run of the own agent is under way in this server. */
  busy: boolean;
  /** The own agent's: can be talked to here. */
  own: boolean;
}

export interface Queued {
  id: string;
  text: string;
}

/** What is being written right now, for a page that comes in the middle. */
export interface LiveTurn {
  invocation: string;
  text: string;
  reasoning: string;
  tools: { callId: string; tool: string; input: Record<string, unknown>; what: What; state: ToolState; progress: string }[];
  compacting: boolean;
  retry: { seconds: number; attempt: number; why: Message; at: number } | null;
}

export interface ThreadState extends ThreadRow {
  number: number;
  agentFile: string;
  /** The last run was cut off or failed: `resume` takes it up. */
  unfinished: boolean;
  /** Another process drives it: messages are queued until it is done. */
  drivenElsewhere: boolean;
  live: LiveTurn | null;
  queue: Queued[];
  approvals: ApprovalCard[];
  health: Health | null;
  usage: Usage;
  /** Events of the stream up to this number are in this answer already. */
  eventNo: number;
}

export interface MessagePage {
  items: Item[];
  /** Hand back as `before` for what came earlier; null at the beginning. */
  before: string | null;
  eventNo: number;
}

export interface Sent {
  /** True: a run is under way; it is taken next. */
  queued: boolean;
  id: string;
}

export const threads = {
  list: (filters: { host?: string; vault?: string; q?: string; limit?: number } = {}) =>
    get<{ threads: ThreadRow[] }>('/api/threads', filters),
  create: (wanted: { model?: string; agent?: string; vault?: string } = {}) => post<ThreadState>('/api/threads', wanted),
  get: (thread: string) => get<ThreadState>(`/api/threads/${seg(thread)}`),
  messages: (thread: string, page: { before?: string; limit?: number } = {}) =>
    get<MessagePage>(`/api/threads/${seg(thread)}/messages`, page),
  send: (thread: string, text: string) => post<Sent>(`/api/threads/${seg(thread)}/messages`, { text }),
  stop: (thread: string) => post<{ stopped: boolean }>(`/api/threads/${seg(thread)}/stop`),
  resume: (thread: string) => post<{ resumed: boolean }>(`/api/threads/${seg(thread)}/resume`),
  /** Full access without `confirmed` is refused with 409 `confirm_full_access`: ask the person once, then send it again. */
  mode: (thread: string, mode: Mode, confirmed = false) =>
    post<ThreadState>(`/api/threads/${seg(thread)}/mode`, { mode, confirmed }),
  compact: (thread: string) => post<{ started: boolean }>(`/api/threads/${seg(thread)}/compact`),
  model: (thread: string, model: string) => post<ThreadState>(`/api/threads/${seg(thread)}/model`, { model }),
  /** Take the conversation back to before this message of a person, and send another text instead. */
  edit: (thread: string, event: string, text: string) => post<Sent>(`/api/threads/${seg(thread)}/edit`, { event, text }),
  queue: (thread: string) => get<{ queue: Queued[] }>(`/api/threads/${seg(thread)}/queue`),
  unqueue: (thread: string, id: string) => del<{ queue: Queued[] }>(`/api/threads/${seg(thread)}/queue/${seg(id)}`),
};

// ---------------------------------------------------------------- files

export interface FileMatch {
  /** Relative to the vault, with `/`; what a mention `@path` holds. */
  path: string;
  folder: boolean;
}

export interface Uploaded {
  path: string;
  bytes: number;
}

export const files = {
  complete: (thread: string, prefix: string, limit = 20) =>
    get<{ files: FileMatch[] }>('/api/files/complete', { thread, prefix, limit }),
  /** `ApiError` 413 `too_large`, 422 `bad_name`. Mention the answer's `path` in the message. */
  upload: (thread: string, file: File, progress?: (share: number) => void) =>
    upload<Uploaded>('/api/files', { thread, name: file.name }, file, progress),
};

// ---------------------------------------------------------------- outputs

/** `partial`: still being counted, ask again. */
export type OutputState = 'ok' | 'partial' | 'expired' | 'unreadable';

export interface OutputInfo {
  session: string;
  callId: string;
  tool: string;
  state: OutputState;
  path: string;
  bytes: number;
  /** Lines counted so far; all of them when `state` is `ok`. */
  lines: number;
  canOpen: boolean;
}

export interface OutputLines {
  state: OutputState;
  from: number;
  /** Lines without their end; a very long one is cut, see `cut`. */
  lines: string[];
  /** Numbers (from 0) of lines that are longer than what is shown. */
  cut: number[];
  total: number;
}

export interface OutputMatches {
  state: OutputState;
  /** Line numbers from 0, with the place of the first match in the line. */
  matches: { line: number; column: number; length: number; text: string }[];
  /** Hand back as `from` to go on; null when all was looked at. */
  next: number | null;
}

export const outputs = {
  info: (session: string, callId: string) => get<OutputInfo>(`/api/outputs/${seg(session)}/${seg(callId)}`),
  /** At most 2,000 lines at once. */
  lines: (session: string, callId: string, from: number, count: number, signal?: AbortSignal) =>
    get<OutputLines>(`/api/outputs/${seg(session)}/${seg(callId)}/lines`, { from, count }, signal),
  find: (session: string, callId: string, q: string, from = 0, signal?: AbortSignal) =>
    get<OutputMatches>(`/api/outputs/${seg(session)}/${seg(callId)}/find`, { q, from }, signal),
  /** An address that works once, within a minute: set it as `location` or as the `href` of a link. */
  download: async (session: string, callId: string): Promise<string> =>
    (await post<{ url: string }>(`/api/outputs/${seg(session)}/${seg(callId)}/download`)).url,
  open: (session: string, callId: string) => post<{ opened: boolean }>(`/api/outputs/${seg(session)}/${seg(callId)}/open`),
};

// ---------------------------------------------------------------- the stream

interface Place {
  thread: string;
  agent: string;
  session: string;
}

/** What happens in a run of the own agent, as it happens. */
export type TurnEvent = Place & { subagent?: string } & (
    | { kind: 'turn_started'; invocation: string; text: string; typed: boolean }
    | { kind: 'text_delta'; text: string }
    | { kind: 'reasoning_delta'; text: string }
    /** The reply broke off and is asked for again: what was shown of it does not count. */
    | { kind: 'text_reset' }
    | { kind: 'replied'; text: string }
    | { kind: 'tool_preparing'; callId: string; tool: string; input: Record<string, unknown> }
    | { kind: 'tool_waiting'; callId: string; tool: string; approval: string }
    | { kind: 'tool_answered'; callId: string; tool: string; approval: string; status: ApprovalStatus; answer: Answer | null }
    | { kind: 'tool_running'; callId: string; tool: string; input: Record<string, unknown> }
    | { kind: 'tool_progress'; callId: string; tool: string; text: string }
    | {
        kind: 'tool_done';
        callId: string;
        tool: string;
        output: string;
        failed: boolean;
        exitCode: number | null;
        durationMs: number;
        fullOutput: string;
      }
    | { kind: 'tool_denied'; callId: string; tool: string; reason: string; message?: Message | Record<string, never> }
    | { kind: 'compaction_started' }
    | { kind: 'compaction'; method: string; before: number; after: number; summary: string; message: string }
    | {
        kind: 'usage';
        used: number;
        window: number | null;
        exact: boolean;
        at: number;
        inputTokens: number;
        outputTokens: number;
        threadTokens: number;
        threadCost: number | null;
      }
    | { kind: 'retry_in'; seconds: number; attempt: number; why: string; message?: Message | Record<string, never> }
    /** With an `id` it also comes as an item `e:ID` of the record. */
    | { kind: 'notice'; text: string; message: Message | Record<string, never>; id: string }
    | {
        kind: 'problem';
        code: string;
        text: string;
        nextStep: string;
        message: Message | Record<string, never>;
        nextMessage: Message | Record<string, never>;
        id: string;
      }
    | { kind: 'turn_ended'; invocation: string; reason: 'done' | 'stopped' | 'failed'; text: string; problem: string }
  );

/** Every event by name, as `on` gets it. */
export interface LiveEvents {
  /** A card is new or has changed; `answeredHere` is always false here: compare `answeredBy` with what you sent. */
  approval: ApprovalCard;
  turn: TurnEvent;
  /** Something was written down, by whatever process: put the item in the place of the one with its key. */
  transcript: Place & { host: string; item: Item };
  /** A message was edited: the events from `first` to `last` of the session are no longer part of the conversation. */
  taken_back: Place & { first: number; last: number };
  /** So much was written at once that it is not told one by one (an import): load what is shown anew. */
  records: { events: number };
  /** A thread is new or has changed. */
  thread: ThreadRow;
  health: Health;
  queue: Place & { queue: Queued[] };
  config: { problems: Message[] };
  devices: { devices: Omit<Device, 'current'>[] };
  /** Load everything anew: this server cannot tell what was missed. */
  reset: { eventNo: number };
  /** Everything on record has been told; what is not (a run's words so far, who is busy, queues) is to be asked for. */
  resumed: { eventNo: number };
  ping: { at: number };
}

/** The page's one stream, with typed events. */
export class Live {
  readonly stream = new LiveStream();
  on<Name extends keyof LiveEvents>(name: Name, handler: (data: LiveEvents[Name], event: StreamEvent) => void): () => void {
    return this.stream.on(name, (event) => handler(event.data as LiveEvents[Name], event));
  }
}

export const live = new Live();

/** Called whenever something was missed that the stream does not bring by itself. */
export function onGap(handler: () => void): () => void {
  const stops = [live.on('reset', handler), live.on('resumed', handler), live.on('records', handler)];
  return () => stops.forEach((stop) => stop());
}
