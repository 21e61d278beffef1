/** As in package.json, which npm does not enforce. */
const OLDEST = [22, 15] as const

type Versions = Readonly<Record<string, string | undefined>>

/** Why this version of Node is too old, as a predicate; undefined if it is not. Bun and Deno only imitate a version. */
export function findNodeProblem({ node, bun, deno }: Versions): string | undefined {
  if (node === undefined || bun !== undefined || deno !== undefined) return undefined
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined
  return `needs Node ${OLDEST.join('.')} or newer; this is ${node}`
}

/** Throws on a version of Node that is too old. For tests, which must not pass or fail for that reason. */
export function requireNode(): void {
  const problem = findNodeProblem(process.versions)
  if (problem !== undefined) throw new Error(`The testing kit of playhead ${problem}.`)
}
