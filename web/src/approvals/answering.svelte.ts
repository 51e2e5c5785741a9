// Sending an answer. The server decides who was first; what it says is what the card shows.
import { SvelteSet } from 'svelte/reactivity'
import { ApiError } from '$/api/http'
import { approvals, type Answer, type ApprovalCard, type ProposedRule } from '$/api/live'
import { said, translator } from '$/i18n/index.svelte'
import { keep } from '$/state/app.svelte'
import { toast } from '$/ui/toasts.svelte'
import words from './words'

const t = translator(words)
const sending = new SvelteSet<string>()

export const isSending = (id: string): boolean => sending.has(id)

/** Empty when it was taken; else what is wrong with the rule that was sent. */
export async function answer(card: ApprovalCard, given: Answer, more: { message?: string; rules?: ProposedRule[] } = {}): Promise<string> {
  if (sending.has(card.id)) return ''
  sending.add(card.id)
  try {
    const { approval, problem } = await approvals.answer(card.id, given, more)
    keep({ ...approval, answeredHere: true })
    if (problem) toast(said(problem), 'bad')
    return ''
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const decided = error.body['approval'] as ApprovalCard | undefined
    if (error.code === 'already_decided' && decided) {
      keep(decided)
      toast(t('already'))
      return ''
    }
    if (error.code === 'bad_rule') return said(error)
    toast(said(error), 'bad')
    return said(error)
  } finally {
    sending.delete(card.id)
  }
}
