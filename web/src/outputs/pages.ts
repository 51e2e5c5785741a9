// Lines of a large output, fetched in blocks as they come into view; the blocks used longest ago are let go.
export const BLOCK = 500

export class Pages {
  private readonly blocks = new Map<number, readonly string[]>()
  private readonly asked = new Set<number>()

  constructor(
    private readonly fetchBlock: (from: number, count: number) => Promise<readonly string[]>,
    private readonly changed: () => void,
    private readonly most = 40,
  ) {}

  line(index: number): string | null {
    return this.blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK] ?? null
  }

  /** Sees to it that these lines come. */
  want(first: number, last: number): void {
    for (let block = Math.floor(first / BLOCK); block <= Math.floor(last / BLOCK); block += 1) {
      const known = this.blocks.get(block)
      if (known) {
        this.blocks.delete(block)
        this.blocks.set(block, known)
      } else if (!this.asked.has(block)) void this.load(block)
    }
  }

  forget(): void {
    this.blocks.clear()
  }

  private async load(block: number): Promise<void> {
    this.asked.add(block)
    try {
      this.blocks.set(block, await this.fetchBlock(block * BLOCK, BLOCK))
      while (this.blocks.size > this.most) this.blocks.delete(this.blocks.keys().next().value!)
    } catch {
      // shown as an empty line; it is asked for again when it comes back into view
    } finally {
      this.asked.delete(block)
      this.changed()
    }
  }
}
