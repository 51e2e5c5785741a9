// The conversation on the screen as one pure fold: what the record holds, and on top of it what is happening right now.
// The record always wins: a live piece goes away as soon as its item is written down.
import type { Health, Item, LiveTurn, MessagePage, Queued, ThreadState, ToolItem, ToolState, TurnEvent, What } from '$/api/live'

export interface LiveTool {
  callId: string
  tool: string
  input: Record<string, unknown>
  what: What
  state: ToolState
  approval: string
  progress: string
  output: string
  reason: Words
  exitCode: number | null
  durationMs: number | null
}

export interface Note {
  problem: boolean
  /** That of its item in the record, once it stands there. */
  key: string
  text: Words
  next: Words
}
/** In every language, or as it came. */
type Words = string | { en?: string; zh?: string }

export interface Conversation {
  thread: string
  items: readonly Item[]
  /** Where the earlier part begins; null when all is here. */
  before: string | null
  running: boolean
  text: string
  reasoning: string
  /** Replies that are complete and on their way into the record. */
  settling: readonly string[]
  tools: ReadonlyMap<string, LiveTool>
  compacting: boolean
  retry: { seconds: number; attempt: number; why: Words; at: number } | null
  notes: readonly Note[]
  queue: readonly Queued[]
  health: Health | null
  /** Events up to this number are in here already. */
  eventNo: number
}

const FINAL: ReadonlySet<ToolState> = new Set(['done', 'denied', 'failed', 'interrupted'])
const MOST_PROGRESS = 20_000

export const isFinal = (state: ToolState): boolean => FINAL.has(state)

export function opened(state: ThreadState, page: MessagePage): Conversation {
  return {
    thread: state.thread,
    items: page.items,
    before: page.before,
    running: state.busy,
    text: state.live?.text ?? '',
    reasoning: state.live?.reasoning ?? '',
    settling: [],
    tools: liveTools(state.live),
    compacting: state.live?.compacting ?? false,
    retry: state.live?.retry ?? null,
    notes: [],
    queue: state.queue,
    health: state.health,
    eventNo: Math.min(state.eventNo, page.eventNo),
  }
}

function liveTools(turn: LiveTurn | null): Map<string, LiveTool> {
  return new Map((turn?.tools ?? []).map((one) => [one.callId, { ...blank(one.callId, one.tool), ...one }]))
}

function blank(callId: string, tool: string): LiveTool {
  return {
    callId,
    tool,
    input: {},
    what: { kind: 'input', text: '', path: '', complete: true },
    state: 'preparing',
    approval: '',
    progress: '',
    output: '',
    reason: '',
    exitCode: null,
    durationMs: null,
  }
}

/** An earlier page in front. */
export function earlier(now: Conversation, page: MessagePage): Conversation {
  const known = new Set(now.items.map((item) => item.key))
  return { ...now, items: [...page.items.filter((item) => !known.has(item.key)), ...now.items], before: page.before }
}

/** After a break: what is shown stays, with what has become of it; what was being written is as the server has it now. */
export function rejoined(now: Conversation, state: ThreadState, page: MessagePage): Conversation {
  const fresh = opened(state, page)
  const known = page.items.reduce(recorded, now)
  return { ...fresh, items: known.items, before: known.before, notes: now.notes }
}

/** Something was written down. */
export function recorded(now: Conversation, item: Item): Conversation {
  const at = place(now.items, item)
  const later = at < 0 ? now.items.findIndex((one) => one.session === item.session && one.no > item.no) : -1
  if (later === 0 && now.before) return now // it lies in a page that is not loaded yet
  const items = at >= 0 ? now.items.with(at, item) : later >= 0 ? now.items.toSpliced(later, 0, item) : [...now.items, item]
  const next: Conversation = { ...now, items }
  if (item.kind === 'assistant' && !item.subagent) {
    const match = now.settling.findIndex((text) => text.trim() === item.text.trim())
    if (match >= 0) next.settling = now.settling.toSpliced(match, 1)
    else if (now.text.trim() === item.text.trim()) next.text = next.reasoning = ''
  }
  if (item.kind === 'tool' && now.tools.has(item.callId) && isFinal(item.state)) next.tools = without(now.tools, item.callId)
  if (item.kind === 'compaction') next.compacting = false
  if (item.kind === 'notice') next.notes = now.notes.filter((one) => one.key !== item.key)
  return next
}

function place(items: readonly Item[], item: Item): number {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const one = items[at]!
    if (one.key === item.key) return at
    if (item.kind === 'tool' && one.kind === 'tool' && one.callId === item.callId && one.session === item.session) return at
  }
  return -1
}

/** A message was edited: what it and everything after it said is kept, but no longer counts. */
export function takenBack(now: Conversation, session: string, first: number, last: number): Conversation {
  const gone = (item: Item) => item.session === session && item.no >= first && item.no <= last
  return { ...now, items: now.items.map((item) => (gone(item) ? { ...item, superseded: true } : item)), settling: [], notes: [] }
}

/** Something happens in a run. */
export function happened(now: Conversation, event: TurnEvent, at: number, no: number): Conversation {
  const ofSubagent = Boolean(event.subagent)
  switch (event.kind) {
    case 'turn_started':
      // What was only said in passing (a message waits, another program works here) is over with it.
      return ofSubagent ? now : { ...now, running: true, text: '', reasoning: '', retry: null, notes: now.notes.filter((one) => one.key.startsWith('e:')) }
    case 'text_delta':
      return ofSubagent ? now : { ...now, running: true, text: now.text + event.text, retry: null }
    case 'reasoning_delta':
      return ofSubagent ? now : { ...now, running: true, reasoning: now.reasoning + event.text, retry: null }
    case 'text_reset':
      return ofSubagent ? now : { ...now, text: '', reasoning: '' }
    case 'replied':
      return ofSubagent ? now : replied(now, event.text)
    case 'tool_preparing':
      return tool(now, event.callId, event.tool, (known) => ({ input: some(event.input, known.input), state: 'preparing' }))
    case 'tool_waiting':
      return tool(now, event.callId, event.tool, () => ({ state: 'waiting', approval: event.approval }))
    case 'tool_answered':
      return tool(now, event.callId, event.tool, () => ({
        state: event.status === 'answered' && event.answer !== 'deny' ? 'running' : 'denied',
        approval: event.approval,
      }))
    case 'tool_running':
      return tool(now, event.callId, event.tool, (known) => ({ input: some(event.input, known.input), state: 'running' }))
    case 'tool_progress':
      return tool(now, event.callId, event.tool, (known) => ({ progress: (known.progress + event.text).slice(-MOST_PROGRESS), state: 'running' }))
    case 'tool_done':
      return tool(now, event.callId, event.tool, () => ({
        state: event.failed ? 'failed' : 'done',
        output: event.output,
        exitCode: event.exitCode,
        durationMs: event.durationMs,
      }))
    case 'tool_denied':
      return tool(now, event.callId, event.tool, () => ({ state: 'denied', reason: words(event.message, event.reason) }))
    case 'compaction_started':
      return { ...now, compacting: true }
    case 'compaction':
      return { ...now, compacting: false }
    case 'usage':
      return { ...now, retry: null }
    case 'retry_in':
      return { ...now, retry: { seconds: event.seconds, attempt: event.attempt, why: words(event.message, event.why), at } }
    case 'notice':
      if ('code' in event.message && event.message.code === 'runtime.queued') return now // the queue shows it
      return note(now, { problem: false, key: event.id ? `e:${event.id}` : `note-${no}`, text: words(event.message, event.text), next: '' })
    case 'problem':
      return note(now, {
        problem: true,
        key: event.id ? `e:${event.id}` : `note-${no}`,
        text: words(event.message, event.text),
        next: words(event.nextMessage, event.nextStep),
      })
    case 'turn_ended':
      return ofSubagent ? now : ended(now)
    default:
      return now
  }
}

function replied(now: Conversation, text: string): Conversation {
  const cleared = { ...now, text: '', reasoning: '', retry: null }
  const last = now.items.at(-1)
  const written = last?.kind === 'assistant' && last.text.trim() === text.trim()
  return text.trim() && !written ? { ...cleared, settling: [...now.settling, text] } : cleared
}

function ended(now: Conversation): Conversation {
  // What is decided stays until the record says it too; a question stays open; the rest ended with the run.
  const tools = new Map([...now.tools].filter(([, one]) => one.state === 'waiting' || isFinal(one.state)))
  return { ...now, running: false, text: '', reasoning: '', compacting: false, retry: null, tools }
}

function some(next: Record<string, unknown>, before: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(next).length ? next : before
}

function tool(now: Conversation, callId: string, name: string, change: (known: LiveTool) => Partial<LiveTool>): Conversation {
  const known = now.tools.get(callId) ?? blank(callId, name)
  const item = now.items.findLast((one): one is ToolItem => one.kind === 'tool' && one.callId === callId)
  if (item && isFinal(item.state)) return now.tools.has(callId) ? { ...now, tools: without(now.tools, callId) } : now
  const next = { ...known, ...change(known) }
  return { ...now, running: true, retry: null, tools: new Map(now.tools).set(callId, next) }
}

function without(tools: ReadonlyMap<string, LiveTool>, callId: string): ReadonlyMap<string, LiveTool> {
  const next = new Map(tools)
  next.delete(callId)
  return next
}

const words = (message: { en?: string } | undefined, text: string): Words => (message?.en ? message : text)

function note(now: Conversation, one: Note): Conversation {
  if (now.items.slice(-50).some((item) => item.key === one.key)) return now
  return { ...now, notes: [...now.notes, one].slice(-20) }
}

// ---------------------------------------------------------------- rows

export type Row =
  | { kind: 'item'; key: string; item: Item; live: LiveTool | null }
  | { kind: 'replaced'; key: string; items: Item[] }
  | { kind: 'tool'; key: string; live: LiveTool }
  | { kind: 'reply'; key: string; text: string; reasoning: string; streaming: boolean }
  | { kind: 'note'; key: string; note: Note }
  | { kind: 'compacting'; key: string }
  | { kind: 'retry'; key: string; retry: NonNullable<Conversation['retry']> }
  | { kind: 'thinking'; key: string }

/** The record as rows; what an edit replaced is folded into one of them. */
export function recordRows(items: readonly Item[], tools: ReadonlyMap<string, LiveTool>): Row[] {
  const rows: Row[] = []
  for (const item of items) {
    const last = rows.at(-1)
    if (item.kind === 'session' && item.number <= 1) continue // a first session begins with its first message
    if (!item.superseded) rows.push({ kind: 'item', key: item.key, item, live: item.kind === 'tool' ? (tools.get(item.callId) ?? null) : null })
    else if (last?.kind === 'replaced') last.items.push(item)
    else rows.push({ kind: 'replaced', key: `replaced-${item.key}`, items: [item] })
  }
  return rows
}

/** What is not in the record (yet), below it. */
export function liveRows(now: Conversation): Row[] {
  const recordedCalls = new Set<string>()
  for (const item of now.items.slice(-200)) if (item.kind === 'tool') recordedCalls.add(item.callId)
  const rows: Row[] = now.settling.map((text, index) => ({ kind: 'reply', key: `settling-${index}`, text, reasoning: '', streaming: false }))
  for (const one of now.tools.values()) if (!recordedCalls.has(one.callId)) rows.push({ kind: 'tool', key: `live-${one.callId}`, live: one })
  if (now.text || now.reasoning) rows.push({ kind: 'reply', key: 'reply', text: now.text, reasoning: now.reasoning, streaming: true })
  if (now.compacting) rows.push({ kind: 'compacting', key: 'compacting' })
  if (now.retry) rows.push({ kind: 'retry', key: 'retry', retry: now.retry })
  for (const one of now.notes) rows.push({ kind: 'note', key: one.key, note: one })
  const busyTools = [...now.tools.values()].some((one) => !isFinal(one.state))
  if (now.running && !now.text && !busyTools && !now.compacting && !now.retry) rows.push({ kind: 'thinking', key: 'thinking' })
  return rows
}

/** The state to show of a call: the record's when it is final, else what is known to happen. */
export function toolState(item: ToolItem | null, live: LiveTool | null): ToolState {
  if (item && isFinal(item.state)) return item.state
  return live?.state ?? item?.state ?? 'preparing'
}
