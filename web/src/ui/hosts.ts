// What the programs call themselves; their agents go by the same names.
const NAMES: Record<string, string> = {
  holdfast: 'Holdfast',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
}

export const hostName = (code: string): string => NAMES[code] ?? code
