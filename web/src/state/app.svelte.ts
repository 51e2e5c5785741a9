// Who we are, whether the server can be heard, and what waits: everything that more than one screen needs.
import { SvelteMap } from 'svelte/reactivity'
import { ApiError, enterByLink, hasKey, onLockedOut, type StreamState } from '$/api/http'
import { approvals as api, hello, live, type ApprovalCard, type Hello } from '$/api/live'
import core from '$/i18n/core'
import { translator } from '$/i18n/index.svelte'
import { toast } from '$/ui/toasts.svelte'
import { callAttention } from './attention.svelte'
import { serverSaid } from './clock.svelte'
import { go, reread } from './router.svelte'

export type Phase = 'starting' | 'entry' | 'ready' | 'unreachable'

const t = translator(core)
const MOST_DECIDED = 60

const state = $state({ phase: 'starting' as Phase, problem: '', stream: 'connecting' as StreamState })
let greeting = $state.raw<Hello | null>(null)
const cards = new SvelteMap<string, ApprovalCard>()
let inboxLoaded = $state(false)

export const app = {
  get phase(): Phase {
    return state.phase
  },
  /** Code of what went wrong while entering. */
  get problem(): string {
    return state.problem
  },
  get stream(): StreamState {
    return state.stream
  },
  get hello(): Hello | null {
    return greeting
  },
  get inboxLoaded(): boolean {
    return inboxLoaded
  },
}

const newestFirst = (a: ApprovalCard, b: ApprovalCard) => b.createdAt - a.createdAt

export function pending(): ApprovalCard[] {
  return [...cards.values()].filter((card) => card.status === 'pending').sort(newestFirst)
}

export function decided(): ApprovalCard[] {
  return [...cards.values()]
    .filter((card) => card.status !== 'pending')
    .sort((a, b) => (b.answeredAt ?? b.createdAt) - (a.answeredAt ?? a.createdAt))
    .slice(0, MOST_DECIDED)
}

export function card(id: string): ApprovalCard | undefined {
  return cards.get(id)
}

/** A card as the server sent it; one that was answered by this very device stays so. */
export function keep(next: ApprovalCard): void {
  const before = cards.get(next.id)
  if (before && before.status !== 'pending' && next.status === 'pending') return
  cards.set(next.id, before?.answeredHere && !next.answeredHere ? { ...next, answeredHere: true } : next)
}

async function loadInbox(): Promise<void> {
  const [open, past] = await Promise.all([api.list('pending', 200), api.list('all', MOST_DECIDED)])
  const known = new Set([...open.approvals, ...past.approvals].map((one) => one.id))
  for (const id of cards.keys()) if (!known.has(id) && cards.get(id)?.status === 'pending') cards.delete(id)
  for (const one of [...past.approvals, ...open.approvals]) keep(one)
  inboxLoaded = true
}

async function load(): Promise<void> {
  greeting = await hello()
  await loadInbox()
}

function lost(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return
  state.phase = 'unreachable'
}

export async function start(): Promise<void> {
  onLockedOut(() => {
    if (state.phase === 'ready') state.problem = 'signedOut'
    state.phase = 'entry'
    live.stream.close()
  })
  try {
    if (await enterByLink()) reread()
  } catch (error) {
    reread()
    state.problem = error instanceof ApiError ? error.code : 'unreachable'
    state.phase = 'entry'
    return
  }
  if (!hasKey()) {
    state.phase = 'entry'
    return
  }
  await ready()
}

/** After entering: greet, load, listen. */
export async function ready(): Promise<void> {
  try {
    await load()
  } catch (error) {
    lost(error)
    return
  }
  state.problem = ''
  state.phase = 'ready'
  live.stream.start()
}

let wasLost = false
let wasReset = false
live.stream.onState((next) => {
  if (next === 'lost' && state.stream === 'live') wasLost = true
  if (next === 'live' && wasLost) {
    wasLost = false
    // A `reset`, if one comes, comes first thing on the new connection.
    setTimeout(() => {
      toast(t(wasReset ? 'reloaded' : 'resumed'), 'good')
      wasReset = false
    }, 600)
  }
  state.stream = next
})
live.on('ping', ({ at }) => serverSaid(at))
live.on('reset', () => {
  wasReset = true
  void load().catch(lost)
})
live.on('resumed', () => void load().catch(lost))
live.on('approval', (next) => {
  const isNew = next.status === 'pending' && !cards.has(next.id)
  keep(next)
  if (isNew) callAttention(next.tool, next.what.text || next.title, () => go('inbox', [next.id]))
})
