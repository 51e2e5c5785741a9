import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BLOCK, Pages } from '../src/outputs/pages'

const settle = () => new Promise((resolve) => setTimeout(resolve, 0))

test('blocks are fetched once, kept, and the oldest are let go', async () => {
  const asked: number[] = []
  const pages = new Pages(
    (from, count) => {
      asked.push(from)
      return Promise.resolve(Array.from({ length: count }, (_, index) => `line ${from + index}`))
    },
    () => {},
    2,
  )
  pages.want(0, BLOCK)
  pages.want(0, 10)
  assert.equal(pages.line(0), null)
  await settle()
  assert.deepEqual(asked, [0, BLOCK])
  assert.equal(pages.line(BLOCK + 1), `line ${BLOCK + 1}`)
  pages.want(0, 1)
  pages.want(BLOCK * 5, BLOCK * 5)
  await settle()
  assert.equal(pages.line(1), 'line 1')
  assert.equal(pages.line(BLOCK + 1), null)
})

test('a block that failed is asked for again', async () => {
  let fail = true
  const pages = new Pages(() => (fail ? Promise.reject(new Error('no')) : Promise.resolve(['here'])), () => {})
  pages.want(0, 0)
  await settle()
  assert.equal(pages.line(0), null)
  fail = false
  pages.want(0, 0)
  await settle()
  assert.equal(pages.line(0), 'here')
})
