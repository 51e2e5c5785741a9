import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedSpans, parseDiff, sideBySide } from '../src/ui/diff'

const unified = ['--- a/app.py', '+++ b/app.py', '@@ -3,3 +3,4 @@ def main():', ' one', '-two', '+TWO', '+three', ' four', ''].join('\n')

test('a unified diff has numbered rows and counts', () => {
  const [file] = parseDiff(unified)
  assert.equal(file!.name, 'app.py')
  assert.deepEqual([file!.added, file!.removed], [2, 1])
  assert.deepEqual(
    file!.rows.map((row) => [row.kind, row.before, row.after, row.text]),
    [['gap', null, null, 'def main():'], ['same', 3, 3, 'one'], ['remove', 4, null, 'two'], ['add', null, 4, 'TWO'], ['add', null, 5, 'three'], ['same', 5, 6, 'four']],
  )
})

test('side by side pairs what was removed with what was added', () => {
  const pairs = sideBySide(parseDiff(unified)[0]!.rows)
  assert.deepEqual(pairs.map((pair) => [pair.left?.text, pair.right?.text]), [[undefined, undefined], ['one', 'one'], ['two', 'TWO'], [undefined, 'three'], ['four', 'four']])
})

test('several files, new and deleted ones, and the patch form', () => {
  const git = ['diff --git a/x b/x', 'deleted file mode 100644', '--- a/x', '+++ /dev/null', '@@ -1 +0,0 @@', '-gone', '--- /dev/null', '+++ b/new.txt', '@@ -0,0 +1 @@', '+here'].join('\n')
  assert.deepEqual(parseDiff(git).map((file) => [file.name, file.added, file.removed]), [['x', 0, 1], ['new.txt', 1, 0]])
  const patch = ['*** Begin Patch', '*** Update File: a.py', '@@ def f', '-old', '+new', '*** Add File: b.py', '+x', '*** End Patch'].join('\n')
  assert.deepEqual(parseDiff(patch).map((file) => [file.name, file.added, file.removed]), [['a.py', 1, 1], ['b.py', 1, 0]])
})

test('lines that begin with dashes inside a hunk stay content', () => {
  const tricky = ['--- a', '+++ b', '@@ -1,2 +1,1 @@', '--- not a header', '+plus'].join('\n')
  assert.deepEqual(parseDiff(tricky)[0]!.rows.map((row) => row.text), ['-- not a header', 'plus'])
})

test('nothing, and a text that is no diff, break nothing', () => {
  assert.deepEqual(parseDiff(''), [])
  assert.deepEqual(parseDiff('hello\nworld')[0]!.rows.map((row) => row.kind), ['same', 'same'])
})

test('the changed middle is marked unless the lines have little in common', () => {
  assert.deepEqual(changedSpans('const a = 1', 'const a = 2')[1], [{ text: 'const a = ', changed: false }, { text: '2', changed: true }])
  assert.deepEqual(changedSpans('abc', 'xyz')[0], [{ text: 'abc', changed: false }])
})
