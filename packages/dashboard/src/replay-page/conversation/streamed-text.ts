import type { Step } from '@playhead/model'

export type StreamedText = {
  /** What had arrived. */
  arrived: string
  /** What was still to come. */
  ahead: string
}

/** How many pieces of a streamed answer were there at a moment; undefined when its rhythm was not recorded. */
export function countArrived(step: Step, timeMs: number): number | undefined {
  const chunks = step.streaming?.chunks
  if (chunks === undefined || chunks.length === 0) return undefined
  const sinceStartMs = timeMs - step.offsetMs
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (chunks[middle]![0] <= sinceStartMs) low = middle + 1
    else high = middle
  }
  return low
}

export function splitStream(step: Step, arrivedCount: number): StreamedText {
  const texts = (step.streaming?.chunks ?? []).map(([, text]) => text)
  return { arrived: texts.slice(0, arrivedCount).join(''), ahead: texts.slice(arrivedCount).join('') }
}
