/** As in package.json, which npm does not insist on. */
const OLDEST = [22, 15] as const

/** What to tell someone whose Node can't run the server; undefined when it can. */
export function findNodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined
  return `The server needs Node ${OLDEST.join('.')} or newer; this is ${version}.`
}
