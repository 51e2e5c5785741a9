/** `{@attach focus}`: what was opened by a key or a button takes the focus, wherever that was. */
export function focus(node: HTMLElement): void {
  node.focus()
}
