import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import type { Step, StepKind } from '@playhead/model'
import { useSessionSource } from '../../api/session-source.ts'
import { useSessionPayloads } from '../../api/use-session.ts'
import { knownStep } from '../../api/use-step.ts'
import { listRows, reveal, type Folding, type StepRows } from './step-rows.ts'
import { findSteps, patternOf, type StepMatches } from './step-search.ts'
import type { Timeline } from '../playback/timeline.ts'

/** Longer sessions are searched by name and preview; loading all their payloads would cost more than it gives. */
export const PAYLOADS_SEARCHED_UP_TO = 5_000

export type StepListState = StepRows & {
  text: string
  setText: (text: string) => void
  kinds: ReadonlySet<StepKind>
  setKinds: (kinds: ReadonlySet<StepKind>) => void
  /** Null when nothing is searched for. */
  matches: StepMatches | null
  /** How far the search reaches. */
  reach: 'everything' | 'loading' | 'names'
  toggle: (stepId: string, isRepeat: boolean) => void
  revealStep: (stepId: string) => void
}

const noFolding: Folding = { folded: new Set(), openRepeats: new Set() }

/** The lines of the step list, with what is folded and what is searched for. */
export function useStepRows(
  timeline: Timeline,
  initial: { text: string; stepId: string | undefined },
): StepListState {
  const [folding, setFolding] = useState<Folding>(() =>
    initial.stepId === undefined ? noFolding : reveal(timeline, noFolding, initial.stepId),
  )
  const [text, setText] = useState(initial.text)
  const [kinds, setKinds] = useState<ReadonlySet<StepKind>>(() => new Set())
  const { matches, reach } = useMatches(timeline, useDeferredValue(text), kinds)
  const shown = matches?.shown ?? null
  // The duration of a running session grows without its steps.
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
  return { ...rows, text, setText, kinds, setKinds, matches, reach, toggle, revealStep }
}

function useMatches(
  timeline: Timeline,
  text: string,
  kinds: ReadonlySet<StepKind>,
): Pick<StepListState, 'matches' | 'reach'> {
  const source = useSessionSource()
  const client = useQueryClient()
  const { id } = timeline.session
  const isAsked = patternOf(text) !== undefined
  const isShort = timeline.steps.length <= PAYLOADS_SEARCHED_UP_TO
  const hasAll = useMemo(() => timeline.steps.every((step) => step.hasPayload), [timeline.steps])
  const payloads = useSessionPayloads(id, { enabled: isAsked && isShort && !hasAll })
  const all = payloads.data
  const matches = useMemo(() => {
    const payloadOf = (step: Step) => all?.get(step.id) ?? knownStep(client, source, id, step)
    return findSteps(timeline, { text, kinds }, payloadOf)
  }, [timeline.steps, text, kinds, all, client, source, id])
  const reach =
    hasAll || all !== undefined ? 'everything' : isShort && !payloads.isError ? 'loading' : 'names'
  return { matches, reach }
}
