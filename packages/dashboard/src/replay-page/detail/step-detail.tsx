import { memo, type ReactNode, useMemo, useRef, Fragment } from 'react'
import {
  describeCost,
  formatCount,
  hasFailed,
  ownsError,
  stepTitle,
  textOfValue,
  visibleText,
  type Step,
} from '@playhead/model'
import { StepForward } from 'lucide-react'
import { Button, KeyCap } from '../../ui/controls/button.tsx'
import { ErrorNotice } from '../../ui/data/error-notice.tsx'
import { SkeletonLines } from '../../ui/data/skeleton.tsx'
import { Tabs, type Tab } from '../../ui/controls/tabs.tsx'
import { AttributesTab } from './attributes-tab.tsx'
import { ChangeNotice } from './change-notice.tsx'
import { ConversationTab } from '../conversation/conversation-tab.tsx'
import { ErrorTab } from './error-tab.tsx'
import { InputOutputTab } from './input-output-tab.tsx'
import { LogsTab } from './logs-tab.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { useReplaySearch } from '../playback/replay-location.ts'
import { useFullStep, useShownStepId } from '../playback/shown-step.ts'
import { CopyButton } from '../../ui/controls/copy-button.tsx'
import { LongText } from '../../ui/data/long-text.tsx'
import { KindMark, kindLooks } from '../../session-facts/kind-mark.tsx'
import { sourceWords } from '../../session-facts/step-source.ts'
import { findFailure } from '../playback/failures.ts'
import { useShownValue } from './shown-value.ts'
import { ownFrameOf } from './stack-trace.ts'
import { durationOf, outcomeOf } from '../steps/step-text.ts'
import type { Timeline } from '../playback/timeline.ts'
import './step-detail.css'

/** Everything about the selected step. */
export const StepDetail = memo(function StepDetail({
  isConversationBeside,
}: {
  isConversationBeside: boolean
}) {
  const { timeline } = useReplay()
  const stepId = useShownStepId()
  const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
  if (position === undefined) return <p className="detail-empty dim">No step selected</p>
  const step = timeline.steps[position]!
  return (
    <div className={isConversationBeside ? 'detail-pair' : 'detail-alone'}>
      <section className="detail" aria-label="Step">
        <StepTitle step={step} />
        {step.changes?.map((change, index) => (
          <ChangeNotice key={index} change={change} />
        ))}
        <DetailTabs step={step} isConversationBeside={isConversationBeside} />
      </section>
      {isConversationBeside && (
        <section className="detail detail-beside" aria-label="Conversation">
          <h3 className="detail-beside-title">Conversation</h3>
          {/* Focusable, so that it can be scrolled by keyboard. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <div className="tab-panel" tabIndex={0}>
            <ConversationTab step={step} />
          </div>
        </section>
      )}
    </div>
  )
})

function DetailTabs({ step: outline, isConversationBeside }: { step: Step; isConversationBeside: boolean }) {
  const { location } = useReplay()
  const detail = useRef<HTMLDivElement>(null)
  const chosen = useReplaySearch((search) => search.tab)
  const { step = outline, isLoading, error } = useFullStep(outline)
  const whenLoaded = (draw: () => ReactNode) => () => {
    if (error !== null) return <ErrorNotice error={error} />
    return isLoading ? <DetailSkeleton /> : draw()
  }
  const tabs: Tab[] = [
    { id: 'io', label: 'Input / Output', draw: whenLoaded(() => <InputOutputTab step={step} />) },
    ...(isConversationBeside
      ? []
      : [{ id: 'conversation', label: 'Conversation', draw: () => <ConversationTab step={outline} /> }]),
    ...(step.error === undefined
      ? []
      : [
          {
            id: 'error',
            label: 'Error',
            look: 'bad' as const,
            draw: whenLoaded(() => <ErrorTab step={step} />),
          },
        ]),
    { id: 'logs', label: 'Logs', count: step.logs?.length, draw: () => <LogsTab step={step} /> },
    { id: 'attributes', label: 'Attributes', draw: whenLoaded(() => <AttributesTab step={step} />) },
    { id: 'raw', label: 'Raw', draw: whenLoaded(() => <RawTab step={step} />) },
  ]
  const shown = tabs.some((tab) => tab.id === chosen) ? chosen! : 'io'
  useShownValue(detail, step)
  const choose = (id: string) => {
    const { tab: _tab, at: _at, ...rest } = location.getSearch()
    location.replace(id === 'io' ? rest : { ...rest, tab: id })
  }
  return (
    <div ref={detail} className="detail-tabs">
      <Tabs label="Step details" tabs={tabs} chosen={shown} onChoose={choose} />
    </div>
  )
}

function DetailSkeleton() {
  return (
    <div className="detail-section">
      <SkeletonLines count={6} />
    </div>
  )
}

/** The step as the API returns it. */
function RawTab({ step }: { step: Step }) {
  const text = useMemo(() => textOfValue(step), [step])
  return (
    <div className="detail-section value-view">
      <div className="value-tools">
        <CopyButton label="Copy step as JSON" read={() => text} />
      </div>
      <LongText text={text} limit={20_000} className="mono" />
    </div>
  )
}

/** The name of a step, and its facts in one line. */
function StepTitle({ step }: { step: Step }) {
  const { timeline, location, runFrom } = useReplay()
  const facts = factsOf(step, timeline)
  return (
    <header className="step-title">
      <div className="step-title-line">
        <h2>
          <KindMark kind={step.kind} isBad={ownsError(step)} size={16} />
          <span className="step-title-name">{visibleText(stepTitle(step))}</span>
          <CopyButton label="Copy link to this step" read={() => location.linkTo({ step: step.id })} />
        </h2>
        {runFrom !== undefined && (
          <Button aria-keyshortcuts="r" onClick={() => runFrom(step.id)}>
            <StepForward size={13} aria-hidden="true" />
            Run from here
            <KeyCap>R</KeyCap>
          </Button>
        )}
      </div>
      <p className="dim">
        {facts.map((fact, index) => (
          <Fragment key={index}>
            {index > 0 && ' · '}
            {fact}
          </Fragment>
        ))}
      </p>
    </header>
  )
}

function factsOf(step: Step, timeline: Timeline): ReactNode[] {
  const isRunning = timeline.session.endState === 'running'
  const outcome = outcomeOf(step, { isFatal: findFailure(timeline)?.id === step.id, isRunning })
  const place = step.error?.stack === undefined ? undefined : ownFrameOf(step.error.stack)
  const { input, output } = step.usage ?? {}
  const facts: (ReactNode | undefined)[] = [
    kindLooks[step.kind].word,
    step.effect === undefined ? undefined : step.effect === 'read' ? 'reads' : 'writes',
    step.kind !== 'agent' && step.agent !== undefined ? `in ${visibleText(step.agent)}` : undefined,
    durationOf(step) || undefined,
    step.cost === null ? undefined : describeCost(step.cost, []),
    input === undefined && output === undefined
      ? undefined
      : `${input === undefined ? '?' : formatCount(input)} in, ${output === undefined ? '?' : formatCount(output)} out`,
    step.source === undefined ? undefined : (
      <span className={`step-source is-${step.source}`}>{sourceWords[step.source].fact}</span>
    ),
    step.attempt !== undefined && step.attempt > 1 ? `attempt ${step.attempt}` : undefined,
    outcome === '' ? undefined : (
      <span className={hasFailed(step) ? 'step-title-bad' : undefined}>{outcome}</span>
    ),
    place === undefined ? undefined : <span className="mono">{visibleText(place)}</span>,
  ]
  return facts.filter((fact) => fact !== undefined)
}
