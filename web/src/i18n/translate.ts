// Words of the page. Each area has one file that holds both languages side by side; the compiler refuses a key that
// stands in one of them only, and test/i18n.test.ts holds the parameters equal too.
export type Language = 'en' | 'zh'
export type Params = Record<string, string | number>
export type Words<K extends string = string> = { en: Record<K, string>; zh: Record<K, string> }

export function words<K extends string>(both: { en: Record<K, string>; zh: Record<NoInfer<K>, string> }): Words<K> {
  return both
}

// `{n}` is a parameter; `{n|file|files}` chooses a word by number (Chinese needs none).
const SLOT = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g

export function fill(text: string, params: Params = {}): string {
  return text.replace(SLOT, (slot, name: string, one?: string, other?: string) => {
    const value = params[name]
    if (value === undefined) return slot
    return one === undefined ? String(value) : Number(value) === 1 ? one : (other ?? '')
  })
}

export function slots(text: string): string[] {
  return [...new Set([...text.matchAll(SLOT)].map((match) => match[1]!))].sort()
}
