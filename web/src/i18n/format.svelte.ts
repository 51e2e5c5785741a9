// Numbers, sizes and times as people of the chosen language write them.
import { language, translator } from './index.svelte'
import { words } from './translate'

const t = translator(
  words({
    en: {
      now: 'just now',
      seconds: '{n} s ago',
      minutes: '{n} min ago',
      hours: '{n} h ago',
      days: '{n} {n|day|days} ago',
      leftHours: '{h} h {m} min',
      leftMinutes: '{m} min {s} s',
      leftSeconds: '{s} s',
    },
    zh: {
      now: '刚刚',
      seconds: '{n} 秒前',
      minutes: '{n} 分钟前',
      hours: '{n} 小时前',
      days: '{n} 天前',
      leftHours: '{h} 小时 {m} 分',
      leftMinutes: '{m} 分 {s} 秒',
      leftSeconds: '{s} 秒',
    },
  }),
)

const locale = () => (language() === 'zh' ? 'zh-CN' : 'en-GB')

export function number(value: number): string {
  return new Intl.NumberFormat(locale()).format(value)
}

/** 12,300 -> 12.3k: for places where the exact figure stands in a tooltip. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value))
  if (value < 999_500) return `${trim(value / 1000)}k`
  return `${trim(value / 1e6)}M`
}

function trim(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10)
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : trim(value)} ${units[unit]}`
}

export function percent(ratio: number): string {
  return `${Math.round(ratio * 100)}%`
}

/** `at` and `now` in seconds, as the server sends them. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round(now - at))
  if (seconds < 10) return t('now')
  if (seconds < 60) return t('seconds', { n: seconds })
  if (seconds < 3600) return t('minutes', { n: Math.floor(seconds / 60) })
  if (seconds < 86_400) return t('hours', { n: Math.floor(seconds / 3600) })
  return t('days', { n: Math.floor(seconds / 86_400) })
}

export function left(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole >= 3600) return t('leftHours', { h: Math.floor(whole / 3600), m: Math.floor((whole % 3600) / 60) })
  if (whole >= 60) return t('leftMinutes', { m: Math.floor(whole / 60), s: whole % 60 })
  return t('leftSeconds', { s: whole })
}

export function clock(at: number): string {
  return new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit' }).format(at * 1000)
}

export function moment(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(at * 1000)
}

export function day(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium' }).format(at * 1000)
}

/** How long something took. */
export function took(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${trim(milliseconds / 1000)} s`
  return left(milliseconds / 1000)
}
