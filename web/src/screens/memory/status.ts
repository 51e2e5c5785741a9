import type { ProposalRow } from '$/api/records'
import { translator } from '$/i18n/index.svelte'
import words from './words'

const t = translator(words)
const NAMES = { pending: 'statusPending', applied: 'statusApplied', skipped: 'statusSkipped', undone: 'statusUndone' } as const

export const statusTone = { pending: 'wait', applied: 'good', skipped: 'neutral', undone: 'neutral' } as const
export const statusName = (status: ProposalRow['status']): string => t(NAMES[status])
