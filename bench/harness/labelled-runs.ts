import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Session } from '@playhead/model'
import { decodeTraces } from '../../packages/server/src/ingest/http/decode-otlp.ts'
import { sessionsOfSpans } from '../../packages/server/test/emitters.ts'

/** What people found out about a run. Steps are counted from 0. */
type Truth = {
  dataset?: string
  split?: string
  file: string
  passed?: boolean
  mistake_step?: number
  mistake_agent?: string
  /** The spans of each step, and who took it. */
  steps: string[][]
  step_agents: string[]
}

/** A recorded run with its label; `label` is undefined for runs that passed and for runs that nobody looked at. */
export type LabelledRun = {
  traceId: string
  /** The data set and its part: "agentrx, tau-retail". */
  set: string
  session: Session
  hasPassed: boolean
  label: { step: number; agent: string } | undefined
  stepOf: ReadonlyMap<string, number>
  agents: readonly string[]
}

/**
 * Reads every folder with a `truth.json` (trace id → truth) and the OTLP/JSON requests that it names, the way the server
 * does.
 */
export function readLabelledRuns(folder: string): LabelledRun[] {
  const root = resolve(folder)
  const folders = [
    root,
    ...readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [join(root, entry.name)] : [],
    ),
  ]
  const found = folders.filter((candidate) => existsSync(join(candidate, 'truth.json')))
  if (found.length === 0)
    throw new Error(
      `${root} has no folder with a truth.json. docs/findings.md says where the data comes from.`,
    )
  return found.flatMap(readFolder)
}

function readFolder(folder: string): LabelledRun[] {
  const truths = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Record<string, Truth>
  return Object.entries(truths).flatMap(([traceId, truth]) => {
    const { items } = decodeTraces(readFileSync(join(folder, truth.file)), 'json')
    const session = sessionsOfSpans(items).find((candidate) => candidate.session.id === traceId)
    return session === undefined ? [] : [toRun(traceId, truth, session)]
  })
}

function toRun(traceId: string, truth: Truth, session: Session): LabelledRun {
  const hasPassed = truth.passed === true
  const { mistake_step: step, step_agents: agents } = truth
  return {
    traceId,
    set: [truth.dataset, truth.split].filter((name) => name !== undefined).join(', '),
    // The wire does not say how a run was judged afterwards.
    session: { ...session, session: { ...session.session, endState: hasPassed ? 'success' : 'fail' } },
    hasPassed,
    label:
      step === undefined || hasPassed
        ? undefined
        : { step, agent: agents[step] ?? truth.mistake_agent ?? '' },
    stepOf: new Map(truth.steps.flatMap((ids, index) => ids.map((id) => [id, index] as const))),
    agents,
  }
}
