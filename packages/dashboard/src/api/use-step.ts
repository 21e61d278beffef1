import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import type { Step } from '@playhead/model'
import { useSessionSource, type SessionSource } from './session-source.ts'

/** The key changes when a running step does. */
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

/** A step with its payload, immediately if it is loaded already. */
export function useStep(sessionId: string, step: Step | undefined, options: { enabled?: boolean } = {}) {
  const source = useSessionSource()
  return useQuery({
    ...stepQuery(source, sessionId, step ?? noStep),
    enabled: step !== undefined && (options.enabled ?? true),
    ...(step?.hasPayload === true && { initialData: step }),
  })
}

/** Placeholder for a disabled query. */
const noStep: Step = {
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

/** Prefetches the payloads of steps. */
export function usePrefetchSteps(sessionId: string): (steps: readonly Step[]) => void {
  const source = useSessionSource()
  const client = useQueryClient()
  return (steps) => {
    for (const step of steps)
      if (!step.hasPayload) void client.prefetchQuery(stepQuery(source, sessionId, step))
  }
}

/** The step from the cache if it is there, with its payload. */
export function cachedStep(client: QueryClient, source: SessionSource, sessionId: string, step: Step): Step {
  if (step.hasPayload) return step
  return client.getQueryData<Step>(stepKey(source, sessionId, step)) ?? step
}
