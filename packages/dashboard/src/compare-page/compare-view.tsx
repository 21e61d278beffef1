import { useEffect, useMemo, useState } from 'react'
import { Splitter } from '../ui/controls/splitter.tsx'
import { NARROW, useMediaQuery } from '../ui/browser/use-media-query.ts'
import { AlignedRows } from './aligned-rows.tsx'
import { CompareHeader } from './compare-header.tsx'
import { readShown, type CompareSearch, type ShownRows } from './compare-search.ts'
import { DivergenceBar } from './divergence-bar.tsx'
import { LinkedTimelines } from './linked-timelines.tsx'
import { RowDetail } from './row-detail.tsx'
import { lastReachedRow, type LiveAlignment } from './pending-rows.ts'
import type { Comparison } from './use-comparison.ts'
import { nextDifference, openingRow, rowOfStep, visibleRows } from './visible-rows.ts'
import './compare-view.css'

type CompareViewProps = {
  comparison: Comparison
  search: CompareSearch
  onChange: (change: CompareSearch) => void
}

/** The comparison of two loaded sessions. The current row is the playhead of both. */
export function CompareView({ comparison, search, onChange }: CompareViewProps) {
  const { alignment } = comparison
  const shown = readShown(search.show)
  const visible = useMemo(() => visibleRows(alignment, shown), [alignment, shown])
  const isShown = useMemo(() => new Set(visible), [visible])
  const { current, select, isPicked } = useCurrentRow(alignment, search.step)
  const isNarrow = useMediaQuery(NARROW)
  const jump = (direction: 1 | -1) => {
    const next = nextDifference(alignment, current, direction, isShown)
    if (next !== undefined) select(next)
  }
  const step = (direction: 1 | -1) => {
    const next = visible.findLast((row) => row < current)
    const after = visible.find((row) => row > current)
    const to = direction === 1 ? after : next
    if (to !== undefined) select(to)
  }
  useCompareKeys({ jump, step })
  useStepInAddress(alignment, isPicked ? current : undefined, search.step, onChange)
  const rows = (
    <AlignedRows alignment={alignment} visible={visible} current={current} onSelect={select} shown={shown} />
  )
  const detail = <RowDetail comparison={comparison} row={current} />
  return (
    <div className="compare">
      <CompareHeader comparison={comparison} />
      <DivergenceBar
        alignment={alignment}
        isFromTape={comparison.b.session.lane === 'tape'}
        current={current}
        shown={shown}
        onShow={(show: ShownRows) => onChange({ show: show === 'all' ? '' : show })}
        onJump={jump}
        onSelect={select}
        canJump={(direction) => nextDifference(alignment, current, direction, isShown) !== undefined}
      />
      <LinkedTimelines comparison={comparison} current={current} onSelect={select} />
      {isNarrow ? (
        <div className="compare-stack">
          {rows}
          {detail}
        </div>
      ) : (
        <div className="compare-body">
          <Splitter name="compare" label="Resize panes" initial={60} left={rows} right={detail} />
        </div>
      )}
    </div>
  )
}

/** A running comparison follows its last row until a row is selected. Rows move while it runs, so the step is kept. */
function useCurrentRow(alignment: LiveAlignment, initialStepId: string | undefined) {
  const [stepId, setStepId] = useState(initialStepId)
  const picked = rowOfStep(alignment, stepId)
  const select = (row: number) => {
    const { a, b } = alignment.rows[row]!
    setStepId((b ?? a)?.id)
  }
  const automatic = alignment.isRunning ? lastReachedRow(alignment) : openingRow(alignment)
  return { current: picked ?? automatic, select, isPicked: picked !== undefined }
}

type Keys = { jump: (direction: 1 | -1) => void; step: (direction: 1 | -1) => void }

/** n and p go to the next and previous difference; arrows, j and k to the next and previous row. */
function useCompareKeys({ jump, step }: Keys): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as Element | null
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (target?.closest('input, textarea, select, [role=radiogroup], [role=separator]') != null) return
      const work = {
        n: () => jump(1),
        p: () => jump(-1),
        j: () => step(1),
        k: () => step(-1),
        ArrowDown: () => step(1),
        ArrowUp: () => step(-1),
        ArrowRight: () => step(1),
        ArrowLeft: () => step(-1),
      }[event.key]
      if (work === undefined) return
      event.preventDefault()
      work()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [jump, step])
}

const WRITE_DELAY_MS = 250

/** Writes the current step to the address after a short delay; the initial row is left out. */
function useStepInAddress(
  alignment: LiveAlignment,
  picked: number | undefined,
  known: string | undefined,
  onChange: (change: CompareSearch) => void,
): void {
  const row = picked === undefined ? undefined : alignment.rows[picked]
  const stepId = picked === openingRow(alignment) ? '' : ((row?.b ?? row?.a)?.id ?? '')
  useEffect(() => {
    if ((known ?? '') === stepId) return
    const timer = setTimeout(() => onChange({ step: stepId }), WRITE_DELAY_MS)
    return () => clearTimeout(timer)
  }, [stepId, known, onChange])
}
