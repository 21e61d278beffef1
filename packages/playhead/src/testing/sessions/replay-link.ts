import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SessionSummary } from '@playhead/model'

/** Where to see the session: its replay on the server, otherwise in the report, otherwise the command that shows its recording. */
export function replayLink({ id, url }: Pick<SessionSummary, 'id' | 'url'>, stepId?: string): string {
  if (url !== undefined && /^https?:/.test(url)) return stepUrl(url, stepId)
  const report = process.env.PLAYHEAD_REPORT
  if (report !== undefined && report !== '')
    return `${report}#session=${id}${stepId === undefined ? '' : `&step=${stepId}`}`
  if (url?.startsWith('file:') === true) return `npx playhead show ${shortPath(fileURLToPath(url))}`
  return ''
}

/** The address of a replay on the server, opened at a step. */
export function stepUrl(url: string, stepId: string | undefined): string {
  return stepId === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}step=${stepId}`
}

/** The last line of a failure message; empty when there is no replay. */
export function replayLine(session: Pick<SessionSummary, 'id' | 'url'>, stepId?: string): string {
  const link = replayLink(session, stepId)
  return link === '' ? '' : `\n\nReplay: ${link}`
}

function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : fromHere
}
