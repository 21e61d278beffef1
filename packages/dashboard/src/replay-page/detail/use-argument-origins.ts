import { useMemo } from 'react'
import { createArgumentTracer, type ArgumentOrigin, type ArgumentTracer, type Step } from '@playhead/model'
import { useSessionPayloads } from '../../api/use-session.ts'
import { useReplay } from '../playback/replay-context.ts'

/** Longer sessions are not read whole to say where a value came from. */
const TRACED_UP_TO = 500

/** Steps are read once, however many of their actions are looked at. */
const tracers = new WeakMap<readonly Step[], ArgumentTracer>()

/** Where the arguments of an action came from; empty until the steps before it are there. */
export function useArgumentOrigins(step: Step): ArgumentOrigin[] {
  const { timeline } = useReplay()
  const { steps, session } = timeline
  const isTraced = step.kind === 'action' && steps.length <= TRACED_UP_TO
  const hasAll = useMemo(() => isTraced && steps.every(({ hasPayload }) => hasPayload), [isTraced, steps])
  const { data } = useSessionPayloads(session.id, { enabled: isTraced && !hasAll })
  const whole = useMemo(
    () =>
      hasAll ? steps : data === undefined ? undefined : steps.map((known) => data.get(known.id) ?? known),
    [hasAll, steps, data],
  )
  return useMemo(() => {
    if (!isTraced || whole === undefined) return []
    const tracer = tracers.get(whole) ?? createArgumentTracer(whole)
    tracers.set(whole, tracer)
    return tracer(step)
  }, [isTraced, whole, step])
}
