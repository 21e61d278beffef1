import { useQuery } from '@tanstack/react-query'
import { namedSuspects, type Findings, type SessionSummary } from '@playhead/model'
import { useSessionSource } from './session-source.ts'

const nothing: Findings = { findings: [], suspects: [] }

/** What went wrong in a session. Nothing is known while it runs. */
export function useFindings({ id, endState, stepCount }: SessionSummary): Findings {
  const source = useSessionSource()
  const { data = nothing } = useQuery({
    // Late steps may change what is found.
    queryKey: ['findings', source.name, id, endState, stepCount],
    queryFn: ({ signal }) => source.readFindings(id, signal),
    enabled: endState !== 'running',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    select: named,
  })
  return data
}

function named(all: Findings): Findings {
  return { findings: all.findings, suspects: namedSuspects(all) }
}
