import {
  describeMissingCost,
  formatCost,
  formatCount,
  formatDuration,
  totalTokens,
  type SessionSummary,
  type Usage,
} from '@playhead/model'

const SMALLEST_SHOWN = 0.0001

/** As `formatCost`, but short enough for a table: less than a hundredth of a cent is "<$0.0001". */
export function formatShortCost(dollars: number): string {
  return dollars > 0 && dollars < SMALLEST_SHOWN ? `<$${SMALLEST_SHOWN}` : formatCost(dollars)
}

/** A dash for a number that is unknown, with the reason; unknown is never shown as 0. */
export function Unknown({ why }: { why: string }) {
  return (
    <span className="dim" title={why}>
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">{why}</span>
    </span>
  )
}

export function Tokens({ usage }: { usage: Usage }) {
  const total = totalTokens(usage)
  if (total === undefined) return <Unknown why="Tokens not reported" />
  const parts = [
    usage.input !== undefined && `${usage.input.toLocaleString('en')} in`,
    usage.output !== undefined && `${usage.output.toLocaleString('en')} out`,
    usage.cacheRead !== undefined && `${usage.cacheRead.toLocaleString('en')} read from cache`,
  ]
  return <span title={parts.filter(Boolean).join(' · ')}>{formatCount(total)}</span>
}

export function Cost({
  cost,
  unpricedModels = [],
  modelsWithoutUsage,
  modelsWithoutOutput,
}: Pick<SessionSummary, 'cost' | 'modelsWithoutUsage' | 'modelsWithoutOutput'> & {
  unpricedModels?: string[]
}) {
  const reason = describeMissingCost({
    unpricedModels,
    ...(modelsWithoutUsage !== undefined && { modelsWithoutUsage }),
    ...(modelsWithoutOutput !== undefined && { modelsWithoutOutput }),
  })
  const missing = reason === undefined ? undefined : `${reason[0]!.toUpperCase()}${reason.slice(1)}`
  if (cost === null) return <Unknown why={missing ?? 'No model calls to price'} />
  return (
    <span title={missing === undefined ? `$${cost}` : `$${cost}; ${missing}`}>
      {formatShortCost(cost)}
      {missing !== undefined && (
        <>
          <span aria-hidden="true" className="dim">
            +?
          </span>
          <span className="visually-hidden">, {missing}</span>
        </>
      )}
    </span>
  )
}

export function Duration({ durationMs }: { durationMs: number | null }) {
  return durationMs === null ? <Unknown why="Still running" /> : <span>{formatDuration(durationMs)}</span>
}
