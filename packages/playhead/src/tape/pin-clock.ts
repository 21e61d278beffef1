import { setTrueClock } from '../record/opentelemetry/clock.ts'

/**
 * Makes `Date` begin at another time and go on from there, where `offsetMs` says so. Timers, `performance` and the times
 * of the recording stay true. Returns a function that undoes it.
 */
export function pinClock(offsetMs: () => number): () => void {
  const TrueDate = globalThis.Date
  const trueNow = TrueDate.now
  const now = () => trueNow.call(TrueDate) + offsetMs()
  const PinnedDate = new Proxy(TrueDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
    apply: (target) => new target(now()).toString(),
  })
  // Also for code that took `Date` before.
  TrueDate.now = now
  TrueDate.prototype.constructor = PinnedDate
  globalThis.Date = PinnedDate
  setTrueClock(() => trueNow.call(TrueDate))
  return () => {
    if (TrueDate.now === now) TrueDate.now = trueNow
    if (TrueDate.prototype.constructor === PinnedDate) TrueDate.prototype.constructor = TrueDate
    if (globalThis.Date === PinnedDate) globalThis.Date = TrueDate
    setTrueClock(undefined)
  }
}
