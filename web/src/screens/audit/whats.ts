// What an entry is about where it is no tool call.
import { translator } from '$/i18n/index.svelte'
import words from './words'

const t = translator(words)

const WHATS = {
  mode_changed: 'whatMode',
  undo: 'whatUndo',
  deleted: 'whatDeleted',
  session_deleted: 'whatDeleted',
  session_seal_asked: 'whatSealed',
  session_unsealed: 'whatUnsealed',
  settings_change_blocked: 'whatSettingsBlocked',
  rule_not_written: 'whatRuleNotWritten',
  panic: 'whatPanic',
  panic_ended: 'whatPanicOff',
  paused: 'whatPause',
  pause_ended: 'whatResume',
  'page.enter': 'whatEnter',
  'page.leave': 'whatLeave',
  'page.pair': 'whatPair',
  'page.revoke': 'whatRevoke',
  'page.upload': 'whatUpload',
} as const

export function whatName(code: string): string {
  const key = WHATS[code as keyof typeof WHATS]
  return key ? t(key) : code
}
