// `@path` in a message: where the word under the caret begins, and how a chosen file is put in its place.
export type Mention = { start: number; end: number; prefix: string }

export function mentionAt(text: string, caret: number): Mention | null {
  const before = /(?:^|[\s([{"'，。；：（])@([^\s@"'`，。；：]*)$/.exec(text.slice(0, caret))
  if (!before) return null
  const prefix = before[1]!
  const rest = /^[^\s@"'`，。；：]*/.exec(text.slice(caret))![0]
  return { start: caret - prefix.length - 1, end: caret + rest.length, prefix }
}

/** The text with the file in it, and where the caret goes; a folder stays open for its next part. */
export function putMention(text: string, mention: Mention, path: string, folder: boolean): { text: string; caret: number } {
  const word = `@${path}${folder ? '/' : ' '}`
  const after = text.slice(mention.end)
  const gap = !folder && after.startsWith(' ') ? after.slice(1) : after
  return { text: text.slice(0, mention.start) + word + gap, caret: mention.start + word.length }
}
