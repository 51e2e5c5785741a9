// Words for the states of a session.
import { translator } from '$/i18n/index.svelte'
import { ago, left, percent, short } from '$/i18n/format.svelte'
import type { ChainSession, Fill } from '$/api/records'
import words from './words'

const t = translator(words)
type Key = Parameters<typeof t>[0]

const STATES: Record<ChainSession['state'], Key> = {
  active: 'stateActive',
  sealing: 'stateSealing',
  sealed: 'stateSealed',
}
const REASONS: Record<string, Key> = {
  threshold: 'reasonThreshold',
  budget: 'reasonBudget',
  compressions: 'reasonCompressions',
  manual: 'reasonManual',
  handoff: 'reasonHandoff',
  reaped: 'reasonReaped',
  imported: 'reasonImported',
}

export const stateName = (state: ChainSession['state']): string => t(STATES[state])
export const stateTone = { active: 'good', sealing: 'wait', sealed: 'neutral' } as const

export function reasonName(reason: string): string {
  const key = REASONS[reason]
  return key ? t(key) : reason || t('reasonUnknown')
}

export const lasted = (seconds: number): string => left(seconds)

export function fillShort(fill: Fill | null): string {
  if (!fill) return t('fillUnknown')
  const sign = fill.exact ? '' : '~'
  return fill.ratio === null ? `${sign}${short(fill.used)}` : `${sign}${percent(fill.ratio)}`
}

export function fillLong(fill: Fill | null, now: number): string {
  if (!fill) return t('fillUnknown')
  const used = `${fill.exact ? '' : '~'}${short(fill.used)}`
  const said = fill.window === null ? t('fillAlone', { used }) : t('fillOf', { used, window: short(fill.window) })
  return fill.stale ? `${said} · ${t('stale', { age: ago(fill.measuredAt, now) })}` : said
}

export function strategyName(marks: ChainSession['marks']): string {
  if (marks.strategy === 'hybrid') return t('strategyHybrid', { n: marks.maxCompressions })
  return t(marks.strategy === 'handoff' ? 'strategyHandoff' : 'strategyCompress')
}
