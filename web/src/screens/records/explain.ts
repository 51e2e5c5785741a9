// What went wrong, in the reader's language where the code is known; else in the server's own words.
import { ApiError } from '$/api/http'
import { translator } from '$/i18n/index.svelte'
import words from './problemWords'

const t = translator(words)
type Key = Parameters<typeof t>[0]

const KNOWN: Record<string, Key> = {
  unreachable: 'unreachable',
  not_found: 'notFound',
  no_session: 'noSession',
  no_thread: 'noThread',
  too_many_requests: 'busy',
  busy: 'busy',
  timed_out: 'timedOut',
}

export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const key = KNOWN[error.code]
  return key ? t(key, error.params) : error.message || error.code
}
