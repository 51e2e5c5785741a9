// Hash routes: `#/inbox`, `#/chat/THREAD`, `#/search?q=words`. They need nothing of the server and survive a reload.
export type Route = { screen: string; path: string[]; query: URLSearchParams }

export function parse(hash: string): Route {
  const [place = '', search = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const [screen = '', ...path] = place.split('/').filter(Boolean).map(decode)
  return { screen: screen || 'chat', path, query: new URLSearchParams(search) }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function href(screen: string, path: string[] = [], query: Record<string, string> = {}): string {
  const place = [screen, ...path].map(encodeURIComponent).join('/')
  const search = new URLSearchParams(query).toString()
  return `#/${place}${search ? `?${search}` : ''}`
}

let current = $state.raw(parse(location.hash))
addEventListener('hashchange', () => (current = parse(location.hash)))

/** After the address was changed without the browser saying so (a one-time link takes its code out of it). */
export function reread(): void {
  current = parse(location.hash)
}

export function route(): Route {
  return current
}

export function go(screen: string, path: string[] = [], query: Record<string, string> = {}): void {
  location.hash = href(screen, path, query)
}

/** Without a new entry in the history: for filters that change while one types. */
export function replace(screen: string, path: string[] = [], query: Record<string, string> = {}): void {
  history.replaceState(null, '', href(screen, path, query))
  current = parse(location.hash)
}
