import { ArrowDown, ArrowUp, Equal, Split } from 'lucide-react'
import { countOf, describeFirstDivergence } from '@playhead/model'
import { Button, KeyCap } from '../ui/controls/button.tsx'
import { Segments } from '../ui/controls/segments.tsx'
import type { LiveAlignment } from './pending-rows.ts'
import type { ShownRows } from './compare-search.ts'
import './divergence-bar.css'

type DivergenceBarProps = {
  alignment: LiveAlignment
  /** B is a re-run whose model was answered from the tape. */
  isFromTape: boolean
  current: number
  shown: ShownRows
  onShow: (shown: ShownRows) => void
  onJump: (direction: 1 | -1) => void
  onSelect: (row: number) => void
  canJump: (direction: 1 | -1) => boolean
}

/** Describes the first divergence, and steps through the differences. */
export function DivergenceBar(props: DivergenceBarProps) {
  const { alignment, current, shown, onShow, onJump, canJump } = props
  const differing = alignment.rows.flatMap(({ differences }, index) =>
    differences.length > 0 ? [index] : [],
  )
  const place = differing.indexOf(current)
  return (
    <div className="divergence-bar">
      <Sentence {...props} />
      <div className="divergence-tools">
        <Segments
          label="Visible rows"
          segments={[
            { value: 'all', label: 'All steps' },
            { value: 'differences', label: 'Differences' },
            { value: 'effects', label: 'Only effects', title: 'Only actions that write' },
          ]}
          value={shown}
          onChange={onShow}
        />
        <span className="dim divergence-place" role="status">
          {place < 0 ? countOf(differing.length, 'difference') : `${place + 1} of ${differing.length}`}
        </span>
        <Button
          onClick={() => onJump(-1)}
          disabled={!canJump(-1)}
          aria-keyshortcuts="p"
          aria-label="Previous difference"
        >
          <ArrowUp size={14} aria-hidden="true" />
          <KeyCap>P</KeyCap>
        </Button>
        <Button
          onClick={() => onJump(1)}
          disabled={!canJump(1)}
          aria-keyshortcuts="n"
          aria-label="Next difference"
        >
          <ArrowDown size={14} aria-hidden="true" />
          <KeyCap>N</KeyCap>
        </Button>
      </div>
    </div>
  )
}

function Sentence({ alignment, isFromTape, onSelect }: DivergenceBarProps) {
  const { divergence, effects, hasPayloads, isRunning } = alignment
  const says = describeFirstDivergence(alignment)
  const row = divergence?.row
  return (
    <div className="divergence-words">
      {says === undefined ? (
        <p className="divergence-first is-same">
          <Equal size={15} aria-hidden="true" />
          <span>
            {isRunning
              ? 'No divergence so far: the session still runs.'
              : 'No divergence: both sessions did the same.'}
          </span>
        </p>
      ) : (
        <button
          type="button"
          className="divergence-first"
          onClick={() => row !== undefined && onSelect(row)}
          disabled={row === undefined}
        >
          <Split size={15} aria-hidden="true" />
          <span>
            <b>First divergence:</b> {says}
          </span>
        </button>
      )}
      <p className="divergence-more dim">
        {describeEffects(effects.length)}
        {isFromTape && ' A matching re-run proves nothing about the model.'}
        {!hasPayloads && ' Only previews were compared: the sessions are too long to load completely.'}
      </p>
    </div>
  )
}

function describeEffects(count: number): string {
  if (count === 0) return 'Both have the same effects.'
  return `${countOf(count, 'effect')} ${count === 1 ? 'differs' : 'differ'}.`
}
