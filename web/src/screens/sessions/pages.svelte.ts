// The pages of a transcript that are loaded so far: one stretch without holes, which grows at both ends.
import { chains, type ChatEntry, type RawEntry, type TranscriptPage } from '$/api/records'
import { explain } from '../records/explain'

export type Entry = ChatEntry | RawEntry
const SIZE = 120

export class Pages {
  entries = $state.raw<Entry[]>()
  total = $state(0)
  problem = $state('')
  /** Rises when another stretch is shown, so that nothing measured of the last one is taken for this one. */
  stretch = $state(0)
  private before: string | null = null
  private after: string | null = null
  private going = false
  private round = 0

  constructor(
    private readonly session: string,
    private readonly view: 'chat' | 'raw',
  ) {}

  /** Begin anew at a place: an event, or one of the ends. */
  async open(place: { event?: number; from?: 'start' | 'end' }): Promise<boolean> {
    const round = ++this.round
    this.going = true
    try {
      const page = await this.page({ ...place, limit: SIZE })
      if (round !== this.round) return false
      this.entries = page.entries
      this.stretch += 1
      this.total = page.total
      this.before = page.before
      this.after = page.after
      this.problem = ''
      return true
    } catch (error) {
      if (round === this.round) this.problem = explain(error)
      return false
    } finally {
      if (round === this.round) this.going = false
    }
  }

  readonly earlier = (): void => void this.grow('before')
  readonly on = (): void => void this.grow('after')

  private async grow(side: 'before' | 'after'): Promise<void> {
    const cursor = this[side]
    if (cursor === null || this.going || this.problem) return
    const round = this.round
    this.going = true
    try {
      const page = await this.page({ cursor, limit: SIZE })
      if (round !== this.round) return
      this[side] = page[side]
      this.total = page.total
      const known = this.entries ?? []
      this.entries = side === 'before' ? [...page.entries, ...known] : [...known, ...page.entries]
    } catch (error) {
      if (round === this.round) this.problem = explain(error)
    } finally {
      if (round === this.round) this.going = false
    }
  }

  /** Something was added to the session: take it in when the end is what is shown. */
  async fresh(): Promise<void> {
    if (this.after !== null || this.going || !this.entries) return
    const round = this.round
    const last = this.entries.at(-1)?.eventNo ?? 0
    const page = await this.page({ from: 'end', limit: SIZE }).catch(() => null)
    if (!page || round !== this.round) return
    const news = page.entries.filter((entry) => entry.eventNo > last)
    if (news.length === page.entries.length && page.before !== null && last > 0) {
      void this.open({ event: last })
      return
    }
    this.total = page.total
    if (news.length) this.entries = [...(this.entries ?? []), ...news]
  }

  private page(place: Parameters<typeof chains.events>[1]): Promise<TranscriptPage<Entry>> {
    return chains.events(this.session, { view: this.view, ...place }) as Promise<TranscriptPage<Entry>>
  }
}
