import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Corpus } from '../corpus/corpus.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import type { Progress } from '../harness/progress.ts'
import { commonWords } from '../suites/queries.ts'
import type { Report } from '../harness/report.ts'
import { RequestBodies, SPANS_PER_REQUEST } from '../corpus/request-bodies.ts'
import { collector } from './collector.ts'
import { compare, type Outcome } from './compare.ts'
import type { Contender } from './contender.ts'
import { measureContender } from './measure-contender.ts'
import { mlflow } from './mlflow.ts'
import { phoenix } from './phoenix.ts'
import { playhead } from './playhead.ts'

const SEED = 1
const MAX_BODIES = 500
const USERS = 44

/** Sends the same corpus from the same client to the tools that people would use instead. */
export async function runPeersSuite(options: Options, progress: Progress): Promise<Report> {
  const found: { contender: Contender; result: Awaited<ReturnType<Contender['prepare']>> }[] = []
  for (const contender of [playhead, phoenix, mlflow, collector])
    found.push({ contender, result: await contender.prepare(progress) })
  // Only after all installations, which would show as load.
  const machine = describeMachine()
  const outcomes: Outcome[] = []
  for (const { contender, result } of found) {
    if ('missing' in result) outcomes.push({ ...identify(contender), missing: result.missing })
    else outcomes.push(await runContender(contender, result.version, options.spans, progress))
  }
  const suite = `peers, ${options.spans.toLocaleString('en-US')} spans`
  return { suite, machine, figures: [], comparison: compare(outcomes) }
}

async function runContender(
  contender: Contender,
  version: string,
  spans: number,
  progress: Progress,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'playhead-peers-'))
  try {
    const measures = await measureContender({
      contender,
      directory: join(folder, 'data'),
      bodies: encodeBodies(spans, progress),
      subjects: { users: findUsers(), words: commonWords },
      spans,
      progress,
    })
    return { ...identify(contender), version, measures }
  } catch (error) {
    progress.end()
    console.error(error)
    return { ...identify(contender), missing: `version ${version} failed during the measurement` }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function identify({ name, acknowledgement }: Contender): Pick<Outcome, 'name' | 'acknowledgement'> {
  return { name, acknowledgement }
}

/** Encodes new bodies for each contender, so that all get the same ids. */
function encodeBodies(spans: number, progress: Progress): RequestBodies {
  return new RequestBodies({
    format: 'protobuf',
    count: Math.min(MAX_BODIES, spans / SPANS_PER_REQUEST),
    seed: SEED,
    onProgress: (share) => progress.show('encoding requests', share),
  })
}

/** The users of the sessions, in the attribute that all contenders understand. */
function findUsers(): string[] {
  const corpus = new Corpus(SEED)
  const users: string[] = []
  while (users.length < USERS) {
    const user = corpus.createSession(0)[0]!.attributes['user.id']
    if (typeof user === 'string') users.push(user)
  }
  return users
}
