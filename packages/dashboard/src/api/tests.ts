import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { EndState, Interval } from '@playhead/model'
import { apiPath, type Parameters } from './api-path.ts'
import { fetchJson } from './fetch-json.ts'
import { useProjectId } from './projects.ts'

export type TestRun = {
  sessionId: string
  endState: EndState
  startedAt: string
  durationMs: number | null
  cost: number | null
  attempt?: number
  variant?: string
  runId?: string
  branch?: string
  commit?: string
}

export type TestHistory = {
  file?: string
  suite?: string
  name: string
  total: number
  passed: number
  failed: number
  passRate: number | null
  passInterval: Interval
  isFlaky: boolean
  variants: number
  cost: number | null
  durationMs: { p50: number | null; p95: number | null }
  lastRunAt: string
  runs: TestRun[]
}

/** The tests that sessions were recorded in. */
export function useTests(parameters: Parameters) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['tests', project, parameters],
    queryFn: ({ signal }) =>
      fetchJson<{ tests: TestHistory[] }>(apiPath('/api/tests', { project, ...parameters }), { signal }),
    select: ({ tests }) => tests,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
}
