// Where each row of a very long list stands. Rows that were never seen count with an estimate; a Fenwick tree keeps
// both questions (where is row i, which row is at y) at O(log n), for two million rows as for ten.
export class Heights {
  private readonly tree: Float64Array
  private readonly own: Float64Array
  private readonly top: number
  readonly count: number

  constructor(count: number, estimate: (index: number) => number) {
    this.count = count
    this.own = new Float64Array(count)
    this.tree = new Float64Array(count + 1)
    for (let index = 0; index < count; index += 1) {
      const height = estimate(index)
      this.own[index] = height
      this.tree[index + 1]! += height
      const parent = index + 1 + ((index + 1) & -(index + 1))
      if (parent <= count) this.tree[parent]! += this.tree[index + 1]!
    }
    this.top = 2 ** Math.floor(Math.log2(Math.max(1, count)))
  }

  get total(): number {
    return this.offset(this.count)
  }

  height(index: number): number {
    return this.own[index] ?? 0
  }

  /** The top of a row: the heights of all before it. */
  offset(index: number): number {
    let sum = 0
    for (let at = Math.min(index, this.count); at > 0; at -= at & -at) sum += this.tree[at]!
    return sum
  }

  /** The row at `y`; the last one for anything below. */
  at(y: number): number {
    let index = 0
    let rest = y
    for (let step = this.top; step > 0; step >>= 1) {
      const next = index + step
      if (next <= this.count && this.tree[next]! <= rest) {
        index = next
        rest -= this.tree[next]!
      }
    }
    return Math.max(0, Math.min(index, this.count - 1))
  }

  /** By how much the row grew. */
  set(index: number, height: number): number {
    const grown = height - (this.own[index] ?? 0)
    if (!grown || index >= this.count) return 0
    this.own[index] = height
    for (let at = index + 1; at <= this.count; at += at & -at) this.tree[at]! += grown
    return grown
  }
}
