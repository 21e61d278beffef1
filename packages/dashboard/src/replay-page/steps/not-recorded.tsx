import { useReplay } from '../playback/replay-context.ts'

/** Stands where there is no input or output. */
export function NotRecorded() {
  return <p className="dim">{useReplay().isContentLeftOut ? 'Left out' : 'Not recorded'}</p>
}
