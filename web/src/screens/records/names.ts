// What codes of the record are called on the page.
import { language, translator } from '$/i18n/index.svelte'
import words from './words'

const t = translator(words)
type Key = Parameters<typeof t>[0]

const DECISIONS: Record<string, Key> = { allow: 'allow', ask: 'ask', deny: 'deny' }
const DECIDED: Record<string, Key> = { allow: 'allowed', ask: 'asked', deny: 'denied' }
const DOMAINS: Record<string, Key> = {
  read: 'domainRead',
  edit: 'domainEdit',
  bash: 'domainBash',
  web_fetch: 'domainWebFetch',
  web_search: 'domainWebSearch',
  mcp: 'domainMcp',
  none: 'domainNone',
  unknown: 'domainUnknown',
}
const KINDS: Record<string, Key> = {
  session_started: 'kindSessionStarted',
  prompt_submitted: 'kindPromptSubmitted',
  assistant_replied: 'kindAssistantReplied',
  tool_calling: 'kindToolCalling',
  tool_called: 'kindToolCalled',
  history_sending: 'kindHistorySending',
  compacting: 'kindCompacting',
  compacted: 'kindCompacted',
  context_measured: 'kindContextMeasured',
  approval_answered: 'kindApprovalAnswered',
  mode_changed: 'kindModeChanged',
  session_ended: 'kindSessionEnded',
  noticed: 'kindNoticed',
}
const POLICIES: Record<string, Key> = {
  permission: 'policyPermission',
  hard_limits: 'policyHardLimits',
  recovery_gate: 'policyRecovery',
  context_gate: 'policyContext',
  writer_guard: 'policyWriter',
  doom_loop: 'policyDoomLoop',
  session_strategy: 'policyStrategy',
  standing_orders: 'policyOrders',
  user_hooks: 'policyHooks',
  modes: 'policyModes',
  memory_proposals: 'policyMemory',
}
const named = (names: Record<string, Key>, code: string): string => {
  const key = names[code]
  return key ? t(key) : code
}

export const decisionName = (code: string): string => named(DECISIONS, code)
export const decidedName = (code: string): string => named(DECIDED, code)
export const domainName = (code: string): string => named(DOMAINS, code)
export const kindName = (code: string): string => named(KINDS, code)
export const policyName = (code: string): string => named(POLICIES, code)
export { hostName } from '$/ui/hosts'

export const tones = { allow: 'good', ask: 'wait', deny: 'bad' } as const
export function toneOf(decision: string): 'good' | 'wait' | 'bad' | 'neutral' {
  return tones[decision as keyof typeof tones] ?? 'neutral'
}

export const locale = (): string => (language() === 'zh' ? 'zh-CN' : 'en-GB')

/** A path's last two parts: enough to recognise a project. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter(Boolean)
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : path
}
