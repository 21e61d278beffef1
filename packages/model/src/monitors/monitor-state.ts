/** As Grafana's states of alerts. */
export const monitorStates = [
  'normal',
  'pending',
  'firing',
  'recovering',
  'no-data',
  'error',
  'paused',
] as const
export type MonitorStateName = (typeof monitorStates)[number]

/** What one evaluation saw. `no-data`: too few sessions to tell; `error`: the store did not answer. */
export type Observation = 'bad' | 'good' | 'no-data' | 'error' | 'paused'

type Certain = 'normal' | 'pending' | 'firing' | 'recovering'

export type MonitorState = {
  state: MonitorStateName
  /** Since when it is in this state. */
  sinceMs: number
  /** What was certain before there was no data, or an error: it goes on from there. */
  certain: Certain
  certainSinceMs: number
  /** When it began to fire; null while it does not. */
  firedAtMs: number | null
}

/** What others are told: nothing else ends in a notification. */
export type Transition = 'fired' | 'resolved'

export function newMonitorState(nowMs: number): MonitorState {
  return { state: 'normal', sinceMs: nowMs, certain: 'normal', certainSinceMs: nowMs, firedAtMs: null }
}

/**
 * The next state after an observation. Neither an error nor missing data says that something is good again: a monitor that
 * fired stays fired until `forMs` of good observations. Pausing forgets everything.
 */
export function nextMonitorState(
  before: MonitorState,
  observation: Observation,
  { nowMs, forMs }: { nowMs: number; forMs: number },
): { next: MonitorState; transition?: Transition } {
  if (observation === 'paused') {
    const next = { ...newMonitorState(nowMs), state: 'paused' as const }
    return { next: before.state === 'paused' ? before : next }
  }
  const known = before.state === 'paused' ? newMonitorState(nowMs) : before
  if (observation === 'error' || observation === 'no-data')
    return { next: known.state === observation ? known : { ...known, state: observation, sinceMs: nowMs } }
  const { certain, certainSinceMs } = decide(known, observation, nowMs, forMs)
  const wasFired = isFired(known.certain)
  const fires = isFired(certain)
  const next: MonitorState = {
    state: certain,
    sinceMs: known.state === certain ? known.sinceMs : nowMs,
    certain,
    certainSinceMs,
    firedAtMs: fires ? (known.firedAtMs ?? nowMs) : null,
  }
  if (fires === wasFired) return { next }
  return { next, transition: fires ? 'fired' : 'resolved' }
}

function isFired(state: Certain): boolean {
  return state === 'firing' || state === 'recovering'
}

function decide(
  { certain, certainSinceMs }: MonitorState,
  observation: 'bad' | 'good',
  nowMs: number,
  forMs: number,
): { certain: Certain; certainSinceMs: number } {
  const isOver = nowMs - certainSinceMs >= forMs
  const to = (state: Certain) => ({
    certain: state,
    certainSinceMs: state === certain ? certainSinceMs : nowMs,
  })
  if (observation === 'bad') {
    if (certain === 'firing' || certain === 'recovering') return to('firing')
    if (forMs === 0 || (certain === 'pending' && isOver)) return to('firing')
    return to('pending')
  }
  if (certain === 'normal' || certain === 'pending') return to('normal')
  if (forMs === 0 || (certain === 'recovering' && isOver)) return to('normal')
  return to('recovering')
}
