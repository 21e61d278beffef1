import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import type { Step } from '@playhead/model'
import { useSessionSource, type SessionSource } from './session-source.ts'

/** A step that goes on to change has another key when it has changed. */
function stepKey(source: SessionSource, sessionId: string, step: Step) {
  return ['step', source.name, sessionId, step.id, step.status, step.endedAt] as const
}

function stepQuery(source: SessionSource, sessionId: string, step: Step) {
  return {
    queryKey: stepKey(source, sessionId, step),
    queryFn: ({ signal }: { signal: AbortSignal }) => source.readStep(sessionId, step.id, signal),
    staleTime: Infinity,
    gcTime: 5 * 60_000,
    structuralSharing: false,
    refetchOnWindowFocus: false,
  } as const
}

/** One step with everything it holds; what is known without asking is there at once. */
export function useStep(sessionId: string, step: Step | undefined, options: { enabled?: boolean } = {}) {
  const source = useSessionSource()
  return useQuery({
    ...stepQuery(source, sessionId, step ?? nothing),
    enabled: step !== undefined && (options.enabled ?? true),
    ...(step?.hasPayload === true && { initialData: step }),
  })
}

/** Stands where no step is asked for. */
const nothing: Step = {
  id: '',
  parentId: null,
  kind: 'other',
  name: '',
  startedAt: '',
  endedAt: null,
  offsetMs: 0,
  durationMs: null,
  status: 'ok',
  hasPayload: false,
  cost: null,
  dialect: '',
}

/** Loads steps that will be looked at soon. */
export function usePrefetchSteps(sessionId: string): (steps: readonly Step[]) => void {
  const source = useSessionSource()
  const client = useQueryClient()
  return (steps) => {
    for (const step of steps)
      if (!step.hasPayload) void client.prefetchQuery(stepQuery(source, sessionId, step))
  }
}

/** What is known of a step: with its payload, when that was loaded. */
export function knownStep(client: QueryClient, source: SessionSource, sessionId: string, step: Step): Step {
  if (step.hasPayload) return step
  return client.getQueryData<Step>(stepKey(source, sessionId, step)) ?? step
}
