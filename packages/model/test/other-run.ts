import type { Session } from '../src/session/session.ts'
import type { Step } from '../src/session/step.ts'
import type { Random } from './random.ts'

/** True when a step began after another had ended. */
export function startsAfter(step: Step, other: Step): boolean {
  return step.offsetMs >= other.offsetMs + (other.durationMs ?? 0) && step.id !== other.id
}

/** Adds ids and times to results that differ between runs, as real services do. */
export function withVolatileValues(session: Session, random: Random): Session {
  const startedAtMs = Date.parse(session.session.startedAt)
  const steps = structuredClone(session.steps).map((step): Step => {
    const { output } = step
    const isObject = typeof output === 'object' && output !== null && !Array.isArray(output)
    if (step.kind !== 'action' || !isObject || random.chance(0.5)) return step
    const result = {
      ...output,
      requestId: uuid(random),
      at: new Date(startedAtMs + step.offsetMs).toISOString(),
    }
    return { ...step, output: result, ...(step.tool !== undefined && { tool: { ...step.tool, result } }) }
  })
  return { session: session.session, steps }
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => random.hex(length)).join('-')
}

/** The session as another run would record it: other ids, dates and durations. */
export function otherIdsAndTimes(
  { session, steps }: Session,
  random: Random,
): { session: Session; idOf: (id: string) => string | undefined } {
  const ids = new Map(steps.map(({ id }) => [id, random.hex(16)]))
  const startedAtMs =
    Date.parse(session.startedAt) + random.integer(1, 30) * 86_400_000 + random.integer(0, 1e7)
  const speed = 0.5 + random.next()
  const known = new Map<string, string>()
  const replace = (text: string) => {
    const other = known.get(text) ?? uuid(random)
    known.set(text, other)
    return other
  }
  const at = (ms: number) => new Date(startedAtMs + ms).toISOString()
  const moved = steps.map((step): Step => {
    const offsetMs = step.offsetMs * speed
    const durationMs = step.durationMs === null ? null : step.durationMs * speed
    const content = JSON.parse(
      JSON.stringify(step)
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, replace)
        .replaceAll(/"at":"[^"]*"/g, `"at":"${at(offsetMs)}"`),
    ) as Step
    return {
      ...content,
      id: ids.get(step.id)!,
      parentId: step.parentId === null ? null : (ids.get(step.parentId) ?? step.parentId),
      startedAt: at(offsetMs),
      endedAt: durationMs === null ? null : at(offsetMs + durationMs),
      offsetMs,
      durationMs,
    }
  })
  const durationMs = (session.durationMs ?? 0) * speed
  const other = { ...session, id: random.hex(32), startedAt: at(0), endedAt: at(durationMs), durationMs }
  return { session: { session: other, steps: moved }, idOf: (id) => ids.get(id) }
}

/** Changes the order of siblings that ran in parallel; undefined when there are none. */
export function alignedParallel(steps: readonly Step[], random: Random): Step[] | undefined {
  const together = steps.filter((step) => steps.some((other) => ranTogether(step, other)))
  if (together.length === 0) return undefined
  const step = random.pick(together)
  const group = together.filter((other) => other === step || ranTogether(step, other))
  const startMs = Math.min(...group.map(({ offsetMs }) => offsetMs))
  const shuffled = group
    .map((item) => ({ item, key: random.next() }))
    .toSorted((one, other) => one.key - other.key)
  const begins = new Map(shuffled.map(({ item }, index) => [item.id, startMs + index * 0.001]))
  return steps
    .map((step) => {
      const offsetMs = begins.get(step.id)
      if (offsetMs === undefined) return step
      const endMs = step.offsetMs + (step.durationMs ?? 0)
      return { ...step, offsetMs, durationMs: endMs - offsetMs }
    })
    .toSorted((one, other) => one.offsetMs - other.offsetMs)
}

function ranTogether(step: Step, other: Step): boolean {
  if (step === other || step.parentId !== other.parentId) return false
  const [end, otherEnd] = [step.offsetMs + (step.durationMs ?? 0), other.offsetMs + (other.durationMs ?? 0)]
  return step.offsetMs < otherEnd && other.offsetMs < end
}
