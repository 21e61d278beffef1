import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
  type ComponentProps,
  type ReactNode,
} from 'react'
import { findMissingCosts, type Suspect } from '@playhead/model'
import { useFindings } from '../api/use-session.ts'
import type { LoadedSession } from '../api/session-source.ts'
import { Segments } from '../ui/controls/segments.tsx'
import { Splitter } from '../ui/controls/splitter.tsx'
import { NARROW, useMediaQuery } from '../ui/browser/use-media-query.ts'
import { KeyboardHelp } from './transport/keyboard-help.tsx'
import { findIdleGaps, createTimeAxis } from './playback/time-axis.ts'
import { findLlmCalls } from './playback/playhead-state.ts'
import { WhatWentWrong } from './header/what-went-wrong.tsx'
import { NoticeBar } from './header/notice-bar.tsx'
import { TimelineStrip } from './timeline/timeline-strip.tsx'
import { useReview } from './review/use-review.ts'
import { Verdicts, type VerdictKeys } from './review/verdict-bar.tsx'
import { StateBar } from './transport/state-bar.tsx'
import { PrintedReplay } from './printed-replay.tsx'
import type { Player } from './playback/player.ts'
import { ReplayProvider, useReplay, type Replay } from './playback/replay-context.ts'
import { type ReplayLocation, useLocationSync, useReplaySearch } from './playback/replay-location.ts'
import { createRunningTotals } from './playback/running-totals.ts'
import { SessionHeader } from './header/session-header.tsx'
import { StepDetail } from './detail/step-detail.tsx'
import { StepList } from './steps/step-list.tsx'
import { type Timeline, useTimeline } from './playback/timeline.ts'
import { Transport } from './transport/transport.tsx'
import { usePlayer, useSkippingIdle, usePrefetchAhead } from './playback/use-player.ts'
import { usePreviews } from './playback/use-previews.ts'
import { useReplayKeys } from './transport/keyboard.ts'
import { useStepRows, type StepListState } from './steps/step-list-state.ts'
import './replay-view.css'

/** Up to this many steps there is room for the conversation beside them. */
const SHORT_SESSION = 200

type ReplayViewProps = {
  data: LoadedSession
  location: ReplayLocation
  /** A link to the list. */
  back: ReactNode
  /** Extra buttons for the header. */
  tools?: ReactNode
  /** What the session is a re-run of, with links. */
  lineage?: ReactNode
  /** The dialog that runs the agent from a step. */
  renderFork?: (stepId: string, onClose: () => void) => ReactNode
  /** Opens another session of the list that is being reviewed. Without it, as in a file, nobody gives verdicts. */
  onOpenSession?: ((sessionId: string) => void) | undefined
  /** The dialog that makes a test of the session. */
  renderTest?: (onClose: () => void) => ReactNode
}

/** Replays a session. */
export function ReplayView({
  data,
  location,
  renderFork,
  renderTest,
  onOpenSession,
  ...header
}: ReplayViewProps) {
  const timeline = useTimeline(data)
  const player = usePlayer(timeline, location)
  const isSkippingIdle = useSkippingIdle(player)
  const list = useStepRows(timeline, {
    text: location.getSearch().q ?? '',
    stepId: player.getState().stepId,
  })
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const goTo = useGoTo(list, player.select)
  const derived = useDerivedData(timeline, isSkippingIdle, data.share?.hasContent === false)
  const { tapeGaps } = data
  const { findings, suspects } = useFindings(data.session)
  const fork = useFork(renderFork)
  const { runFrom } = fork
  const test = useTest(renderTest)
  const { makeTest } = test
  const [verdictKeys, setVerdictKeys] = useState<VerdictKeys>()
  const replay = useMemo<Replay>(
    () => ({ timeline, player, location, goTo, findings, suspects, tapeGaps, runFrom, makeTest, ...derived }),
    [timeline, player, location, goTo, findings, suspects, tapeGaps, runFrom, makeTest, derived],
  )
  useUrlAndPrefetch(replay, data.session.id, list.text)
  useReplayKeys({
    player,
    ...listKeys(list, timeline, player),
    help: () => setIsHelpOpen(true),
    runFromHere: () => runFrom?.(player.getState().stepId),
    verdict: verdictKeys,
    suspect: (direction) => goToSuspect(suspects, direction, { from: player.getState().stepId, goTo }),
  })
  return (
    <ReplayProvider value={replay}>
      <div className="replay">
        <SessionHeader {...header} onTest={makeTest} />
        <NoticeBar />
        <Reviewed scores={data.scores ?? []} onOpen={onOpenSession} onKeys={setVerdictKeys}>
          {(buttons) => <ReplayPlayer verdictButtons={buttons} onHelp={() => setIsHelpOpen(true)} />}
        </Reviewed>
        <WhatWentWrong />
        <ReplayBody list={list} stepCount={timeline.steps.length} hasCalls={derived.llmCalls.length > 0} />
        <StateBar />
        <PrintedReplay />
      </div>
      <KeyboardHelp isOpen={isHelpOpen} onOpenChange={setIsHelpOpen} />
      {fork.dialog}
      {test.dialog}
    </ReplayProvider>
  )
}

function ReplayPlayer(transport: ComponentProps<typeof Transport>) {
  return (
    <div className="replay-player">
      <TimelineStrip />
      <Transport {...transport} />
    </div>
  )
}

type ReviewProps = Omit<ComponentProps<typeof Verdicts>, 'review'>

function Reviewed({
  onOpen,
  ...rest
}: Omit<ReviewProps, 'onOpen'> & { onOpen: ReviewProps['onOpen'] | undefined }) {
  return onOpen === undefined ? rest.children(null) : <ReviewedPage {...rest} onOpen={onOpen} />
}

function ReviewedPage(props: ReviewProps) {
  const review = useReview(useReplay().timeline.session.id)
  return <Verdicts {...props} review={review} />
}

function useUrlAndPrefetch({ player, location }: Replay, sessionId: string, text: string): void {
  useLocationSync(player, location)
  useSearchInUrl(text, location)
  usePrefetchAhead(player, sessionId)
}

/** The dialog that runs the agent from a step, while it is open. */
function useFork(render: ReplayViewProps['renderFork']) {
  const [stepId, runFrom] = useState<string>()
  return {
    runFrom: render === undefined ? undefined : runFrom,
    dialog: stepId !== undefined && render?.(stepId, () => runFrom(undefined)),
  }
}

/** The dialog that makes a test of the session, while it is open. */
function useTest(render: ReplayViewProps['renderTest']) {
  const [isOpen, setIsOpen] = useState(false)
  const makeTest = useCallback(() => setIsOpen(true), [])
  return {
    makeTest: render === undefined ? undefined : makeTest,
    dialog: isOpen && render?.(() => setIsOpen(false)),
  }
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
  const linked = useReplaySearch(({ step, at }) => at !== undefined && `${step ?? ''} ${at}`)
  useEffect(() => {
    if (linked !== false) setShown('step')
  }, [linked])
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
  isContentLeftOut: boolean,
): Pick<
  Replay,
  'totals' | 'missingCosts' | 'llmCalls' | 'idleGaps' | 'axis' | 'previews' | 'isContentLeftOut'
> {
  const { startsMs, durationMs, session, steps } = timeline
  const previews = usePreviews(session.id)
  const missingCosts = useMemo(() => findMissingCosts({ session, steps }), [session, steps])
  const totals = useMemo(() => createRunningTotals(timeline), [startsMs])
  const llmCalls = useMemo(() => findLlmCalls(timeline), [startsMs])
  const idleGaps = useMemo(() => findIdleGaps(timeline), [startsMs, durationMs])
  const axis = useMemo(
    () => createTimeAxis(durationMs, isSkippingIdle ? idleGaps : []),
    [durationMs, idleGaps, isSkippingIdle],
  )
  return useMemo(
    () => ({ totals, missingCosts, llmCalls, idleGaps, axis, previews, isContentLeftOut }),
    [totals, missingCosts, llmCalls, idleGaps, axis, previews, isContentLeftOut],
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

function goToSuspect(
  suspects: readonly Suspect[],
  direction: 1 | -1,
  { from, goTo }: { from: string | undefined; goTo: (stepId: string) => void },
): void {
  const current = suspects.findIndex(({ stepId }) => stepId === from)
  const start = current === -1 && direction === -1 ? 0 : current
  const next = suspects.at((start + direction) % suspects.length)
  if (next !== undefined) goTo(next.stepId)
}

function listKeys(list: StepListState, timeline: Timeline, player: Player) {
  return {
    reveal: () => {
      const { stepId } = player.getState()
      if (stepId !== undefined) list.revealStep(stepId)
    },
    fold: () => foldCurrent(list, timeline, player.getState().stepId),
    clear: () => (list.matches === null ? player.setView(null) : list.setText('')),
  }
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
