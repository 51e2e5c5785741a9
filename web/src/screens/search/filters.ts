// The filters of a search, as they stand in the address and as the server is asked.
import type { SearchFilters } from '$/api/records'

export const FIELDS = ['kind', 'tool', 'file', 'agent', 'host', 'vault', 'session'] as const
export type Field = (typeof FIELDS)[number]
export type Span = '' | '1' | '7' | '30' | 'days'

export interface Filters extends Record<Field, string> {
  span: Span
  from: string
  to: string
}

export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: string): string => query.get(name) ?? ''
  const span = text('span')
  return {
    kind: text('kind'),
    tool: text('tool'),
    file: text('file'),
    agent: text('agent'),
    host: text('host'),
    vault: text('vault'),
    session: text('session'),
    span: (['1', '7', '30', 'days'].includes(span) ? span : '') as Span,
    from: text('from'),
    to: text('to'),
  }
}

export function addressOf(q: string, filters: Filters): Record<string, string> {
  const parts: Record<string, string> = {}
  if (q) parts['q'] = q
  for (const field of FIELDS) if (filters[field]) parts[field] = filters[field]
  if (filters.span) parts['span'] = filters.span
  if (filters.span === 'days') {
    if (filters.from) parts['from'] = filters.from
    if (filters.to) parts['to'] = filters.to
  }
  return parts
}

export function askedFor(filters: Filters, now: number): SearchFilters {
  const list = (value: string): string[] | undefined => (value.trim() ? [value.trim()] : undefined)
  return {
    kind: list(filters.kind),
    tool: list(filters.tool),
    file: list(filters.file),
    agent: list(filters.agent),
    host: list(filters.host),
    session: list(filters.session),
    vault: filters.vault || undefined,
    ...times(filters, now),
  }
}

function times(filters: Filters, now: number): { since?: number; until?: number } {
  if (filters.span === 'days') {
    const since = dayStart(filters.from, 0)
    const until = dayStart(filters.to, 1)
    return since !== undefined && until !== undefined && since >= until ? { since } : { since, until }
  }
  return filters.span ? { since: now - Number(filters.span) * 86_400 } : {}
}

/** Midnight of a day (2026-11-15) on this clock, some days later. */
function dayStart(day: string, later: number): number | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (!found) return undefined
  return new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + later).getTime() / 1000
}
