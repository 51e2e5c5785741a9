// The filters of the audit, as they stand in the address and as the server is asked.
import type { AuditFilters, FacetName } from '$/api/records'

export const FACETS: FacetName[] = ['decision', 'domain', 'tool', 'agent', 'host', 'policy']
export const SPANS = ['1h', '1d', '7d', '30d'] as const
export type Span = (typeof SPANS)[number] | 'own' | ''
const SECONDS = { '1h': 3600, '1d': 86_400, '7d': 604_800, '30d': 2_592_000 }
const BETWEEN = '|'

export interface Chosen {
  q: string
  facets: Record<FacetName, string[]>
  session: string
  span: Span
  since: number | null
  until: number | null
}

export function chosenOf(query: URLSearchParams): Chosen {
  const number = (name: string): number | null => {
    const value = Number(query.get(name) ?? NaN)
    return Number.isFinite(value) ? value : null
  }
  const facets = Object.fromEntries(
    FACETS.map((name) => [name, (query.get(name) ?? '').split(BETWEEN).filter(Boolean)]),
  ) as Chosen['facets']
  const [since, until] = [number('since'), number('until')]
  const span = query.get('span') ?? ''
  return {
    q: query.get('q') ?? '',
    facets,
    session: query.get('session') ?? '',
    span: since !== null || until !== null ? 'own' : SPANS.includes(span as '1h') ? (span as Span) : '',
    since,
    until,
  }
}

export function addressOf(chosen: Chosen): Record<string, string> {
  const parts: Record<string, string> = {}
  if (chosen.q) parts['q'] = chosen.q
  for (const name of FACETS) if (chosen.facets[name].length) parts[name] = chosen.facets[name].join(BETWEEN)
  if (chosen.session) parts['session'] = chosen.session
  if (chosen.span === 'own') {
    if (chosen.since !== null) parts['since'] = String(chosen.since)
    if (chosen.until !== null) parts['until'] = String(chosen.until)
  } else if (chosen.span) parts['span'] = chosen.span
  return parts
}

export function askedFor(chosen: Chosen, now: number): AuditFilters {
  const asked: AuditFilters = { q: chosen.q || undefined, session: chosen.session || undefined }
  for (const name of FACETS) if (chosen.facets[name].length) asked[name] = chosen.facets[name]
  if (chosen.span === 'own') {
    asked.since = chosen.since ?? undefined
    asked.until = chosen.until ?? undefined
  } else if (chosen.span) asked.since = Math.floor(now - SECONDS[chosen.span])
  return asked
}

export function toggled(chosen: Chosen, name: FacetName, value: string): Chosen {
  const now = chosen.facets[name]
  const next = now.includes(value) ? now.filter((one) => one !== value) : [...now, value]
  return { ...chosen, facets: { ...chosen.facets, [name]: next } }
}

export const NOTHING: Chosen = chosenOf(new URLSearchParams())

export function countOf(chosen: Chosen): number {
  return FACETS.reduce((sum, name) => sum + chosen.facets[name].length, 0) + Number(!!chosen.session) + Number(!!chosen.span)
}
