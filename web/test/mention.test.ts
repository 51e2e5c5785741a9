import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mentionAt, putMention } from '../src/chat/mention'

test('a mention begins at the start, after a space or a bracket, not inside an address', () => {
  assert.deepEqual(mentionAt('@src', 4), { start: 0, end: 4, prefix: 'src' })
  assert.deepEqual(mentionAt('read (@a/b.py) now', 13), { start: 6, end: 14, prefix: 'a/b.py' })
  assert.deepEqual(mentionAt('看，@文档', 5), { start: 2, end: 5, prefix: '文档' })
  assert.equal(mentionAt('me@example', 10), null)
  assert.equal(mentionAt('@a b', 4), null)
})

test('the caret may stand in the middle of the word', () => {
  assert.deepEqual(mentionAt('@abcd', 3), { start: 0, end: 5, prefix: 'ab' })
})

test('a file is followed by one space, a folder stays open', () => {
  assert.deepEqual(putMention('see @re now', mentionAt('see @re now', 7)!, 'README.md', false), { text: 'see @README.md now', caret: 15 })
  assert.deepEqual(putMention('@s', mentionAt('@s', 2)!, 'src', true), { text: '@src/', caret: 5 })
})
