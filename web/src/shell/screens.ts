// The screens by name. Chat and inbox come with the first load; the others when they are first opened.
import type { Component } from 'svelte'
import type { IconName } from '$/ui/icons'
import Chat from '$/screens/chat/Chat.svelte'
import Inbox from '$/screens/inbox/Inbox.svelte'

/** What every screen is given: the rest of the route. */
export type ScreenProps = { path: string[]; query: URLSearchParams }
export type Screen = Component<ScreenProps>
export type ScreenName = 'chat' | 'inbox' | 'sessions' | 'search' | 'audit' | 'rules' | 'memory' | 'plots' | 'settings' | 'more'

export const screens: { name: ScreenName; icon: IconName; tab: boolean }[] = [
  { name: 'chat', icon: 'chat', tab: true },
  { name: 'inbox', icon: 'inbox', tab: true },
  { name: 'sessions', icon: 'chain', tab: true },
  { name: 'search', icon: 'search', tab: true },
  { name: 'audit', icon: 'audit', tab: false },
  { name: 'rules', icon: 'rules', tab: false },
  { name: 'memory', icon: 'memory', tab: false },
  { name: 'plots', icon: 'plot', tab: false },
  { name: 'settings', icon: 'settings', tab: false },
]

const lazy = import.meta.glob<{ default: Screen }>([
  '../screens/sessions/Sessions.svelte',
  '../screens/search/Search.svelte',
  '../screens/audit/Audit.svelte',
  '../screens/rules/Rules.svelte',
  '../screens/memory/Memory.svelte',
  '../screens/plots/Plots.svelte',
  '../screens/settings/Settings.svelte',
  '../screens/more/More.svelte',
])

export function isScreen(name: string): name is ScreenName {
  return name === 'more' || screens.some((one) => one.name === name)
}

export function loadScreen(name: ScreenName): Screen | Promise<Screen> {
  if (name === 'chat') return Chat
  if (name === 'inbox') return Inbox
  const file = `../screens/${name}/${name[0]!.toUpperCase()}${name.slice(1)}.svelte`
  const load = lazy[file]
  if (!load) return Promise.reject(new Error(file))
  return load().then((module) => module.default)
}
