// What went wrong, in the reader's language. Where only the server knows what exactly is wrong with something a person
// wrote (a pattern, a value), its own words follow.
import { ApiError } from '$/api/http'
import { said, told, translator } from '$/i18n/index.svelte'
import words from './problemWords'

const t = translator(words)
type Key = Parameters<typeof t>[0]

const KNOWN: Record<string, Key> = {
  unreachable: 'unreachable',
  not_found: 'notFound',
  busy: 'busy',
  too_slow: 'tooSlow',
  store: 'store',
  internal: 'internal',
  changed_meanwhile: 'changedMeanwhile',
  changed_elsewhere: 'changedMeanwhile',
  overridden: 'overridden',
  bad_cursor: 'badCursor',
  cannot_unseal: 'cannotUnseal',
  sealed: 'sealed',
}
const WITH_DETAIL: Record<string, Key> = {
  invalid_configuration: 'invalid',
  invalid_rule: 'invalidRule',
  bad_rule: 'invalidRule',
  not_written: 'notWritten',
  config: 'config',
  bad_search: 'badSearch',
  bad_target: 'badTarget',
  bad_request: 'badRequest',
  cannot_settle: 'cannotSettle',
  unknown_setting: 'unknownSetting',
  vault: 'vault',
  no_vault: 'vault',
}
const MISSING: Record<string, Key> = { session: 'noSession', thread: 'noThread', event: 'noEvent', proposal: 'noProposal' }

export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return told(error)
  const missing = error.code === 'not_found' && MISSING[String(error.params['what'] ?? '')]
  if (missing) return t(missing)
  const detailed = WITH_DETAIL[error.code]
  if (detailed) return `${t(detailed)} ${said(error)}`.trim()
  const known = KNOWN[error.code]
  return known ? t(known) : said(error) || error.code
}
