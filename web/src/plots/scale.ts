// Axes of our own: round steps for amounts, sensible steps for time. Pure, so that plots only draw.

export interface Linear {
  (value: number): number
  invert(pixel: number): number
}

export function linear(from: [number, number], to: [number, number]): Linear {
  const span = from[1] - from[0] || 1
  const factor = (to[1] - to[0]) / span
  const scale = ((value: number) => to[0] + (value - from[0]) * factor) as Linear
  scale.invert = (pixel) => from[0] + (pixel - to[0]) / (factor || 1)
  return scale
}

/** Round steps from 0 to at least `max`, about `count` of them. */
export function amountTicks(max: number, count = 4, whole = false): number[] {
  if (!(max > 0)) return [0, 1]
  const rough = max / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const found = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough
  const step = whole ? Math.max(1, Math.ceil(found)) : found
  const ticks: number[] = []
  for (let value = 0; value < max + step * 0.999; value += step) ticks.push(Number(value.toPrecision(12)))
  return ticks
}

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400
const STEPS = [
  1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
  3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY,
]

/** Moments (seconds) between two moments, at most `count`, on round steps of the local clock. */
export function timeTicks(from: number, until: number, count: number): number[] {
  const span = Math.max(1, until - from)
  const step = STEPS.find((n) => span / n <= Math.max(1, count)) ?? span
  const zone = new Date(from * 1000).getTimezoneOffset() * MINUTE
  const ticks: number[] = []
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= until; at += step) ticks.push(at)
  return ticks
}

/** How a moment on an axis is written, by how much time the axis covers. */
export function axisMoment(at: number, span: number, locale: string): string {
  const moment = new Date(at * 1000)
  if (span <= 5 * MINUTE) {
    return moment.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  }
  if (span <= 1.5 * DAY) return moment.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })
  return moment.toLocaleDateString(locale, { month: 'short', day: 'numeric' })
}

export function compact(value: number, locale: string): string {
  return new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}
