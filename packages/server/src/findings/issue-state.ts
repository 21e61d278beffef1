import type { Issue } from '../api/schemas/findings.ts'

/** What somebody decided about an issue: a row of `issues`. */
export type Decision = {
  state: 'open' | 'resolved' | 'ignored'
  resolvedVersion: string
  decidedAtMs: number
  /** The number of sessions at which an ignored issue opens again; 0 for never. */
  ignoredUntil: number
  note: string
}

/** The sessions of an issue with one version. The version is empty if it is unknown. */
export type VersionCount = { version: string; sessions: number; firstSeenMs: number; lastSeenMs: number }

/** When each version of the project was first seen. */
export type VersionHistory = ReadonlyMap<string, number>

/** The state of an issue now: a decision holds until the issue comes back. */
export function stateOf(
  decision: Decision | undefined,
  counts: readonly VersionCount[],
  history: VersionHistory,
): Issue['state'] {
  if (decision === undefined || decision.state === 'open') return 'open'
  if (decision.state === 'resolved')
    return counts.some((count) => isComeBack(count, decision, history)) ? 'reopened' : 'resolved'
  const total = counts.reduce((sum, { sessions }) => sum + sessions, 0)
  return decision.ignoredUntil > 0 && total >= decision.ignoredUntil ? 'reopened' : 'ignored'
}

/** Seen in a later version than the one with the fix. Without versions, seen after the decision. */
function isComeBack(
  { version, firstSeenMs, lastSeenMs }: VersionCount,
  { resolvedVersion, decidedAtMs }: Decision,
  history: VersionHistory,
): boolean {
  if (version === '' || resolvedVersion === '') return lastSeenMs > decidedAtMs
  if (version === resolvedVersion) return false
  const order = compareVersions(version, resolvedVersion)
  if (order !== undefined) return order > 0
  return (history.get(version) ?? firstSeenMs) > (history.get(resolvedVersion) ?? decidedAtMs)
}

/** Compares versions such as 1.10.0 and v2; undefined for names and commits, which only time can order. */
export function compareVersions(one: string, other: string): number | undefined {
  const [left, right] = [numbersOf(one), numbersOf(other)]
  if (left === undefined || right === undefined) return undefined
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  // 2.0.0-beta comes before 2.0.0.
  return Number(one.includes('-')) === Number(other.includes('-')) ? 0 : one.includes('-') ? -1 : 1
}

function numbersOf(version: string): number[] | undefined {
  const found = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?:[-+][\w.+-]*)?$/i.exec(version.trim())
  return found?.[1]?.split('.').map(Number)
}
