import { useCallback, useLayoutEffect, useMemo, useState, type ReactNode } from 'react'
import { findMissingCosts, type Session } from '@playhead/model'
import { Segments } from '../ui/controls/segments.tsx'
import { Splitter } from '../ui/controls/splitter.tsx'
import { NARROW, useMediaQuery } from '../ui/browser/use-media-query.ts'
import { KeyboardHelp } from './transport/keyboard-help.tsx'
import { findIdleGaps, createTimeAxis } from './playback/time-axis.ts'
import { findLlmCalls } from './playback/playhead-state.ts'
import { NoticeBar } from './header/notice-bar.tsx'
import { TimelineStrip } from './timeline/timeline-strip.tsx'
import { StateBar } from './transport/state-bar.tsx'
import { PrintedReplay } from './printed-replay.tsx'
import { ReplayProvider, useReplay, type Replay } from './playback/replay-context.ts'
import { type ReplayLocation, useLocationSync } from './playback/replay-location.ts'
import { createRunningTotals } from './playback/running-totals.ts'
import { SessionHeader } from './header/session-header.tsx'
import { StepDetail } from './detail/step-detail.tsx'
import { StepList } from './steps/step-list.tsx'
import { type Timeline, useTimeline } from './playback/timeline.ts'
import { Transport } from './transport/transport.tsx'
import { usePlayer, useSkippingIdle, usePrefetchAhead } from './playback/use-player.ts'
import { useReplayKeys } from './transport/keyboard.ts'
import { useStepRows, type StepListState } from './steps/step-list-state.ts'
import './replay-view.css'

/** Up to this many steps there is room for the conversation beside them. */
const SHORT_SESSION = 200

/** Replays a session. `back`: a link to the list; `tools`: extra buttons for the header. */
export function ReplayView({
  data,
  location,
  back,
  tools,
}: {
  data: Session
  location: ReplayLocation
  back: ReactNode
  tools?: ReactNode
}) {
  const timeline = useTimeline(data)
  const player = usePlayer(timeline, location)
  const isSkippingIdle = useSkippingIdle(player)
  const list = useStepRows(timeline, {
    text: location.getSearch().q ?? '',
    stepId: player.getState().stepId,
  })
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const goTo = useGoTo(list, player.select)
  const derived = useDerivedData(timeline, isSkippingIdle)
  const replay = useMemo<Replay>(
    () => ({ timeline, player, location, goTo, ...derived }),
    [timeline, player, location, goTo, derived],
  )
  useLocationSync(player, location)
  useSearchInUrl(list.text, location)
  usePrefetchAhead(player, data.session.id)
  useReplayKeys({
    player,
    reveal: () => {
      const { stepId } = player.getState()
      if (stepId !== undefined) list.revealStep(stepId)
    },
    fold: () => foldCurrent(list, timeline, player.getState().stepId),
    clear: () => (list.matches === null ? player.setView(null) : list.setText('')),
    help: () => setIsHelpOpen(true),
  })
  return (
    <ReplayProvider value={replay}>
      <div className="replay">
        <SessionHeader back={back} tools={tools} />
        <NoticeBar />
        <div className="replay-player">
          <TimelineStrip />
          <Transport onHelp={() => setIsHelpOpen(true)} />
        </div>
        <ReplayBody list={list} stepCount={timeline.steps.length} hasCalls={derived.llmCalls.length > 0} />
        <StateBar />
        <PrintedReplay />
      </div>
      <KeyboardHelp isOpen={isHelpOpen} onOpenChange={setIsHelpOpen} />
    </ReplayProvider>
  )
}

function ReplayBody({
  list,
  stepCount,
  hasCalls,
}: {
  list: StepListState
  stepCount: number
  hasCalls: boolean
}) {
  const isNarrow = useMediaQuery(NARROW)
  const isWide = useMediaQuery('(min-width: 1320px)')
  const isConversationBeside = isWide && stepCount <= SHORT_SESSION && hasCalls
  const steps = <StepList list={list} />
  const detail = <StepDetail isConversationBeside={isConversationBeside} />
  if (isNarrow) return <SinglePane steps={steps} detail={detail} />
  return (
    <div className="replay-body">
      <Splitter
        key={isConversationBeside ? 'three' : 'two'}
        name={isConversationBeside ? 'steps-of-three' : 'steps'}
        label="Step list width"
        initial={isConversationBeside ? 40 : 44}
        left={steps}
        right={detail}
      />
    </div>
  )
}

/** A phone shows the list or the step. It starts with the step when the page opens on one. */
function SinglePane({ steps, detail }: { steps: ReactNode; detail: ReactNode }) {
  const { player, timeline } = useReplay()
  const [shown, setShown] = useState<'steps' | 'step'>(() =>
    player.getState().stepId === timeline.steps[0]?.id || player.getState().motion === 'following'
      ? 'steps'
      : 'step',
  )
  return (
    <div className="replay-body is-single-pane">
      <Segments
        label="View"
        segments={[
          { value: 'steps', label: `Steps ${timeline.steps.length.toLocaleString('en-US')}` },
          { value: 'step', label: 'This step' },
        ]}
        value={shown}
        onChange={setShown}
      />
      {/* The row itself handles the tap; here it only switches to the step. */}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions */}
      <div
        className="replay-half"
        onClick={(event) => {
          const target = event.target as Element
          if (
            shown === 'steps' &&
            target.closest('.step-row') !== null &&
            target.closest('.step-row-fold') === null
          )
            setShown('step')
        }}
      >
        {shown === 'steps' ? steps : detail}
      </div>
    </div>
  )
}

function useDerivedData(
  timeline: Timeline,
  isSkippingIdle: boolean,
): Pick<Replay, 'totals' | 'missingCosts' | 'llmCalls' | 'idleGaps' | 'axis'> {
  const { startsMs, durationMs, session, steps } = timeline
  const missingCosts = useMemo(() => findMissingCosts({ session, steps }), [session, steps])
  const totals = useMemo(() => createRunningTotals(timeline), [startsMs])
  const llmCalls = useMemo(() => findLlmCalls(timeline), [startsMs])
  const idleGaps = useMemo(() => findIdleGaps(timeline), [startsMs, durationMs])
  const axis = useMemo(
    () => createTimeAxis(durationMs, isSkippingIdle ? idleGaps : []),
    [durationMs, idleGaps, isSkippingIdle],
  )
  return useMemo(
    () => ({ totals, missingCosts, llmCalls, idleGaps, axis }),
    [totals, missingCosts, llmCalls, idleGaps, axis],
  )
}

function useGoTo(list: StepListState, select: (stepId: string) => void): (stepId: string) => void {
  const { revealStep } = list
  return useCallback(
    (stepId: string) => {
      revealStep(stepId)
      select(stepId)
    },
    [revealStep, select],
  )
}

/** Folds or unfolds the selected step, or its parent when it has nothing to fold. */
function foldCurrent(list: StepListState, timeline: Timeline, stepId: string | undefined): void {
  const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
  if (position === undefined) return
  const row = list.rows[list.rowOf[position]!]
  if (row === undefined) return
  if (row.isOpen !== undefined) return list.toggle(timeline.steps[row.position]!.id, row.type === 'repeat')
  const parent = timeline.parents[row.position]!
  if (parent >= 0) list.toggle(timeline.steps[parent]!.id, false)
}

const TYPING_PAUSE_MS = 400

function useSearchInUrl(text: string, location: ReplayLocation): void {
  useLayoutEffect(() => {
    if ((location.getSearch().q ?? '') === text) return
    const timer = setTimeout(() => {
      const { q: _q, ...rest } = location.getSearch()
      location.replace(text === '' ? rest : { ...rest, q: text })
    }, TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, location])
}
