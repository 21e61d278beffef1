import type { Step, StepKind } from '@playhead/model'
import type { Timeline } from '../playback/timeline.ts'

/** One lane of the timeline. Steps that run in parallel get rows of their own, as far as there is room. */
export type Lane = {
  id: string
  label: string
  /** Drawn faintly: these steps contain the others. */
  isContainer: boolean
  rowCount: number
  positions: Int32Array
  rows: Uint8Array
}

const MAX_AGENT_LANES = 5
const MAX_ROWS = 6

const laneOfKind: Record<StepKind, 'agent' | 'workflow' | 'llm' | 'actions' | 'other'> = {
  agent: 'agent',
  workflow: 'workflow',
  llm: 'llm',
  embedding: 'llm',
  action: 'actions',
  retrieval: 'other',
  guardrail: 'other',
  handoff: 'other',
  evaluator: 'other',
  event: 'other',
  other: 'other',
}

const laneLabels = { workflow: 'Workflows', llm: 'LLM', actions: 'Actions', other: 'Other' }

/** A lane for each agent, then one each for workflows, model calls, actions and the rest, if there are any. */
export function createLanes(timeline: Timeline): Lane[] {
  const agents = new Map<string, number[]>()
  const kinds: Record<'workflow' | 'llm' | 'actions' | 'other', number[]> = {
    workflow: [],
    llm: [],
    actions: [],
    other: [],
  }
  for (let position = 0; position < timeline.steps.length; position += 1) {
    const step = timeline.steps[position]!
    const lane = laneOfKind[step.kind]
    if (lane !== 'agent') kinds[lane].push(position)
    else addTo(agents, agentOf(step), position)
  }
  const lanes = agentLanes(agents, timeline)
  for (const lane of ['workflow', 'llm', 'actions', 'other'] as const)
    if (kinds[lane].length > 0) lanes.push(packLane(lane, laneLabels[lane], kinds[lane], timeline))
  return lanes
}

export function agentOf(step: Step): string {
  return step.agent ?? step.name
}

function addTo(lists: Map<string, number[]>, key: string, position: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [position])
  else list.push(position)
}

/** In order of first appearance. Agents beyond the limit share the last lane. */
function agentLanes(agents: ReadonlyMap<string, number[]>, timeline: Timeline): Lane[] {
  const named = [...agents]
  const alone = named.length <= MAX_AGENT_LANES ? named : named.slice(0, MAX_AGENT_LANES - 1)
  const lanes = alone.map(([name, positions]) => packLane(`agent ${name}`, name, positions, timeline))
  const rest = named.slice(alone.length)
  if (rest.length === 0) return lanes
  const together = rest.flatMap(([, positions]) => positions).sort((left, right) => left - right)
  return [...lanes, packLane('agents', `${rest.length} more agents`, together, timeline)]
}

function packLane(id: string, label: string, positions: readonly number[], timeline: Timeline): Lane {
  const rows = new Uint8Array(positions.length)
  const rowEnds: number[] = []
  for (let index = 0; index < positions.length; index += 1) {
    const position = positions[index]!
    const startMs = timeline.startsMs[position]!
    let free = 0
    while (free < rowEnds.length && rowEnds[free]! > startMs) free += 1
    const row = Math.min(free, MAX_ROWS - 1)
    rowEnds[row] = Math.max(rowEnds[row] ?? 0, timeline.endsMs[position]!)
    rows[index] = row
  }
  const isContainer = id !== 'llm' && id !== 'actions' && id !== 'other'
  return {
    id,
    label,
    isContainer,
    rowCount: Math.max(1, rowEnds.length),
    positions: Int32Array.from(positions),
    rows,
  }
}
