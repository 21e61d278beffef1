import { memo, type ReactNode } from 'react'
import type { Step } from '@playhead/model'
import { ErrorNotice } from '../../ui/data/error-notice.tsx'
import { SkeletonLines } from '../../ui/data/skeleton.tsx'
import { Tabs, type Tab } from '../../ui/controls/tabs.tsx'
import { AttributesTab } from './attributes-tab.tsx'
import { ConversationTab } from '../conversation/conversation-tab.tsx'
import { ErrorTab } from './error-tab.tsx'
import { InputOutputTab } from './input-output-tab.tsx'
import { LogsTab } from './logs-tab.tsx'
import { RawTab } from './raw-tab.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { useReplaySearch } from '../playback/replay-location.ts'
import { StepTitle } from './step-title.tsx'
import { useFullStep, useShownStepId } from '../playback/shown-step.ts'
import './step-detail.css'

/** Everything about the step that is looked at. */
export const StepDetail = memo(function StepDetail({
  isConversationBeside,
}: {
  isConversationBeside: boolean
}) {
  const { timeline } = useReplay()
  const stepId = useShownStepId()
  const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
  if (position === undefined) return <p className="detail-empty dim">No step is chosen.</p>
  const step = timeline.steps[position]!
  return (
    <div className={isConversationBeside ? 'detail-pair' : 'detail-alone'}>
      <section className="detail" aria-label="Step">
        <StepTitle step={step} />
        <DetailTabs step={step} isConversationBeside={isConversationBeside} />
      </section>
      {isConversationBeside && (
        <section className="detail detail-beside" aria-label="Conversation">
          <h3 className="detail-beside-title">Conversation</h3>
          {/* A keyboard must be able to scroll it. */}
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
  const choose = (id: string) => {
    const { tab: _tab, ...rest } = location.getSearch()
    location.replace(id === 'io' ? rest : { ...rest, tab: id })
  }
  return <Tabs label="About this step" tabs={tabs} chosen={shown} onChoose={choose} />
}

function DetailSkeleton() {
  return (
    <div className="detail-section">
      <SkeletonLines count={6} />
    </div>
  )
}
