import { formatCost, formatCount, formatOffset, stepTitle, visibleText } from '@playhead/model'
import { contextAt, runningPath } from '../playback/playhead-state.ts'
import type { PlayerState } from '../playback/player.ts'
import { usePlayerState, useReplay, type Replay } from '../playback/replay-context.ts'
import { spentAt } from '../playback/running-totals.ts'
import './state-bar.css'

const MAX_DEPTH = 4

/** The state at the playhead: tokens and cost so far, use of the context window, and the running steps. */
export function StateBar() {
  const replay = useReplay()
  const at = usePlayerState(({ positionMs }) => formatOffset(positionMs))
  // Strings compare by value, so each part re-renders only when its text changes.
  const tokens = usePlayerState((state) => describeTokens(replay, state))
  const cost = usePlayerState((state) => describeCost(replay, state))
  const context = usePlayerState((state) => describeContext(replay, state))
  const path = usePlayerState((state) => describePath(replay, state))
  return (
    <footer className="state-bar" aria-label="State at the playhead">
      <span className="state-at">
        at <b className="mono">{at}</b>
      </span>
      {tokens !== '' && (
        <span>
          <span className="state-word">tokens </span>
          {emphasise(tokens)}
        </span>
      )}
      {cost !== '' && <span>cost {emphasise(cost)}</span>}
      {context !== '' && <span>context {emphasise(context)}</span>}
      <span className="state-path">
        {path === '' ? (
          'idle'
        ) : (
          <>
            running <b>{path}</b>
          </>
        )}
      </span>
      <span className="state-keys" aria-hidden="true">
        Space play · ← → step · E error · ? shortcuts
      </span>
    </footer>
  )
}

/** Text between asterisks becomes bold. */
function emphasise(text: string) {
  return text.split('*').map((part, index) => (index % 2 === 1 ? <b key={index}>{part}</b> : part))
}

function describeTokens({ totals }: Replay, { positionMs }: PlayerState): string {
  const { inputTokens, outputTokens } = spentAt(totals, positionMs)
  if (totals.atMs.length === 0) return ''
  return `*${formatCount(inputTokens ?? 0)}* in · *${formatCount(outputTokens ?? 0)}* out`
}

function describeCost({ totals }: Replay, { positionMs }: PlayerState): string {
  const { cost, isCostIncomplete } = spentAt(totals, positionMs)
  if (!totals.hasCost) return isCostIncomplete ? 'unknown' : ''
  return `*${formatCost(cost ?? 0)}*${isCostIncomplete ? ' + unknown' : ''}`
}

function describeContext({ timeline, llmCalls }: Replay, { positionMs }: PlayerState): string {
  const use = contextAt(timeline, llmCalls, positionMs)
  if (use === undefined) return ''
  const percent = (use.tokens / use.windowTokens) * 100
  return `*${percent < 10 ? percent.toFixed(1) : Math.round(percent)}%* of ${formatCount(use.windowTokens)}`
}

function describePath({ timeline }: Replay, { positionMs }: PlayerState): string {
  const names = runningPath(timeline, positionMs).map((position) =>
    visibleText(stepTitle(timeline.steps[position]!)),
  )
  const shown = names.length > MAX_DEPTH ? [names[0]!, '…', ...names.slice(-(MAX_DEPTH - 1))] : names
  return shown.join(' › ')
}
