import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AssistantItem, NoticeItem, ThreadState, ToolItem, TurnEvent, UserItem } from '../src/api/live'
import { earlier, happened, liveRows, opened, recorded, recordRows, rejoined, takenBack, toolState, type Conversation } from '../src/chat/conversation'

const base = { session: 's1', no: 1, at: 1, invocation: 'i1', subagent: '', superseded: false }
const user = (key: string, more: Partial<UserItem> = {}): UserItem => ({ ...base, kind: 'user', key, id: key, text: key, typed: true, ...more })
const reply = (key: string, text: string): AssistantItem => ({ ...base, kind: 'assistant', key, text, reasoning: '' })
const call = (callId: string, state: ToolItem['state'], more: Partial<ToolItem> = {}): ToolItem => ({
  ...base, kind: 'tool', key: `t-${callId}`, callId, tool: 'bash', input: {}, what: { kind: 'command', text: 'ls', path: '', complete: true }, state,
  approval: '', output: '', exitCode: null, durationMs: null, reason: '', why: null, truncated: null, ...more,
})
const place = { thread: 't', agent: 'main', session: 's1' }
type Loose = TurnEvent extends infer E ? (E extends TurnEvent ? Omit<E, keyof typeof place> : never) : never

function start(items: Conversation['items'] = []): Conversation {
  const state = { thread: 't', busy: false, live: null, queue: [], health: null, eventNo: 5 } as unknown as ThreadState
  return opened(state, { items: [...items], before: null, eventNo: 5 })
}
const run = (from: Conversation, ...events: Loose[]): Conversation =>
  events.reduce((now, event, index) => happened(now, { ...place, ...event } as TurnEvent, 100, index + 6), from)
const kinds = (now: Conversation) => [...recordRows(now.items, now.tools), ...liveRows(now)].map((row) => row.kind)

test('a reply streams, settles, and gives way to its record without being shown twice', () => {
  let now = run(start([user('u')]), { kind: 'turn_started', invocation: 'i', text: 'u', typed: true })
  assert.deepEqual(kinds(now), ['item', 'thinking'])
  now = run(now, { kind: 'text_delta', text: 'Hello ' }, { kind: 'text_delta', text: 'there' })
  assert.equal(now.text, 'Hello there')
  assert.deepEqual(kinds(now), ['item', 'reply'])
  now = run(now, { kind: 'replied', text: 'Hello there' })
  assert.deepEqual(kinds(now), ['item', 'reply', 'thinking'])
  now = recorded(now, reply('a', 'Hello there'))
  assert.deepEqual(kinds(now), ['item', 'item', 'thinking'])
  now = run(now, { kind: 'turn_ended', invocation: 'i', reason: 'done', text: '', problem: '' })
  assert.deepEqual(kinds(now), ['item', 'item'])
  assert.equal(now.running, false)
})

test('the record may come before the live event', () => {
  let now = run(start(), { kind: 'text_delta', text: 'Done.' })
  now = recorded(now, reply('a', 'Done.'))
  assert.equal(now.text, '')
  now = run(now, { kind: 'replied', text: 'Done.' })
  assert.deepEqual(now.settling, [])
})

test('a reply that broke off does not count', () => {
  const now = run(start(), { kind: 'text_delta', text: 'half' }, { kind: 'text_reset' }, { kind: 'text_delta', text: 'whole' })
  assert.equal(now.text, 'whole')
})

test('a call goes through its states, and the record wins', () => {
  let now = run(start(), { kind: 'tool_preparing', callId: 'c', tool: 'bash', input: {} })
  assert.equal(toolState(null, now.tools.get('c')!), 'preparing')
  now = run(now, { kind: 'tool_waiting', callId: 'c', tool: 'bash', approval: 'ap' })
  now = recorded(now, call('c', 'waiting', { approval: 'ap' }))
  assert.deepEqual(kinds(now), ['item'])
  now = run(now, { kind: 'tool_answered', callId: 'c', tool: 'bash', approval: 'ap', status: 'answered', answer: 'once' })
  assert.equal(toolState(now.items[0] as ToolItem, now.tools.get('c')!), 'running')
  now = run(now, { kind: 'tool_progress', callId: 'c', tool: 'bash', text: 'line 1\n' }, { kind: 'tool_progress', callId: 'c', tool: 'bash', text: 'line 2\n' })
  assert.equal(now.tools.get('c')!.progress, 'line 1\nline 2\n')
  now = recorded(now, call('c', 'done', { output: 'line 1\nline 2' }))
  assert.equal(now.tools.size, 0)
  assert.equal(now.items.length, 1)
  now = run(now, { kind: 'tool_done', callId: 'c', tool: 'bash', output: '', failed: true, exitCode: 1, durationMs: 1, fullOutput: '' })
  assert.equal(toolState(now.items[0] as ToolItem, now.tools.get('c') ?? null), 'done')
})

test('a denied answer, an expired question and a failure are told apart', () => {
  const waiting = run(start(), { kind: 'tool_waiting', callId: 'c', tool: 'bash', approval: 'ap' })
  const state = (event: Loose) => run(waiting, event).tools.get('c')!.state
  assert.equal(state({ kind: 'tool_answered', callId: 'c', tool: 'bash', approval: 'ap', status: 'answered', answer: 'deny' }), 'denied')
  assert.equal(state({ kind: 'tool_answered', callId: 'c', tool: 'bash', approval: 'ap', status: 'expired', answer: null }), 'denied')
  assert.equal(state({ kind: 'tool_answered', callId: 'c', tool: 'bash', approval: 'ap', status: 'answered', answer: 'always' }), 'running')
  assert.equal(state({ kind: 'tool_done', callId: 'c', tool: 'bash', output: 'no', failed: true, exitCode: 2, durationMs: 3, fullOutput: '' }), 'failed')
})

test('what a run leaves behind ends with it; an open question stays', () => {
  let now = run(start(), { kind: 'tool_running', callId: 'a', tool: 'bash', input: {} }, { kind: 'tool_waiting', callId: 'b', tool: 'bash', approval: 'x' }, { kind: 'compaction_started' })
  now = run(now, { kind: 'turn_ended', invocation: 'i', reason: 'stopped', text: '', problem: '' })
  assert.deepEqual([...now.tools.keys()], ['b'])
  assert.equal(now.compacting, false)
})

test('a denied call stays denied after the run, before the record says so', () => {
  let now = recorded(start(), call('c', 'waiting', { approval: 'ap' }))
  now = run(now, { kind: 'tool_waiting', callId: 'c', tool: 'bash', approval: 'ap' }, { kind: 'tool_denied', callId: 'c', tool: 'bash', reason: 'no' })
  now = run(now, { kind: 'turn_ended', invocation: 'i', reason: 'done', text: '', problem: '' })
  assert.equal(toolState(now.items[0] as ToolItem, now.tools.get('c') ?? null), 'denied')
})

test('words of a sub-agent are not mixed into the reply; its calls are shown', () => {
  const now = run(start(), { kind: 'text_delta', text: 'inner', subagent: 'helper' }, { kind: 'tool_running', callId: 's', tool: 'read', input: {}, subagent: 'helper' })
  assert.equal(now.text, '')
  assert.ok(now.tools.has('s'))
})

test('an earlier page goes in front, once', () => {
  const now = earlier(start([user('c'), user('d')]), { items: [user('a'), user('b'), user('c')], before: 'p1', eventNo: 9 })
  assert.deepEqual(now.items.map((item) => item.key), ['a', 'b', 'c', 'd'])
  assert.equal(now.before, 'p1')
})

test('what an edit replaced is one folded row', () => {
  const rows = recordRows([user('a', { superseded: true }), user('b', { superseded: true }), user('c')], new Map())
  assert.deepEqual(rows.map((row) => row.kind), ['replaced', 'item'])
  assert.equal(rows[0]!.kind === 'replaced' && rows[0]!.items.length, 2)
})

test('an edit takes back its own part of its own session', () => {
  const items = [user('a', { no: 1 }), user('b', { no: 2 }), user('c', { no: 3 }), user('d', { no: 2, session: 's2' })]
  assert.deepEqual(takenBack(start(items), 's1', 2, 3).items.map((item) => item.superseded), [false, true, true, false])
})

const notice = (text: string, id = ''): Loose => ({ kind: 'notice', text, message: {}, id })
const problem = (text: string, nextStep: string, id = ''): Loose => ({ kind: 'problem', code: 'no_key', text, nextStep, message: {}, nextMessage: {}, id })

test('a notice gives way to its record, whichever comes first', () => {
  const item: NoticeItem = { ...base, kind: 'notice', key: 'e:n1', problem: false, code: '', message: { code: 'plain', params: {}, en: 'careful', zh: '小心' }, next: null }
  let now = run(start(), notice('careful', 'n1'))
  assert.deepEqual(kinds(now), ['note'])
  now = recorded(now, item)
  assert.deepEqual(kinds(now), ['item'])
  now = run(now, notice('careful', 'n1'))
  assert.deepEqual(kinds(now), ['item'])
})

test('what is only said in passing is over with the next turn, and the queue speaks for itself', () => {
  const queued: Loose = { kind: 'notice', text: 'queued', message: { code: 'runtime.queued', params: {}, en: 'queued', zh: '排队' }, id: '' }
  let now = run(start(), queued)
  assert.deepEqual(kinds(now), [])
  now = run(now, notice('another program works here'), problem('No key.', 'Set one.', 'p1'))
  assert.equal(now.notes.length, 2)
  now = run(now, { kind: 'turn_started', invocation: 'i', text: 'x', typed: true })
  assert.deepEqual(now.notes.map((one) => one.key), ['e:p1'])
})

test('a problem, a notice and a pause are shown below the record', () => {
  let now = run(start(), notice('careful'), problem('No key.', 'Set one.'))
  now = run(now, { kind: 'retry_in', seconds: 5, attempt: 1, why: 'busy' })
  assert.deepEqual(kinds(now), ['retry', 'note', 'note'])
  assert.equal(run(now, { kind: 'text_delta', text: 'x' }).retry, null)
})

test('ten thousand items and a stream of deltas stay quick', () => {
  let now = start(Array.from({ length: 10_000 }, (_, index) => user(`u${index}`)))
  for (let index = 0; index < 500; index += 1) now = happened(now, { ...place, kind: 'text_delta', text: 'word ' }, 1, index)
  now = recorded(now, user('u9999', { text: 'changed' }))
  assert.equal(now.items.length, 10_000)
  assert.equal((now.items.at(-1) as UserItem).text, 'changed')
  assert.equal(now.text.length, 2500)
})

test('after a break what is shown stays, what was missed stands at its place, and what was being written is asked for', () => {
  const page = (items: Conversation['items']) => ({ items: [...items], before: null, eventNo: 9 })
  const state = (busy: boolean) => ({ thread: 't', busy, live: null, queue: [], health: null, eventNo: 9 }) as unknown as ThreadState
  let now: Conversation = { ...start([user('u4', { no: 4 }), call('c', 'running', { no: 5 })]), before: 's1:4' }
  now = run(now, { kind: 'text_delta', text: 'half a rep' })
  now = recorded(now, user('u3', { no: 3 }))
  assert.deepEqual(now.items.map((one) => one.key), ['u4', 't-c'], 'what lies in a page that is not loaded stays there')
  now = recorded(now, user('u7', { no: 7 }))
  now = recorded(now, user('u6', { no: 6 }))
  assert.deepEqual(now.items.map((one) => one.key), ['u4', 't-c', 'u6', 'u7'])
  now = rejoined(now, state(false), page([call('c', 'interrupted', { no: 5 }), user('u6', { no: 6 }), user('u7', { no: 7 })]))
  assert.deepEqual(now.items.map((one) => one.key), ['u4', 't-c', 'u6', 'u7'])
  assert.equal((now.items[1] as ToolItem).state, 'interrupted')
  assert.equal(now.text, '')
  assert.equal(now.running, false)
  assert.equal(now.before, 's1:4')
})
