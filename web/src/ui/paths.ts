/** A path as one says it inside a project: without the project's own, where it lies in there. */
export function within(path: string, project: string): string {
  return project && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path
}
