import { countOf, formatDuration } from '@playhead/model'

/** A session that shows why a monitor fires. */
export type AlertSession = {
  /** What people called it. */
  name: string
  /** Opens the replay at the failing step. */
  url: string
  /** The step that probably made it go wrong, and what kind of finding blames it. */
  suspect?: { step: string; finding: string }
  /** What was written in it, for destinations that ask for it: why, the suspect's sentence, the input. */
  text?: string[]
}

const noteSentences = {
  paused: 'The monitor was paused while it fired.',
  deleted: 'The monitor was deleted while it fired.',
  redirected: 'The monitor still fires, but tells other destinations now.',
}

/** What is said about one monitor. */
export type Alert = {
  monitorId: string
  name: string
  status: 'firing' | 'resolved'
  /** What it watches, in words. */
  sentence: string
  /** How bad it is: the figure of the last evaluation. */
  value: string | null
  firedAtMs: number
  /** Null while it fires. */
  resolvedAtMs: number | null
  /** Why it no longer fires, if that says nothing about sessions. */
  note?: keyof typeof noteSentences
  sessions: AlertSession[]
  /** The page of the monitors. */
  url: string
}

/** What a message says, before it gets the form of its destination. */
export type Notification = {
  project: string
  atMs: number
  isTest?: true
  isRepeat?: true
  alerts: Alert[]
}

/** More are counted, not listed: a message is read by people. */
export const MOST_LISTED = 20

/** "Firing: Failures", "Resolved: Failures", "2 monitors fire, 1 was resolved". */
export function titleOf({ alerts, isTest }: Notification): string {
  if (isTest === true) return 'Test message from Playhead'
  const [only] = alerts
  if (alerts.length === 1 && only !== undefined)
    return `${only.status === 'firing' ? 'Firing' : 'Resolved'}: ${only.name}`
  const firing = alerts.filter(({ status }) => status === 'firing').length
  const resolved = alerts.length - firing
  const parts = [
    firing > 0 && `${countOf(firing, 'monitor')} ${firing === 1 ? 'fires' : 'fire'}`,
    resolved > 0 &&
      `${firing > 0 ? resolved : countOf(resolved, 'monitor')} ${resolved === 1 ? 'was' : 'were'} resolved`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** What, how bad, since when: "the failure rate over 1h is above 5%. Now 34%, since 2026-11-18 05:12 UTC (23m)." */
export function describeAlert(alert: Alert, atMs: number): string {
  const { status, sentence, value, firedAtMs, resolvedAtMs, note } = alert
  const what = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
  const since = `${timeOf(firedAtMs)} (${formatDuration(Math.max(0, (resolvedAtMs ?? atMs) - firedAtMs))})`
  if (status === 'firing') return `${what} ${value === null ? 'Firing' : `Now ${value},`} since ${since}.`
  const ended =
    note === undefined
      ? `It was resolved at ${timeOf(resolvedAtMs ?? atMs)}; it fired since ${since}.`
      : `${noteSentences[note]} It fired since ${since}.`
  return `${what} ${ended}`
}

/** "checkout: charge_card, bad argument". */
export function describeSession({ name, suspect }: AlertSession): string {
  return suspect === undefined ? name : `${name}: ${suspect.step}, ${suspect.finding}`
}

export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
