// Something the server is asked for, with the three faces it can have: not here yet, failed, here.
import { explain } from './explain'

export class Load<T> {
  data = $state.raw<T>()
  problem = $state('')
  busy = $state(false)
  private round = 0

  constructor(private readonly ask: () => Promise<T>) {}

  /** Ask (again); what an earlier question answers late is dropped. */
  async run(): Promise<void> {
    const round = ++this.round
    this.busy = true
    try {
      const data = await this.ask()
      if (round !== this.round) return
      this.data = data
      this.problem = ''
    } catch (error) {
      if (round === this.round) this.problem = explain(error)
    } finally {
      if (round === this.round) this.busy = false
    }
  }

  readonly again = (): void => void this.run()

  /** Forget it: the next thing to be shown is another one. */
  reset(): void {
    this.round += 1
    this.data = undefined
    this.problem = ''
    this.busy = false
  }
}
