import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useLayoutEffect, useRef, type CSSProperties } from 'react'
import { hasFailed, stepTitle, visibleText, type AlignedRow, type Step } from '@playhead/model'
import { KindMark } from '../session-facts/kind-mark.tsx'
import type { ShownRows } from './compare-search.ts'
import type { LiveAlignment } from './pending-rows.ts'
import { rowLook, differencePath, differenceLabel } from './row-differences.ts'
import './aligned-rows.css'

const ROW_HEIGHT = 34
const ROWS_BEYOND = 12
const DEEPEST_INDENT = 12
/** Rows that scroll out of view are reused; this is more than a screen of them. */
const ROWS_REUSED = 128

type AlignedRowsProps = {
  alignment: LiveAlignment
  /** The indexes of the visible rows. */
  visible: readonly number[]
  current: number
  onSelect: (row: number) => void
  shown: ShownRows
}

/** The steps of both sessions; matching steps share a row. */
export function AlignedRows({ alignment, visible, current, onSelect, shown }: AlignedRowsProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: visible.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: ROWS_BEYOND,
  })
  const place = visible.indexOf(current)
  const isFirst = useRef(true)
  const follow = isFirst.current ? 'center' : 'auto'
  useLayoutEffect(() => {
    if (place >= 0) virtualizer.scrollToIndex(place, { align: follow })
  }, [place, virtualizer])
  useEffect(() => {
    isFirst.current = false
  }, [])
  return (
    <section className="aligned" aria-label="Steps of both sessions">
      <div
        ref={scroller}
        className="aligned-scroller"
        role="listbox"
        aria-label="Aligned steps"
        tabIndex={0}
        aria-activedescendant={place >= 0 ? `aligned-${current}` : undefined}
      >
        <div className="aligned-rows" role="presentation" style={{ height: visible.length * ROW_HEIGHT }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const position = visible[index]!
            return (
              <RowView
                key={index % ROWS_REUSED}
                row={alignment.rows[position]!}
                position={position}
                top={start}
                isSelected={position === current}
                isDivergence={position === alignment.divergence?.row}
                isPending={alignment.pending.has(position)}
                onSelect={onSelect}
              />
            )
          })}
        </div>
        {visible.length === 0 && (
          <p className="aligned-none dim">
            {shown === 'effects'
              ? 'Neither session has an effect. Mark actions that write: recordAction({ name, effect: "write" }, …).'
              : 'No differences.'}
          </p>
        )}
      </div>
    </section>
  )
}

type RowViewProps = {
  row: AlignedRow
  position: number
  top: number
  isSelected: boolean
  isDivergence: boolean
  isPending: boolean
  onSelect: (row: number) => void
}

const RowView = memo(function RowView({
  row,
  position,
  top,
  isSelected,
  isDivergence,
  isPending,
  onSelect,
}: RowViewProps) {
  const words = differenceLabel(row)
  const path = differencePath(row)
  const className = [
    'aligned-row',
    `is-${isPending ? 'pending' : rowLook(row)}`,
    isSelected && 'is-selected',
    isDivergence && 'is-divergence',
  ]
  return (
    // The page handles the keys.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={`aligned-${position}`}
      role="option"
      aria-selected={isSelected}
      className={className.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(position)}
    >
      <Cell step={row.a} number={row.aNumber} depth={row.depth} />
      <span className="aligned-middle" title={path}>
        {isDivergence ? (
          <b>first divergence</b>
        ) : isPending ? (
          'not yet'
        ) : words === undefined ? (
          <span className="aligned-equal">{row.isReordered === true ? 'reordered' : '='}</span>
        ) : (
          words
        )}
      </span>
      <Cell step={row.b} number={row.bNumber} depth={row.depth} />
    </div>
  )
})

type CellProps = { step: Step | undefined; number: number | undefined; depth: number }

function Cell({ step, number, depth }: CellProps) {
  if (step === undefined) return <span className="aligned-cell is-empty" aria-hidden="true" />
  const isBad = hasFailed(step)
  return (
    <span className="aligned-cell">
      <span className="aligned-number">{number}</span>
      <span
        className="aligned-indent"
        style={{ '--depth': Math.min(depth, DEEPEST_INDENT) } as CSSProperties}
      />
      <KindMark kind={step.kind} isBad={isBad} />
      <span className={isBad ? 'aligned-name is-bad' : 'aligned-name'}>{visibleText(stepTitle(step))}</span>
      {step.effect === 'write' && <span className="aligned-write">write</span>}
      <span className="aligned-preview">{visibleText(previewOf(step))}</span>
    </span>
  )
}

function previewOf({ kind, inputPreview, outputPreview, error }: Step): string {
  if (error !== undefined) return error.message
  if (kind === 'llm') return outputPreview ?? inputPreview ?? ''
  const result = outputPreview === undefined ? undefined : `→ ${outputPreview}`
  return [inputPreview, result].filter((part) => part !== undefined).join(' ')
}
