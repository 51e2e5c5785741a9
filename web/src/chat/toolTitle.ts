import type { What } from '$/api/live'
import type { IconName } from '$/ui/icons'

const NAMED = ['command', 'path', 'file_path', 'filePath', 'pattern', 'url', 'query', 'prompt', 'description', 'source']

/** A call in one line: what it is about. */
export function toolTitle(input: Record<string, unknown>, what: What): string {
  if (what.kind === 'command' && what.text) return firstLine(what.text)
  if (what.path) return what.path
  for (const name of NAMED) {
    const value = input[name]
    if (typeof value === 'string' && value) return firstLine(value)
  }
  return ''
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]!.slice(0, 200)
}

export function toolIcon(tool: string, what: What): IconName {
  const name = tool.toLowerCase()
  if (what.kind === 'command' || /bash|shell|exec/.test(name)) return 'terminal'
  if (what.kind === 'diff' || /write|edit|patch/.test(name)) return 'edit'
  if (/search|grep|glob|find/.test(name)) return 'search'
  if (/fetch|web|http/.test(name)) return 'globe'
  if (/agent|task|delegate/.test(name)) return 'agent'
  if (/read|list|ls|cat/.test(name)) return 'file'
  return 'tool'
}
