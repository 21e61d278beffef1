import type { Interval } from '@playhead/model'
import { formatShare } from '../ui/charts/format-share.ts'
import './pass-rate.css'

type PassRateProps = { passed: number; decided: number; interval: Interval }

/** How often it passes, and between which shares the truth lies: few runs leave a wide band. */
export function PassRate({ passed, decided, interval }: PassRateProps) {
  if (decided === 0) return <span className="dim">none ended</span>
  const [low, high] = [Math.round(interval.low * 100), Math.round(interval.high * 100)]
  const rate = passed / decided
  return (
    <span
      className="pass-rate"
      title={`${passed} of ${decided} passed; with 95 % confidence it passes ${low} to ${high} % of the time`}
    >
      <span className="pass-numbers">
        <strong className={passed === decided ? 'is-good' : 'is-bad'}>{formatShare(rate)}</strong>
        <span className="dim">
          {passed}/{decided}
        </span>
      </span>
      <span className="pass-band" aria-hidden="true">
        <span style={{ left: `${interval.low * 100}%`, width: `${(interval.high - interval.low) * 100}%` }} />
        <i style={{ left: `${rate * 100}%` }} />
      </span>
      <span className="pass-interval">
        {low}–{high} %
      </span>
    </span>
  )
}
