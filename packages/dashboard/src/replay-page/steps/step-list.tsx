import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { memo, useEffect, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent } from 'react'
import { stepTitle, type Step } from '@playhead/model'
import { usePlayerState, useReplay } from '../playback/replay-context.ts'
import { useCompletedSteps } from '../playback/use-previews.ts'
import { RowSlots } from './row-slots.ts'
import { RepeatRow, StepRow } from './step-row.tsx'
import { StepListBar } from './step-list-bar.tsx'
import { ROW_HEIGHT, useKeepInView, useListScroll } from './list-scroll.ts'
import type { ListRow } from './step-rows.ts'
import { createTimeScale, type TimeScale } from '../playback/time-scale.ts'
import type { StepListState } from './step-list-state.ts'
import './step-list.css'

const OVERSCAN = 14
/** Nobody scrolls by hand while scrubbing. */
const OVERSCAN_WHILE_SCRUBBING = 1

/** The steps of the session as a tree with time bars. */
export const StepList = memo(function StepList({ list }: { list: StepListState }) {
  const scroller = useRef<HTMLDivElement>(null)
  const { timeline, player } = useReplay()
  const isScrubbing = usePlayerState(({ motion }) => motion === 'scrubbing')
  const scrolling = useListScroll()
  const virtualizer = useVirtualizer({
    count: list.rows.length,
    getScrollElement: () => scroller.current,
    observeElementOffset: scrolling.observe,
    estimateSize: () => ROW_HEIGHT,
    overscan: isScrubbing ? OVERSCAN_WHILE_SCRUBBING : OVERSCAN,
  })
  const rowOfStep = (stepId: string | undefined) => {
    const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
    return position === undefined ? -1 : list.rowOf[position]!
  }
  const current = usePlayerState((state) => rowOfStep(state.stepId))
  // Read here, where the virtualizer gets its count: between this component and the next, React may begin to render another list.
  const items = virtualizer.getVirtualItems()
  useKeepInView(virtualizer, scrolling.scrollTo, () => rowOfStep(player.getState().stepId))
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      const next = Math.min(Math.max(0, current + move), list.rows.length - 1)
      const row = list.rows[next]
      if (row !== undefined) player.select(timeline.steps[row.position]!.id)
    } else if (event.key === 'Enter' && list.rows[current]?.isOpen !== undefined) {
      event.preventDefault()
      const row = list.rows[current]
      list.toggle(timeline.steps[row.position]!.id, row.type === 'repeat')
    }
  }
  return (
    <section
      className="step-list"
      aria-label="Steps"
      // Offsets get longer after the first minute.
      style={{ '--time-width': timeline.durationMs < 60_000 ? '52px' : '76px' } as CSSProperties}
    >
      <StepListBar list={list} />
      <div
        ref={scroller}
        className="step-list-scroller"
        role="tree"
        aria-label="Steps"
        tabIndex={0}
        aria-activedescendant={current >= 0 ? `row-${current}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" className="step-list-rows" style={{ height: list.rows.length * ROW_HEIGHT }}>
          <Rows list={list} items={items} current={current} isScrubbing={isScrubbing} />
        </div>
        {list.rows.length === 0 && <p className="step-list-empty">{describeEmptyList(list)}</p>}
      </div>
    </section>
  )
})

type RowsProps = {
  list: StepListState
  items: readonly VirtualItem[]
  current: number
  isScrubbing: boolean
}

function Rows({ list, items, current, isScrubbing }: RowsProps) {
  const { timeline, previews, player } = useReplay()
  const complete = useCompletedSteps()
  const scale = useRowScale()
  useEffect(() => {
    const shown = items.map(({ index }) => timeline.steps[list.rows[index]!.position]!)
    previews.want(shown, { isFlyingBy: player.getState().motion === 'scrubbing' })
  })
  const [slots] = useState(() => new RowSlots())
  const shown = items.map(({ index, start }) => {
    const row: ListRow = list.rows[index]!
    const step: Step = complete(timeline.steps[row.position]!)
    return { index, start, row, step, looks: isScrubbing ? looksOf(row, step, index - current) : '' }
  })
  const slotOf = slots.assign(shown)
  const places = [...shown.keys()]
  // React would move the elements in the document. Who reads the list finds it in order as soon as the playhead rests.
  if (isScrubbing) places.sort((left, right) => slotOf[left]! - slotOf[right]!)
  return places.map((place) => {
    const { index, start, row, step } = shown[place]!
    const shared = {
      id: `row-${index}`,
      top: start,
      row,
      step,
      scale,
      isSelected: index === current,
      onToggle: list.toggle,
    }
    return row.type === 'repeat' ? (
      <RepeatRow key={`repeat ${slotOf[place]}`} {...shared} />
    ) : (
      <StepRow
        key={slotOf[place]}
        {...shared}
        isMatch={list.matches === null || list.matches.matches[row.position] === 1}
      />
    )
  })
}

/** What rows have in common that differ only in their numbers. `distance`: from the current row. */
function looksOf({ type, depth, isOpen }: ListRow, step: Step, distance: number): string {
  return `${Math.sign(distance)} ${type} ${depth} ${isOpen ?? ''} ${step.kind} ${step.status} ${stepTitle(step)}`
}

/** 100 wide: bars are placed in percent. */
function useRowScale(): TimeScale {
  const { axis, timeline } = useReplay()
  const view = usePlayerState((state) => state.view)
  const { durationMs } = timeline
  return useMemo(
    () => createTimeScale(axis, view ?? { startMs: 0, endMs: durationMs }, 100),
    [axis, view, durationMs],
  )
}

function describeEmptyList({ text, kinds, matches }: StepListState): string {
  if (matches === null) return 'No steps were recorded.'
  if (text.trim() !== '')
    return `No steps match “${text.trim()}”${kinds.size > 0 ? ' in the selected kinds' : ''}.`
  return 'No steps of the selected kinds.'
}
