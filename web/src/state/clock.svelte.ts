// One clock for all countdowns and ages, in the server's seconds: a phone's own clock may be wrong.
let skew = 0
const state = $state({ now: Date.now() / 1000 })

setInterval(() => (state.now = Date.now() / 1000 + skew), 1000)

export function now(): number {
  return state.now
}

export function serverSaid(at: number): void {
  skew = at - Date.now() / 1000
  state.now = at
}
