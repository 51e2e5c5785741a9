// A unified diff as rows for the eye. Two shapes are read: what `diff -u` and git write, and the "*** Begin Patch" form.
export type DiffRow = { kind: 'same' | 'add' | 'remove' | 'gap'; text: string; before: number | null; after: number | null }
export type DiffFile = { name: string; rows: DiffRow[]; added: number; removed: number }
export type Pair = { left: DiffRow | null; right: DiffRow | null; gap?: string }
export type Span = { text: string; changed: boolean }

const HUNK = /^@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@+ ?(.*)$/
const PATCH_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.*)$/

export function parseDiff(text: string): DiffFile[] {
  const files: DiffFile[] = []
  let file: DiffFile | null = null
  let before = 1
  let after = 1
  const open = (name: string) => {
    file = { name, rows: [], added: 0, removed: 0 }
    files.push(file)
    before = after = 1
  }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    const patched = PATCH_FILE.exec(line)
    if (patched) {
      open(patched[1]!)
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      const names = [line, lines[at + 1]!].map((one) => one.slice(4).split('\t')[0]!.replace(/^[ab]\//, ''))
      open(names[1] === '/dev/null' ? names[0]! : names[1]!)
      at += 1
    } else if (/^(?:diff --git|index |new file mode|deleted file mode|similarity|rename |\*\*\* (?:Begin|End) Patch|\\ No newline)/.test(line)) {
      continue
    } else {
      const hunk = HUNK.exec(line)
      if (hunk || line.startsWith('@@')) {
        if (!file) open('')
        if (hunk) {
          before = Number(hunk[1])
          after = Number(hunk[2])
        }
        if (file!.rows.length || hunk?.[3]) file!.rows.push({ kind: 'gap', text: hunk?.[3] ?? line.replace(/^@@ ?/, ''), before: null, after: null })
        continue
      }
      if (!file) open('')
      const sign = line[0]
      const rest = line.slice(1)
      if (sign === '+') {
        file!.rows.push({ kind: 'add', text: rest, before: null, after: after++ })
        file!.added += 1
      } else if (sign === '-') {
        file!.rows.push({ kind: 'remove', text: rest, before: before++, after: null })
        file!.removed += 1
      } else {
        file!.rows.push({ kind: 'same', text: sign === ' ' ? rest : line, before: before++, after: after++ })
      }
    }
  }
  return files
}

/** Removed and added lines of one place beside each other. */
export function sideBySide(rows: readonly DiffRow[]): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < rows.length; ) {
    const row = rows[at]!
    if (row.kind === 'gap') {
      pairs.push({ left: null, right: null, gap: row.text })
      at += 1
    } else if (row.kind === 'same') {
      pairs.push({ left: row, right: row })
      at += 1
    } else {
      const removed: DiffRow[] = []
      const added: DiffRow[] = []
      while (rows[at]?.kind === 'remove') removed.push(rows[at++]!)
      while (rows[at]?.kind === 'add') added.push(rows[at++]!)
      for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
        pairs.push({ left: removed[index] ?? null, right: added[index] ?? null })
      }
    }
  }
  return pairs
}

/** The middle in which two lines differ; nothing is marked when they have little in common. */
export function changedSpans(before: string, after: string): [Span[], Span[]] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  if (head + tail < Math.max(before.length, after.length) * 0.3) return [[{ text: before, changed: false }], [{ text: after, changed: false }]]
  const cut = (text: string): Span[] =>
    [
      { text: text.slice(0, head), changed: false },
      { text: text.slice(head, text.length - tail), changed: true },
      { text: text.slice(text.length - tail), changed: false },
    ].filter((span) => span.text)
  return [cut(before), cut(after)]
}
