// One open conversation: loads it, follows the stream, and redraws at most once a frame however fast events come in.
import { ApiError } from '$/api/http'
import { live, threads as api, type LiveEvents, type ThreadState } from '$/api/live'
import { keep } from '$/state/app.svelte'
import { threads } from '$/state/threads.svelte'
import { earlier, happened, opened, recorded, rejoined, takenBack, type Conversation } from './conversation'

const PAGE = 120
const SEEK_PAGE = 500
const LATEST = 30

export class OpenThread {
  state = $state.raw<ThreadState | null>(null)
  view = $state.raw<Conversation | null>(null)
  problem = $state('')
  loadingEarlier = $state(false)
  private draft: Conversation | null = null
  private earlierPage: Promise<void> | null = null
  private waiting: (() => void)[] | null = []
  private frame = 0
  private readonly stops: (() => void)[] = []
  private closed = false

  constructor(readonly thread: string) {
    const mine = <T extends { thread: string }>(apply: (data: T, no: number) => void) => (data: T, event: { no: number }) => {
      if (data.thread !== thread) return
      if (this.waiting) this.waiting.push(() => apply(data, event.no))
      else apply(data, event.no)
    }
    // Without a number: told afterwards, from the record; what is there already is put in its own place again.
    const behind = (no: number) => no > 0 && this.draft !== null && no <= this.draft.eventNo
    this.stops = [
      live.on('turn', mine<LiveEvents['turn']>((event, no) => {
        if (behind(no)) return
        this.change((now) => happened(now, event, Date.now() / 1000, no))
        if (event.kind === 'usage' && this.state) this.state = { ...this.state, usage: { ...this.state.usage, inputTokens: event.threadTokens, outputTokens: 0, cost: event.threadCost } }
        if (event.kind === 'turn_ended') void this.refresh()
      })),
      live.on('transcript', mine<LiveEvents['transcript']>((event, no) => {
        if (!behind(no)) this.change((now) => recorded(now, event.item))
      })),
      live.on('taken_back', mine<LiveEvents['taken_back']>((event, no) => {
        if (!behind(no)) this.change((now) => takenBack(now, event.session, event.first, event.last))
      })),
      live.on('queue', mine<LiveEvents['queue']>((event, no) => {
        if (!behind(no)) this.change((now) => ({ ...now, queue: event.queue }))
      })),
      live.on('health', mine<LiveEvents['health']>((health) => this.change((now) => ({ ...now, health })))),
      live.on('thread', mine<LiveEvents['thread']>((row) => {
        if (this.state) this.state = { ...this.state, ...row }
        this.change((now) => ({ ...now, running: row.busy }))
      })),
      live.on('reset', () => void this.load()),
      live.on('resumed', () => void this.rejoin()),
      live.on('records', () => void this.load()),
    ]
    void this.load()
  }

  async load(): Promise<void> {
    this.waiting ??= []
    try {
      const [state, page] = await Promise.all([api.get(this.thread), api.messages(this.thread, { limit: PAGE })])
      if (this.closed) return
      for (const card of state.approvals) keep(card)
      this.state = state
      this.problem = ''
      this.draft = opened(state, page)
      this.view = this.draft
    } catch (error) {
      this.problem = error instanceof ApiError ? error.code : String(error)
    }
    const missed = this.waiting ?? []
    this.waiting = null
    for (const apply of missed) apply()
  }

  /** After a break: the record has been told, so everything shown stays; what was being written is asked for anew. */
  private async rejoin(): Promise<void> {
    if (!this.draft) return this.load()
    this.waiting ??= []
    const limit = Math.min(SEEK_PAGE, Math.max(LATEST, this.draft.items.length))
    try {
      const [state, page] = await Promise.all([api.get(this.thread), api.messages(this.thread, { limit })])
      if (this.closed) return
      for (const card of state.approvals) keep(card)
      this.state = state
      this.problem = ''
      this.change((now) => rejoined(now, state, page))
    } catch {
      // the next break, or the next load, brings it
    }
    const missed = this.waiting ?? []
    this.waiting = null
    for (const apply of missed) apply()
  }

  /** What the stream does not tell: mode, whether the run can be taken up, what became of the last calls. */
  async refresh(): Promise<void> {
    try {
      const [state, page] = await Promise.all([api.get(this.thread), api.messages(this.thread, { limit: LATEST })])
      this.apply(state)
      this.change((now) => page.items.reduce(recorded, now))
    } catch {
      // the next event, or the next load, brings it
    }
  }

  apply(state: ThreadState): void {
    if (this.closed) return
    for (const card of state.approvals) keep(card)
    this.state = state
    threads.keep(state)
    this.change((now) => ({ ...now, running: state.busy, queue: state.queue, health: state.health ?? now.health }))
  }

  /** Whoever asks while a page is on its way waits for that one. */
  loadEarlier(limit = PAGE * 2): Promise<void> {
    this.earlierPage ??= this.fetchEarlier(limit).finally(() => (this.earlierPage = null))
    return this.earlierPage
  }

  private async fetchEarlier(limit: number): Promise<void> {
    const before = this.draft?.before
    if (!before) return
    this.loadingEarlier = true
    try {
      const page = await api.messages(this.thread, { before, limit })
      this.change((now) => earlier(now, page))
    } catch {
      // said by the connection's own sign; scrolling there again asks again
    } finally {
      this.loadingEarlier = false
    }
  }

  /** Everything from this event of a session on, however far back it lies. */
  async loadBackTo(session: string, no: number): Promise<void> {
    for (;;) {
      const first = this.draft?.items[0]
      const before = this.draft?.before
      if (!before || !first || first.session !== session || first.no <= no || this.closed) break
      await this.loadEarlier(SEEK_PAGE)
      if (this.draft?.before === before) break
    }
    this.view = this.draft
  }

  private change(next: (now: Conversation) => Conversation): void {
    if (!this.draft) return
    this.draft = next(this.draft)
    if (!this.frame) this.frame = requestAnimationFrame(this.draw)
    // A page in the background gets no frames; it is drawn when it is looked at, and the title is kept by the inbox.
  }

  private readonly draw = (): void => {
    this.frame = 0
    this.view = this.draft
  }

  close(): void {
    this.closed = true
    cancelAnimationFrame(this.frame)
    for (const stop of this.stops) stop()
  }
}
