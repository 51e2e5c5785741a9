export type Tone = 'info' | 'good' | 'bad'
export type Toast = { id: number; text: string; tone: Tone; action?: { label: string; run: () => void } }

const shown = $state<Toast[]>([])
let last = 0

export function toasts(): Toast[] {
  return shown
}

/** A word in passing. An error stays until it is dismissed; everything else goes by itself. */
export function toast(text: string, tone: Tone = 'info', action?: Toast['action']): void {
  const id = ++last
  shown.push({ id, text, tone, action })
  if (shown.length > 3) shown.shift()
  if (tone !== 'bad') setTimeout(() => dismiss(id), action ? 10_000 : 5_000)
}

export function dismiss(id: number): void {
  const at = shown.findIndex((one) => one.id === id)
  if (at >= 0) shown.splice(at, 1)
}
