// Drawing attention when an approval waits: a sound, and a notification where the browser has them for this page.
import core from '$/i18n/core'
import { translator } from '$/i18n/index.svelte'
import { preferences } from './preferences.svelte'

const t = translator(core)
let audio: AudioContext | null = null

export const canNotify = (): 'yes' | 'blocked' | 'insecure' => {
  if (!window.isSecureContext || !('Notification' in window)) return 'insecure'
  return Notification.permission === 'denied' ? 'blocked' : 'yes'
}

/** Asked for by the person, never by the page on its own. */
export async function wantNotifications(on: boolean): Promise<boolean> {
  const granted = on && canNotify() === 'yes' && (await Notification.requestPermission()) === 'granted'
  preferences.notify = granted
  return granted
}

export function callAttention(tool: string, detail: string, open: () => void): void {
  if (preferences.sound) chime()
  if (!preferences.notify || document.visibilityState === 'visible' || canNotify() !== 'yes') return
  const note = new Notification(t('notifyTitle', { tool }), { body: detail.slice(0, 140), tag: 'holdfast-approval' })
  note.onclick = () => {
    window.focus()
    open()
    note.close()
  }
}

/** Two soft notes; a browser that has not been touched yet stays silent. */
function chime(): void {
  try {
    audio ??= new AudioContext()
    if (audio.state !== 'running') return
    for (const [index, pitch] of [660, 880].entries()) {
      const start = audio.currentTime + index * 0.13
      const tone = audio.createOscillator()
      const volume = audio.createGain()
      tone.frequency.value = pitch
      volume.gain.setValueAtTime(0, start)
      volume.gain.linearRampToValueAtTime(0.06, start + 0.02)
      volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.28)
      tone.connect(volume).connect(audio.destination)
      tone.start(start)
      tone.stop(start + 0.3)
    }
  } catch {
    // no sound in this browser
  }
}

/** Browsers let a page sound only after it was touched once. */
export function unlockSound(): void {
  addEventListener(
    'pointerdown',
    () => {
      try {
        audio ??= new AudioContext()
        void audio.resume()
      } catch {
        audio = null
      }
    },
    { once: true },
  )
}
