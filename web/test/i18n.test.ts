import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fill, slots, type Words } from '../src/i18n/translate'

// Every file that holds words is found, not listed: a new one is tested by being there.
const files = import.meta.glob<{ default: Words }>(['../src/**/*words.ts', '../src/**/*Words.ts', '../src/i18n/core.ts'], { eager: true })

test('there are words', () => {
  assert.ok(Object.keys(files).length >= 5)
})

for (const [name, { default: words }] of Object.entries(files)) {
  test(`${name}: both languages have the same keys and parameters, and no sentence is missing`, () => {
    assert.deepEqual(Object.keys(words.en).sort(), Object.keys(words.zh).sort())
    for (const key of Object.keys(words.en)) {
      assert.ok(words.en[key]!.trim() && words.zh[key]!.trim(), key)
      assert.deepEqual(slots(words.zh[key]!), slots(words.en[key]!), key)
    }
  })
  test(`${name}: Chinese is Chinese`, () => {
    const left = Object.entries(words.zh).filter(([key, text]) => text === words.en[key] && /[a-z]{4,} [a-z]{2,}/i.test(text))
    assert.deepEqual(left, [])
  })
}

test('parameters and plurals are filled in; an unknown slot stays', () => {
  assert.equal(fill('{n} {n|file|files} in {place}', { n: 1, place: 'x' }), '1 file in x')
  assert.equal(fill('{n} {n|file|files}', { n: 2 }), '2 files')
  assert.equal(fill('{who}', {}), '{who}')
  assert.equal(fill('{a}', { a: '{b}', b: 'no' }), '{b}')
})
