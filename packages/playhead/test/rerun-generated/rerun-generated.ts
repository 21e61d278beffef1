import { alignSessions, describeFirstDivergence, findTapeGaps, type Session } from '@playhead/model'
import { startScriptedModel } from '@playhead/scripted-model'
import { fileURLToPath } from 'node:url'
import { startTestServer } from '../../../server/test/test-server.ts'
import * as playhead from '../../src/index.ts'
import { withTape } from '../../src/record/session/active-tape.ts'
import { requireRecorder } from '../../src/record/session/active-recorder.ts'
import { runInChild } from '../../src/rerun/run-child.ts'
import { createRunTape } from '../../src/tape/run-tape.ts'
import { runPlan, script, type PlanInput } from './agent.ts'
import { makePlan, type Plan } from './plan.ts'

/** How a session ended when it ran again from its tape. Every one that is not the same has a reason. */
export type Verdict = { plan: Plan; steps: number; isSame: boolean; reason?: string }

export type GeneratedOptions = {
  sessions: number
  seed: number
  /** In this process, or each in a process of its own behind a wall, as `playhead rerun` does. */
  place: 'process' | 'child'
  onProgress?: (line: string) => void
}

/** Records, reads and runs sessions at the same time. */
const PARALLEL = 4
const PARALLEL_CHILDREN = 2

/**
 * Records generated agents into a server, with real clients and a scripted model; then stops the model, and runs each
 * stored session again from its tape.
 */
export async function rerunGenerated({
  sessions,
  seed,
  place,
  onProgress,
}: GeneratedOptions): Promise<Verdict[]> {
  const server = await startTestServer()
  playhead.init({ endpoint: server.url })
  const indexes = Array.from({ length: sessions }, (_, index) => index)
  const plans = indexes.map((index) => makePlan(seed, index))
  const model = await startScriptedModel(script(plans))
  try {
    const input = (index: number) => ({ seed, index, url: model.url })
    const ids = await inParallel(PARALLEL, indexes, (index) => runPlan(plans[index]!, input(index)))
    await playhead.flush()
    await model.stop()
    onProgress?.(`recorded ${sessions} sessions with ${model.requests.length} model calls`)
    const parents = await inParallel(PARALLEL, ids, (id) => server.session(id))
    const rerun = place === 'child' ? rerunInChild : rerunHere
    return await inParallel(place === 'child' ? PARALLEL_CHILDREN : PARALLEL, indexes, async (index) => {
      const [parent, plan] = [parents[index]!, plans[index]!]
      const reason = await rerun(parent, plan, input(index))
      const verdict = { plan, steps: parent.steps.length, isSame: reason === undefined }
      if ((index + 1) % 20 === 0) onProgress?.(`ran ${index + 1} again`)
      return reason === undefined ? verdict : { ...verdict, reason }
    })
  } finally {
    await playhead.shutdown()
    await server.stop()
  }
}

/** Why the run was not the same; undefined if it was. */
async function rerunHere(parent: Session, plan: Plan, input: PlanInput): Promise<string | undefined> {
  const recorder = requireRecorder('rerun')!
  const { serializeOptions, redactor } = recorder
  const tape = createRunTape({
    parent,
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
    allowWrites: [],
    agent: {},
    content: () => ({
      content: true,
      redactText: (text: string) => redactor.text(text, ''),
      isSecretKey: serializeOptions.isSecretKey,
      maxValueBytes: serializeOptions.maxLength,
    }),
  })
  const outcome = await withTape(tape, () => runPlan(plan, input)).then(
    (id) => ({ id }),
    (error: unknown) => ({ error: String(error) }),
  )
  const gap = findTapeGaps(parent)[0]?.sentence
  if ('error' in outcome) return gap ?? tape.misses[0]?.sentence ?? outcome.error
  const again = recorder.readSession(recorder.findRecord(outcome.id)!, { isPriced: true })
  const divergence = describeFirstDivergence(alignSessions(parent, again))
  if (divergence === undefined && tape.misses.length === 0) return undefined
  return gap ?? tape.misses[0]?.sentence ?? divergence
}

const configFile = fileURLToPath(new URL('playhead.config.ts', import.meta.url))

async function rerunInChild(parent: Session): Promise<string | undefined> {
  const line = await runInChild({
    configFile,
    agent: 'generated',
    parent,
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
    allowWrites: [],
  })
  if (line.verdict === 'same') return undefined
  const gap = findTapeGaps(parent)[0]?.sentence
  return gap ?? line.misses[0]?.sentence ?? line.divergence?.sentence ?? line.reason ?? 'no reason'
}

async function inParallel<Item, Result>(
  count: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next
      next += 1
      results[index] = await work(items[index]!)
    }
  }
  await Promise.all(Array.from({ length: count }, worker))
  return results
}
