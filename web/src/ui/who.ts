/** A person or program as the record names it; the one user of this machine is known by the door they came through. */
export function who(by: string): string {
  const own = /^local(?: \((.*)\))?$/.exec(by)
  return own ? (own[1] ?? '') : by
}
