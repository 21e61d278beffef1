import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { formatOffset, ownsError, stepTitle, visibleText } from '@playhead/model'
import { useReplay } from './playback/replay-context.ts'
import { durationOf, errorLine, previewOf } from './steps/step-text.ts'
import { kindLooks } from '../session-facts/kind-mark.tsx'
import './printed-replay.css'

const STEPS_PRINTED = 1_000

/** The step list for printing: the one on screen renders only the visible rows. */
export function PrintedReplay() {
  const [isPrinting, setIsPrinting] = useState(false)
  useLoadingForPrint()
  useEffect(() => {
    const onBefore = () => flushSync(() => setIsPrinting(true))
    const onAfter = () => setIsPrinting(false)
    const media = matchMedia('print')
    const onMedia = () => setIsPrinting(media.matches)
    addEventListener('beforeprint', onBefore)
    addEventListener('afterprint', onAfter)
    media.addEventListener('change', onMedia)
    return () => {
      removeEventListener('beforeprint', onBefore)
      removeEventListener('afterprint', onAfter)
      media.removeEventListener('change', onMedia)
    }
  }, [])
  return isPrinting ? <PrintedSteps /> : null
}

const IDLE_MS = 2_000

/** The browser does not wait with printing, so what a long session lacks is loaded before, when nothing else is. */
function useLoadingForPrint(): void {
  const { timeline, previews } = useReplay()
  useEffect(() => {
    const timer = setTimeout(() => {
      const positions = timeline.treeOrder.subarray(0, STEPS_PRINTED)
      void previews.load(Array.from(positions, (position) => timeline.steps[position]!))
    }, IDLE_MS)
    return () => clearTimeout(timer)
  }, [timeline.treeOrder, previews])
}

function PrintedSteps() {
  const { timeline, previews } = useReplay()
  const positions = [...timeline.treeOrder.subarray(0, STEPS_PRINTED)]
  const left = timeline.steps.length - positions.length
  return (
    <table className="printed-steps">
      <caption>Steps</caption>
      <tbody>
        {positions.map((position) => {
          const step = previews.of(timeline.steps[position]!)
          return (
            <tr key={step.id} className={ownsError(step) ? 'is-bad' : undefined}>
              <td className="mono">{formatOffset(step.offsetMs)}</td>
              <td style={{ paddingLeft: 6 + Math.min(timeline.depths[position]!, 12) * 12 }}>
                <b>{visibleText(stepTitle(step))}</b> {kindLooks[step.kind].word}
                <div>
                  {visibleText(
                    ownsError(step) && step.error !== undefined ? errorLine(step.error) : previewOf(step),
                  ).slice(0, 200)}
                </div>
              </td>
              <td>{durationOf(step)}</td>
            </tr>
          )
        })}
        {left > 0 && (
          <tr>
            <td colSpan={3}>{left} more steps not printed</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}
