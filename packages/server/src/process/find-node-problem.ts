/** As in package.json, which npm does not enforce. */
const OLDEST = [22, 15] as const

/** Why this Node cannot run the server; undefined if it can. */
export function findNodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined
  return `The server needs Node ${OLDEST.join('.')} or newer; this is ${version}.`
}
