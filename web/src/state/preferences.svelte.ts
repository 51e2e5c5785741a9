export type Theme = 'light' | 'dark' | 'system'

const read = (name: string): string | null => {
  try {
    return localStorage.getItem(`holdfast.${name}`)
  } catch {
    return null
  }
}
const write = (name: string, value: string): void => {
  try {
    localStorage.setItem(`holdfast.${name}`, value)
  } catch {
    // a browser that keeps nothing: the choice holds until it is closed
  }
}

const state = $state({
  theme: (read('theme') ?? 'system') as Theme,
  sound: read('sound') !== 'off',
  notify: read('notify') === 'on',
})

export const preferences = {
  get theme(): Theme {
    return state.theme
  },
  set theme(theme: Theme) {
    state.theme = theme
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    write('theme', theme)
  },
  get sound(): boolean {
    return state.sound
  },
  set sound(on: boolean) {
    state.sound = on
    write('sound', on ? 'on' : 'off')
  },
  get notify(): boolean {
    return state.notify
  },
  set notify(on: boolean) {
    state.notify = on
    write('notify', on ? 'on' : 'off')
  },
}
