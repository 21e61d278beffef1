import { useMemo } from 'react'
import {
  createArgumentTracer,
  type ArgumentOrigin,
  type ArgumentTracer,
  type Session,
  type Step,
} from '@playhead/model'
import { useSessionPayloads } from '../api/use-session.ts'

/** Longer sessions are not loaded whole; there, only this many steps before the action are searched. */
export const STEPS_SEARCHED = 500

/** A session is indexed once, however many of its actions are looked at. */
const tracers = new WeakMap<readonly Step[], ArgumentTracer>()

/** Where each argument of an action came from. Undefined until the session is loaded, or when it is too long for that. */
export function useArgumentOrigins(
  { session, steps }: Pick<Session, 'session'> & { steps: readonly Step[] },
  step: Step,
): ArgumentOrigin[] | undefined {
  const isTraced = step.kind === 'action' && steps.length <= STEPS_SEARCHED
  const hasAll = useMemo(() => isTraced && steps.every(({ hasPayload }) => hasPayload), [isTraced, steps])
  const { data } = useSessionPayloads(session.id, { enabled: isTraced && !hasAll })
  const loaded = useMemo(
    () =>
      hasAll ? steps : data === undefined ? undefined : steps.map((known) => data.get(known.id) ?? known),
    [hasAll, steps, data],
  )
  return useMemo(() => {
    if (!isTraced || loaded === undefined) return undefined
    const tracer = tracers.get(loaded) ?? createArgumentTracer(loaded)
    tracers.set(loaded, tracer)
    return tracer(step)
  }, [isTraced, loaded, step])
}
