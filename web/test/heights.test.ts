import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Heights } from '../src/ui/heights'

function random(seed: number): () => number {
  return () => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff)
}

test('offsets and rows agree with adding up, whatever is set in whatever order', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const next = random(seed)
    const count = Math.floor(next() * 60)
    const plain = Array.from({ length: count }, () => 1 + Math.floor(next() * 50))
    const heights = new Heights(count, (index) => plain[index]!)
    for (let round = 0; round < 40 && count; round += 1) {
      const index = Math.floor(next() * count)
      const height = 1 + Math.floor(next() * 90)
      assert.equal(heights.set(index, height), height - plain[index]!)
      plain[index] = height
    }
    let sum = 0
    for (let index = 0; index < count; index += 1) {
      assert.equal(heights.offset(index), sum)
      assert.equal(heights.at(sum), index)
      assert.equal(heights.at(sum + plain[index]! - 0.5), index)
      sum += plain[index]!
    }
    assert.equal(heights.total, sum)
    assert.equal(heights.at(sum + 1000), Math.max(0, count - 1))
  }
})

test('two million rows', () => {
  const heights = new Heights(2_000_000, () => 20)
  assert.equal(heights.total, 40_000_000)
  assert.equal(heights.at(20 * 1_234_567 + 3), 1_234_567)
})
