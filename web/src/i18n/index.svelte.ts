import { ApiError } from '$/api/http'
import { fill, type Language, type Params, type Words } from './translate'

const KEY = 'holdfast.language'

function chosen(): Language {
  return document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'
}

const state = $state({ language: chosen() })

export function language(): Language {
  return state.language
}

export function setLanguage(next: Language): void {
  state.language = next
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en'
  try {
    localStorage.setItem(KEY, next)
  } catch {
    // a browser that keeps nothing still shows the language until it is closed
  }
}

/** `const t = translator(words)`; `t('key', {n: 3})` follows the language in templates and effects. */
export function translator<K extends string>(area: Words<K>): (key: K, params?: Params) => string {
  return (key, params) => fill(area[state.language][key], params)
}

/** A message of the server: `{code, params, en, zh}`. */
export function said(message: { en?: string; zh?: string } | string | null | undefined): string {
  if (!message) return ''
  if (typeof message === 'string') return message
  return (state.language === 'zh' ? message.zh : message.en) || message.en || message.zh || ''
}

/** What went wrong: the server's own sentence, else whatever a browser says. */
export function told(error: unknown): string {
  if (error instanceof ApiError) return said(error)
  return error instanceof Error ? error.message : String(error)
}

export type { Language, Params, Words }
