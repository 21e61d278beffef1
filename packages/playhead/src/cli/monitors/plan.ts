import { describeMonitor, formatWindow, type Monitor } from '@playhead/model'
import type { Painter } from '../terminal/terminal.ts'
import type { FileMonitor } from './monitor-file.ts'

export type Plan = {
  create: FileMonitor[]
  change: { before: Monitor; after: FileMonitor }[]
  /** Made by an earlier version of the file, and no longer in it. */
  remove: Monitor[]
  unchanged: number
}

/** What has to change on the server. Monitors that people made in the dashboard stay, unless the file has their id. */
export function planMonitors(wanted: readonly FileMonitor[], existing: readonly Monitor[]): Plan {
  const byId = new Map(existing.map((monitor) => [monitor.id, monitor]))
  const plan: Plan = { create: [], change: [], remove: [], unchanged: 0 }
  for (const after of wanted) {
    const before = byId.get(after.id)
    if (before === undefined) plan.create.push(after)
    else if (isSame(before, { ...after, isFromFile: true })) plan.unchanged += 1
    else plan.change.push({ before, after })
  }
  const ids = new Set(wanted.map(({ id }) => id))
  plan.remove = existing.filter(({ id, isFromFile }) => isFromFile && !ids.has(id))
  return plan
}

function isSame(left: object, right: object): boolean {
  return canonical(left) === canonical(right)
}

function canonical(value: object): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  )
}

export function isEmptyPlan({ create, change, remove }: Plan): boolean {
  return create.length + change.length + remove.length === 0
}

export function renderPlan(plan: Plan, paint: Painter): string {
  const lines = [
    ...plan.create.map((monitor) => paint('green', `+ ${monitor.id}`) + `  ${describe(monitor)}`),
    ...plan.change.map(
      ({ before, after }) =>
        `${paint('yellow', `~ ${after.id}`)}  ${describe(before)}\n${' '.repeat(after.id.length + 2)}→ ${describe(after)}`,
    ),
    ...plan.remove.map((monitor) => paint('red', `- ${monitor.id}`) + `  ${describe(monitor)}`),
  ]
  const { create, change, remove, unchanged } = plan
  const counts = `${create.length} to create, ${change.length} to change, ${remove.length} to delete, ${unchanged} unchanged.`
  return [...lines, ...(lines.length === 0 ? [] : ['']), counts].join('\n')
}

/** Everything that can differ, on one line. */
function describe(monitor: FileMonitor): string {
  const wait = monitor.forMs === 0 ? '' : `, for ${formatWindow(monitor.forMs)}`
  const told =
    monitor.destinations === undefined ? '' : `, tells ${monitor.destinations.join(', ') || 'nobody'}`
  return `${monitor.name}: ${describeMonitor(monitor)}${wait}${told}${monitor.isPaused ? ' (paused)' : ''}`
}
