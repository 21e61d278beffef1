import { diagnoseSession, wilson, type Session } from '@playhead/model'
import { makeLongSession } from '../../packages/model/test/long-session.ts'
import { readScenarios } from '../../packages/model/test/planted-faults.ts'
import { createRandom } from '../../packages/model/test/random.ts'
import {
  faultNames,
  plantFaults,
  recordHealthy,
} from '../../packages/playhead/test/planted-faults/campaign.ts'
import { decodeTraces, formatOf } from '../../packages/server/src/ingest/http/decode-otlp.ts'
import { emitterRuns, sessionsOfRun, sessionsOfSpans } from '../../packages/server/test/emitters.ts'
import { otlpFolders, otlpRequests } from '../../packages/server/test/fixtures.ts'
import { readLabelledRuns } from '../harness/labelled-runs.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'

const SEED = 1
const RUNS_PER_AGENT = 10
const HEALTHY_SESSIONS = 1000
const LONG_SESSION_STEPS = 10_000

/** Planted faults, healthy sessions, and what findings cost in a long session. */
export async function runFindingsSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  progress.show('planting faults')
  const planted = await plantedFigures()
  progress.show('running healthy sessions')
  return {
    suite: 'findings',
    machine,
    figures: [...planted, ...(await healthyFigures(options)), ...costFigures()],
  }
}

async function plantedFigures(): Promise<Figure[]> {
  const verdicts = await plantFaults({ runs: RUNS_PER_AGENT, seed: SEED })
  const byFault = Map.groupBy(verdicts, ({ fault }) => fault)
  return [
    ...faultNames.map((fault) => share(`planted, named first: ${fault}`, byFault.get(fault)!)),
    { ...share('planted, named first: all', verdicts), target: targets.plantedFirst },
  ]
}

function share(what: string, verdicts: readonly { isNamed: boolean }[]): Figure {
  const named = verdicts.filter(({ isNamed }) => isNamed).length
  const { low, high } = wilson(named, verdicts.length)
  return {
    what,
    figure: Math.round((1000 * named) / verdicts.length) / 10,
    unit: '%',
    note: `${named} of ${verdicts.length} on two agents, 95%: ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`,
  }
}

/** Sessions that are fine must not show a suspect. */
async function healthyFigures({ data }: Options): Promise<Figure[]> {
  const recorded = [...readFixtures(), ...readHealthyScenarios()].filter(
    ({ session }) => session.endState === 'success',
  )
  const labelled = data === undefined ? [] : readLabelledRuns(data).filter(({ hasPassed }) => hasPassed)
  const others = [...recorded, ...labelled.map(({ session }) => session)]
  const generated = await recordHealthy({ count: Math.max(0, HEALTHY_SESSIONS - others.length), seed: SEED })
  const all = [...others, ...generated]
  const suspicious = all.filter((session) => diagnoseSession(session).suspects.length > 0).length
  return [
    {
      what: 'healthy sessions that show a suspect',
      figure: Math.round((1000 * suspicious) / all.length) / 10,
      unit: '%',
      target: targets.healthySuspects,
      note: `${suspicious} of ${all.length}: ${recorded.length} of fixtures and examples, ${labelled.length} labelled runs that passed, ${generated.length} of two agents with retries, empty results and polling`,
    },
  ]
}

/** One scenario rewrites its reply eight times: that is its fault. */
function readHealthyScenarios(): Session[] {
  return readScenarios().flatMap(({ name, session }) => (name === 'billing-costly' ? [] : [session]))
}

/** All fixtures, also those in which a tool fails and the agent goes on. */
function readFixtures(): Session[] {
  const emitters = emitterRuns().flatMap((run) => sessionsOfRun(run))
  const otlp = otlpFolders().flatMap((folder) =>
    sessionsOfSpans(
      otlpRequests(folder)
        .filter(({ path }) => path.endsWith('/v1/traces'))
        .flatMap(({ body, contentType }) => decodeTraces(body, formatOf(body, contentType)).items),
    ),
  )
  return [...emitters, ...otlp]
}

const ROUNDS = 9

/** Processor time, which other programs hardly affect. The first round includes compiling. */
function costFigures(): Figure[] {
  const random = createRandom(SEED)
  const session = makeLongSession(random, { steps: LONG_SESSION_STEPS, changed: 0.1 })
  return (['success', 'fail'] as const).map((endState) => {
    const ended: Session = { ...session, session: { ...session.session, endState } }
    const times = Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage()
      diagnoseSession(ended)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    })
    return {
      what: `10,000 steps, ${endState}: processor time`,
      figure: percentile(times, 0.5),
      unit: 'ms',
      target: targets.longSession,
      note: `median of ${ROUNDS}; the first one took ${Math.round(times[0]!)} ms`,
    }
  })
}
