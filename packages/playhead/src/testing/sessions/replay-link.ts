import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SessionSummary } from '@playhead/model'

/** Where people look at the session: its replay on the server, else in the report, else its recording. */
export function replayLink({ id, url }: Pick<SessionSummary, 'id' | 'url'>, stepId?: string): string {
  if (url !== undefined && /^https?:/.test(url))
    return stepId === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}step=${stepId}`
  const report = process.env.PLAYHEAD_REPORT
  if (report !== undefined && report !== '')
    return `${report}#session=${id}${stepId === undefined ? '' : `&step=${stepId}`}`
  if (url?.startsWith('file:') === true) return `npx playhead show ${shortPath(fileURLToPath(url))}`
  return ''
}

/** The line that ends a failure; empty when there is nothing to look at. */
export function replayLine(session: Pick<SessionSummary, 'id' | 'url'>, stepId?: string): string {
  const link = replayLink(session, stepId)
  return link === '' ? '' : `\n\nReplay: ${link}`
}

function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : fromHere
}
