import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountTicks, linear, timeTicks } from '../src/plots/scale'
import { addressOf as auditAddress, chosenOf, countOf, toggled } from '../src/screens/audit/filters'
import { addressOf, askedFor, filtersOf } from '../src/screens/search/filters'

test('an axis of amounts begins at nothing, is even, and reaches beyond the largest', () => {
  for (const most of [1, 3, 7, 99, 1000, 158_000, 1e9]) {
    const ticks = amountTicks(most)
    assert.equal(ticks[0], 0)
    assert.ok(ticks.at(-1)! >= most, `${most}: ${ticks}`)
    assert.ok(ticks.length <= 7, `${most}: ${ticks}`)
    const step = ticks[1]! - ticks[0]!
    for (let i = 1; i < ticks.length; i++) assert.ok(Math.abs(ticks[i]! - ticks[i - 1]! - step) < step / 1e6)
  }
  assert.deepEqual(amountTicks(1, 3, true), [0, 1])
  assert.deepEqual(amountTicks(0), [0, 1])
})

test('an axis of time has few ticks, all inside', () => {
  for (const span of [1, 50, 3600, 86_400, 90 * 86_400, 3 * 365 * 86_400]) {
    const from = 1_790_000_123
    const ticks = timeTicks(from, from + span, 6)
    assert.ok(ticks.length <= 7, `${span}: ${ticks.length}`)
    assert.ok(ticks.every((at) => at >= from && at <= from + span))
  }
})

test('a scale goes both ways, also over nothing', () => {
  const scale = linear([10, 20], [0, 100])
  assert.equal(scale(15), 50)
  assert.equal(scale.invert(50), 15)
  assert.ok(Number.isFinite(linear([5, 5], [0, 100])(5)))
})

test('what is searched for stands in the address and comes back from it', () => {
  const filters = filtersOf(new URLSearchParams('kind=compacted&vault=/a b&span=days&from=2026-06-01&to=2026-06-02'))
  const back = filtersOf(new URLSearchParams(addressOf('two words', filters)))
  assert.deepEqual(back, filters)
  const asked = askedFor(filters, 0)
  assert.deepEqual(asked.kind, ['compacted'])
  assert.equal(asked.until! - asked.since!, 2 * 86_400)
  assert.equal(askedFor(filtersOf(new URLSearchParams('span=7')), 1e9).since, 1e9 - 7 * 86_400)
  assert.equal(filtersOf(new URLSearchParams('span=nonsense')).span, '')
})

test('filters of the audit stand in the address and come back from it', () => {
  const chosen = toggled(toggled(chosenOf(new URLSearchParams('since=100&until=200')), 'decision', 'deny'), 'tool', 'bash')
  assert.deepEqual(chosenOf(new URLSearchParams(auditAddress(chosen))), chosen)
  assert.equal(countOf(chosen), 3)
  assert.deepEqual(toggled(chosen, 'tool', 'bash').facets.tool, [])
})
