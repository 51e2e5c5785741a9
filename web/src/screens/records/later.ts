/** Runs it once, after calls have ceased for so long; a stream of calls still gets it now and then. */
export function later(run: () => void, milliseconds: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let first = 0
  return () => {
    const now = Date.now()
    if (timer === undefined) first = now
    else if (now - first > 4 * milliseconds) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      run()
    }, milliseconds)
  }
}
