import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  countOf,
  findOtherSession,
  oneLine,
  shortSessionId,
  stepTitle,
  testRunners,
  writeTestFiles,
  type Session,
  type SessionSummary,
} from '@playhead/model'
import { z } from 'zod'
import type { Job } from '../api/schemas/dev.ts'
import { VERSION } from '../api/version.ts'
import { writeAnswer } from './answer.ts'
import { SESSION } from './session-tools.ts'
import { defineTool, linkTo, readWhole, ToolProblem, type ToolApi } from './tool.ts'

export const makeTest = defineTool({
  name: 'make_test',
  description:
    'Writes a regression test of a session, which runs the agent again without a network. A failed session is joined with one that passed: red with the bug, green with the fix.',
  input: z.object({
    session: z.string().max(2_000).describe(SESSION),
    runner: z.enum(testRunners).default('vitest'),
  }),
  async run({ session: named, runner }, api) {
    const session = await readWhole(api, named)
    const { id, name, startedAt } = session.session
    const other = session.session.endState === 'fail' ? await findOther(session, api) : undefined
    const files = writeTestFiles(session, {
      runner,
      agent: name,
      other,
      version: VERSION,
      recordedAt: startedAt,
    })
    const short = shortSessionId(id)
    const answers = countOf(files.cassette.text.trimEnd().split('\n').length - 1, 'recorded answer')
    return writeAnswer({
      head: [
        `To write the test and its cassette (${answers}) into this project and run it:`,
        `  npx playhead to-test ${short} --runner ${runner}`,
        other === undefined
          ? session.session.endState === 'fail'
            ? 'No session of the same input has passed: add --fill to record what should happen in one live run.'
            : 'The session passed: the test holds it to what it did.'
          : `Joined with ${shortSessionId(other.session.session.id)}, ${other.why === 'fork' ? 'the fork that passed' : 'which passed with the same input'}.`,
        `${files.test.path}:`,
      ].join('\n'),
      blocks: [files.test.text.trimEnd()],
      foot: [linkTo(api, `/sessions/${id}`)],
    })
  },
})

async function findOther(failed: Session, api: ToolApi) {
  const { id, name } = failed.session
  const query = { name, status: 'success', reruns: 'exclude', limit: '100' }
  const { sessions } = await api.get<{ sessions: SessionSummary[] }>('/api/sessions', query)
  const { reruns } = await api.get<{ reruns: SessionSummary[] }>(`/api/sessions/${id}/reruns`)
  return findOtherSession(failed, sessions, reruns, (one) =>
    api.get<Session>(`/api/sessions/${one}`, { payloads: 'all' }),
  )
}

const LOOK_EVERY_MS = 500
const WAIT_MS = 45_000

/** Only for callers that are paired with a terminal: it runs the user's program, with what the terminal allows. */
export const forkSession = defineTool({
  name: 'fork_session',
  description:
    'Runs a session again up to a step, changes something there, and goes on live. Starts the agent and may cost money; writes are stubbed.',
  input: z.object({
    session: z.string().max(2_000).describe(SESSION),
    step: z.number().int().min(1).describe('Number as in #7'),
    edit: z
      .object({
        result: z.unknown().optional().describe('What the step returns'),
        args: z.unknown().optional().describe('What the action is called with'),
        system: z.string().max(100_000).optional(),
        prompt: z.string().max(100_000).optional(),
        model: z.string().max(200).optional(),
      })
      .optional(),
    times: z.number().int().min(1).max(20).default(1),
  }),
  isWrite: true,
  async run({ session: named, step: number, edit, times }, api) {
    const { session, steps } = await readWhole(api, named)
    const step = steps[number - 1]
    if (step === undefined)
      throw new ToolProblem(`There is no step ${number}: the session has ${countOf(steps.length, 'step')}.`)
    const jobId = randomUUID()
    const request = {
      jobId,
      sessionId: session.id,
      stepId: step.id,
      times,
      ...(edit !== undefined && { edit }),
    }
    const job = await waitFor(await api.post<Job>('/api/dev/jobs', request), api)
    const lines = job.lines.map(describeRun)
    return writeAnswer({
      head: `Fork of ${shortSessionId(session.id)} at step ${number}: ${job.state}.`,
      blocks: [
        oneLine(stepTitle(step), 200),
        ...lines,
        ...(job.sentence === undefined ? [] : [oneLine(job.sentence, 400)]),
        ...(lines.length > 0 ? [] : job.sessionIds.map((id) => `started ${shortSessionId(id)}`)),
      ],
      foot: [
        hasEnded(job)
          ? undefined
          : `It still runs: find its sessions with where: "parent:${shortSessionId(session.id)}".`,
        linkTo(api, `/sessions/${session.id}`, { step: step.id }),
      ],
    })
  },
})

function describeRun({ session, endState, verdict, divergence, misses }: Job['lines'][number]): string {
  const name = session === null ? 'no session' : shortSessionId(session)
  const why = [divergence?.sentence, ...misses.map(({ sentence }) => sentence)].filter(
    (one) => one !== undefined,
  )
  return [
    `${name}: ended ${endState ?? 'not'}, ${verdict}`,
    ...why.slice(0, 4).map((one) => oneLine(one, 300)),
  ].join('; ')
}

async function waitFor(started: Job, api: ToolApi): Promise<Job> {
  const endMs = Date.now() + WAIT_MS
  let job = started
  while (!hasEnded(job) && Date.now() < endMs) {
    await pause(LOOK_EVERY_MS)
    const { jobs } = await api.get<{ jobs: Job[] }>('/api/dev')
    job = jobs.find(({ jobId }) => jobId === started.jobId) ?? job
  }
  return job
}

function hasEnded({ state }: Job): boolean {
  return state === 'finished' || state === 'refused'
}
