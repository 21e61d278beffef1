import { countOf } from '../format/format-number.ts'
import { formatDuration } from '../format/format-time.ts'
import { modelReply } from './step-input-output.ts'
import type { Step } from './step.ts'

/** How far an aborted stream got; undefined for a step whose stream was not aborted. */
export function describeAbort(step: Step): string | undefined {
  if (step.streaming?.isAborted !== true) return undefined
  const after = step.durationMs === null ? '' : ` after ${formatDuration(step.durationMs)}`
  const arrived = describeArrived(step)
  return `Stream aborted${after}${arrived === undefined ? '' : `: ${arrived}`}`
}

function describeArrived(step: Step): string | undefined {
  const chunks = step.streaming?.chunks ?? []
  const text = chunks.length > 0 ? chunks.map(([, piece]) => piece).join('') : modelReply(step).text
  const last = chunks.at(-1)
  if (text === '') return step.hasPayload ? 'no text had arrived' : undefined
  const count = countOf(Array.from(text).length, 'character')
  return `${count} had arrived${last === undefined ? '' : `, the last at ${formatDuration(last[0])}`}`
}
