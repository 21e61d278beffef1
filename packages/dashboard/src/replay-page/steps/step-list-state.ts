import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { isSkeleton, type Step, type StepKind } from '@playhead/model'
import { useSessionSource } from '../../api/session-source.ts'
import { useSessionPayloads, useSessionPreviews } from '../../api/use-session.ts'
import { cachedStep } from '../../api/use-step.ts'
import { listRows, reveal, type Folding, type ListRows } from './step-rows.ts'
import { findSteps, patternOf, type StepMatches } from './step-search.ts'
import type { Timeline } from '../playback/timeline.ts'

/** Longer sessions are searched by name and preview only: loading all their payloads costs too much. */
export const PAYLOADS_SEARCHED_UP_TO = 5_000

export type StepListState = ListRows & {
  text: string
  setText: (text: string) => void
  kinds: ReadonlySet<StepKind>
  setKinds: (kinds: ReadonlySet<StepKind>) => void
  /** Null without a search or filter. */
  matches: StepMatches | null
  /** What the search covers. */
  coverage: 'everything' | 'loading' | 'loading previews' | 'names'
  toggle: (stepId: string, isRepeat: boolean) => void
  revealStep: (stepId: string) => void
}

const noFolding: Folding = { folded: new Set(), openRepeats: new Set() }

/** The rows of the step list, with folding, search and filter. */
export function useStepRows(
  timeline: Timeline,
  initial: { text: string; stepId: string | undefined },
): StepListState {
  const [folding, setFolding] = useState<Folding>(() =>
    initial.stepId === undefined ? noFolding : reveal(timeline, noFolding, initial.stepId),
  )
  const [text, setText] = useState(initial.text)
  const [kinds, setKinds] = useState<ReadonlySet<StepKind>>(() => new Set())
  const { matches, coverage } = useMatches(timeline, useDeferredValue(text), kinds)
  const shown = matches?.shown ?? null
  // A running session gets longer without new steps.
  const rows = useMemo(() => listRows(timeline, folding, { shown }), [timeline.treeOrder, folding, shown])
  const toggle = useCallback((stepId: string, isRepeat: boolean) => {
    setFolding((current) => {
      const set = new Set(isRepeat ? current.openRepeats : current.folded)
      if (!set.delete(stepId)) set.add(stepId)
      return isRepeat ? { ...current, openRepeats: set } : { ...current, folded: set }
    })
  }, [])
  const revealStep = useCallback(
    (stepId: string) => setFolding((current) => reveal(timeline, current, stepId)),
    [timeline],
  )
  return { ...rows, text, setText, kinds, setKinds, matches, coverage, toggle, revealStep }
}

type Loaded = { data: unknown; isError: boolean }

function coverageOf({
  hasAll,
  isShort,
  lacksPreviews,
  payloads,
  previews,
}: {
  hasAll: boolean
  isShort: boolean
  lacksPreviews: boolean
  payloads: Loaded
  previews: Loaded
}): StepListState['coverage'] {
  if (hasAll || payloads.data !== undefined) return 'everything'
  if (isShort) return payloads.isError ? 'names' : 'loading'
  return lacksPreviews && previews.data === undefined && !previews.isError ? 'loading previews' : 'names'
}

function useMatches(
  timeline: Timeline,
  text: string,
  kinds: ReadonlySet<StepKind>,
): Pick<StepListState, 'matches' | 'coverage'> {
  const source = useSessionSource()
  const client = useQueryClient()
  const { id } = timeline.session
  const hasText = patternOf(text) !== undefined
  const isShort = timeline.steps.length <= PAYLOADS_SEARCHED_UP_TO
  const hasAll = useMemo(() => timeline.steps.every((step) => step.hasPayload), [timeline.steps])
  const payloads = useSessionPayloads(id, { enabled: hasText && isShort && !hasAll })
  const lacksPreviews = useMemo(() => timeline.steps.some(isSkeleton), [timeline.steps])
  const previews = useSessionPreviews(id, { enabled: hasText && !isShort && lacksPreviews })
  const all = payloads.data ?? previews.data
  const matches = useMemo(() => {
    const payloadOf = (step: Step) => all?.get(step.id) ?? cachedStep(client, source, id, step)
    return findSteps(timeline, { text, kinds }, payloadOf)
  }, [timeline.steps, text, kinds, all, client, source, id])
  const coverage = coverageOf({ hasAll, isShort, lacksPreviews, payloads, previews })
  return { matches, coverage }
}
