// The list of conversations of every host, kept current by the stream.
import { SvelteMap } from 'svelte/reactivity'
import { live, onGap, threads as api, type ThreadRow } from '$/api/live'

const rows = new SvelteMap<string, ThreadRow>()
let loaded = $state(false)
let problem = $state('')

export const threads = {
  get loaded(): boolean {
    return loaded
  },
  get problem(): string {
    return problem
  },
  /** Newest first. */
  list(): ThreadRow[] {
    return [...rows.values()].sort((a, b) => b.lastAt - a.lastAt)
  },
  row(thread: string): ThreadRow | undefined {
    return rows.get(thread)
  },
  keep(row: ThreadRow): void {
    rows.set(row.thread, row)
  },
  async load(): Promise<void> {
    try {
      const found = await api.list({ limit: 200 })
      const known = new Set(found.threads.map((row) => row.thread))
      for (const thread of rows.keys()) if (!known.has(thread)) rows.delete(thread)
      for (const row of found.threads) rows.set(row.thread, row)
      loaded = true
      problem = ''
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
    }
  },
}

live.on('thread', (row) => rows.set(row.thread, row))
onGap(() => void threads.load())
