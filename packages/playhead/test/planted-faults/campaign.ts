import { diagnoseSession, type Session, type Step } from '@playhead/model'
import { startScriptedModel } from '@playhead/scripted-model'
import { createRandom } from '../../../model/test/random.ts'
import * as playhead from '../../src/index.ts'
import { makeEpisode, type Episode } from './episode.ts'
import { checkedFaults, faults, type FaultName, type Truth } from './plant-fault.ts'
import { runEpisode, scriptOf } from './run-episode.ts'

/** What was named first for a planted fault. */
export type Verdict = {
  fault: FaultName
  agent: Episode['agent']
  isNamed: boolean
  expected: string
  named: string
}

export const faultNames = Object.keys(faults) as FaultName[]
const agents = ['order desk', 'travel planner'] as const

type Run = {
  key: string
  episode: Episode
  fault?: FaultName
  truth?: Truth
  hasFailed: boolean
  sibling?: string
}

/** Plants each fault `runs` times into each agent, and tells whether the first suspect is the step with the fault. */
export async function plantFaults({ runs, seed }: { runs: number; seed: number }): Promise<Verdict[]> {
  const planned = faultNames.flatMap((fault, kind) =>
    agents.flatMap((agent, which) =>
      Array.from({ length: runs }, (_, index) =>
        planFault(fault, agent, seed + kind * 7919 + which * 104_729 + index),
      ).flat(),
    ),
  )
  const sessions = await record(planned)
  return planned.flatMap(({ key, fault, truth, episode, sibling }) => {
    if (fault === undefined || truth === undefined) return []
    const session = sessions.get(key)!
    const found = diagnoseSession(session, {
      sibling: sibling === undefined ? undefined : sessions.get(sibling),
    })
    const expected = stepAt(session, truth)
    return [
      {
        fault,
        agent: episode.agent,
        isNamed: expected !== undefined && found.suspects[0]?.stepId === expected.id,
        expected: expected === undefined ? 'no step' : `${expected.kind} ${expected.name}`,
        named: found.suspects[0]?.sentence ?? 'nobody',
      },
    ]
  })
}

/** Runs healthy episodes. */
export async function recordHealthy({ count, seed }: { count: number; seed: number }): Promise<Session[]> {
  const planned = Array.from({ length: count }, (_, index): Run => {
    const random = createRandom(seed + 31 * index)
    return { key: `healthy ${index}`, episode: makeEpisode(agents[index % 2]!, random), hasFailed: false }
  })
  return [...(await record(planned)).values()]
}

function planFault(fault: FaultName, agent: Episode['agent'], seed: number): Run[] {
  const random = createRandom(seed)
  const episode = makeEpisode(agent, random)
  const key = `${fault} ${agent} ${seed}`
  const healthy = structuredClone(episode)
  const truth = faults[fault](episode, random)
  // Half of the runs are known to have failed; the others must be found out.
  const hasFailed = checkedFaults.has(fault) || random.chance(0.5)
  if (!checkedFaults.has(fault)) return [{ key, episode, fault, truth, hasFailed }]
  const sibling = `${key} passed`
  return [
    { key: sibling, episode: healthy, hasFailed: false },
    { key, episode, fault, truth, hasFailed, sibling },
  ]
}

async function record(planned: readonly Run[]): Promise<Map<string, Session>> {
  playhead.init({ endpoint: false })
  const model = await startScriptedModel(scriptOf(new Map(planned.map(({ key, episode }) => [key, episode]))))
  try {
    const sessions = new Map<string, Session>()
    for (const { key, episode, hasFailed } of planned)
      sessions.set(key, await runEpisode(episode, { url: model.url, key, hasFailed }))
    return sessions
  } finally {
    await model.stop()
    await playhead.shutdown()
  }
}

/** The step of a turn: the model call that replied, or the action that it asked for. */
function stepAt({ steps }: Session, { turn, call }: Truth): Step | undefined {
  // Anthropic's client reports its calls too, around those that the SDK records.
  const around = new Set(steps.filter(({ kind }) => kind === 'llm').map(({ parentId }) => parentId))
  const replies = steps.filter(({ kind, status, id }) => kind === 'llm' && status === 'ok' && !around.has(id))
  const reply = replies[turn]
  if (call === undefined || reply === undefined) return reply
  const next = replies[turn + 1]?.offsetMs ?? Infinity
  return steps.filter(
    ({ kind, offsetMs }) => kind === 'action' && offsetMs >= reply.offsetMs && offsetMs < next,
  )[call]
}
