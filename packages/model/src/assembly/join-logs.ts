import type { LogAddition, LogOutline } from '../session/log-draft.ts'
import { readableTime } from '../session/session-time.ts'
import { byStart, type StepNode, type StepNodes } from './step-node.ts'

export type LogWithAddition = LogOutline & { adds: LogAddition }

/** Bounds for hostile input: steps searched in total, and steps with one call id. */
const MAX_STEPS_SEARCHED = 2_000_000
const MAX_CALLS = 64

/**
 * Finds the step that each record adds to; `logs` are oldest first. A record names its step, or a tool call, or
 * belongs to a series: the n-th record goes to the n-th step of its kind. If there are fewer records than steps, each
 * goes to the step that ended closest to it.
 */
export function joinLogs(
  logs: readonly LogWithAddition[],
  walk: readonly StepNode[],
  { byId }: StepNodes,
): Map<LogWithAddition, StepNode> {
  const targets = new Map<LogWithAddition, StepNode>()
  const rows = new Map<string, LogWithAddition[]>()
  const tree = createTree(walk)
  for (const log of logs) {
    const named = log.stepId === null ? undefined : byId.get(log.stepId)
    const { joinTo } = log.adds
    if (joinTo !== undefined && joinTo.toolCallId === undefined) {
      pushTo(rows, rowOf(log, named), log)
      continue
    }
    const target = joinTo === undefined ? named : tree.findCall(joinTo.kind, joinTo.toolCallId!, named)
    if (target !== undefined) targets.set(log, target)
  }
  for (const row of rows.values()) {
    const stepId = row[0]!.stepId
    const named = stepId === null ? undefined : byId.get(stepId)
    pairUp(row, candidates(named === undefined ? walk : tree.atOrBelow(named), row[0]!), targets)
  }
  return targets
}

/** The series of a record: same event and place, same model, same outcome. */
function rowOf(log: LogWithAddition, named: StepNode | undefined): string {
  const { joinTo, model, error } = log.adds
  return [named?.step.id ?? '', joinTo?.kind, log.name, model ?? '', error !== undefined].join('\n')
}

/**
 * The steps that a series may go to, earliest first: those of its kind, narrowed by model and outcome unless none
 * would be left.
 */
function candidates(nodes: readonly StepNode[], { adds }: LogWithAddition): StepNode[] {
  let meant = nodes.filter((node) => node.step.kind === adds.joinTo?.kind)
  if (adds.model !== undefined)
    meant = narrow(meant, ({ step }) => step.model === adds.model || step.requestedModel === adds.model)
  meant = narrow(meant, ({ step }) => (step.status === 'error') === (adds.error !== undefined))
  return meant.sort(byStart)
}

function narrow(nodes: StepNode[], isMeant: (node: StepNode) => boolean): StepNode[] {
  const meant = nodes.filter(isMeant)
  return meant.length > 0 ? meant : nodes
}

function pairUp(
  row: readonly LogWithAddition[],
  nodes: readonly StepNode[],
  targets: Map<LogWithAddition, StepNode>,
): void {
  let next = 0
  let spare = nodes.length - row.length
  for (const log of row) {
    while (spare > 0 && distance(nodes[next + 1]!, log) < distance(nodes[next]!, log)) {
      next += 1
      spare -= 1
    }
    const node = nodes[next]
    if (node === undefined) return
    targets.set(log, node)
    next += 1
  }
}

/** Records are written when a step ends. */
function distance({ step }: StepNode, log: LogWithAddition): number {
  return Math.abs((step.endedAtMs ?? step.startedAtMs) - readableTime(log.atMs))
}

type Tree = {
  atOrBelow(node: StepNode): StepNode[]
  findCall(kind: string, callId: string, below: StepNode | undefined): StepNode | undefined
}

function createTree(walk: readonly StepNode[]): Tree {
  const lastPositions = findLastPositions(walk)
  let byCallId: Map<string, StepNode[]> | undefined
  let looked = 0
  const isInside = (node: StepNode, outer: StepNode): boolean =>
    node.position >= outer.position && node.position <= lastPositions[outer.position]!
  return {
    atOrBelow: (node) => {
      const end = lastPositions[node.position]! + 1
      looked += end - node.position
      return looked > MAX_STEPS_SEARCHED ? [] : walk.slice(node.position, end)
    },
    findCall: (kind, callId, below) => {
      byCallId ??= indexByCallId(walk)
      const calls = byCallId.get(callId)?.filter((node) => node.step.kind === kind)
      return calls?.find((node) => below !== undefined && isInside(node, below)) ?? calls?.[0]
    },
  }
}

/** The position of each node's last descendant. */
function findLastPositions(walk: readonly StepNode[]): Int32Array {
  const last = new Int32Array(walk.length)
  for (let position = walk.length - 1; position >= 0; position -= 1) {
    last[position] = Math.max(last[position]!, position)
    const parent = walk[position]!.parent
    if (parent !== null) last[parent.position] = Math.max(last[parent.position]!, last[position]!)
  }
  return last
}

function indexByCallId(walk: readonly StepNode[]): Map<string, StepNode[]> {
  const byCallId = new Map<string, StepNode[]>()
  for (const node of walk) {
    const callId = node.step.toolCallId
    if (callId === undefined || (byCallId.get(callId)?.length ?? 0) >= MAX_CALLS) continue
    pushTo(byCallId, callId, node)
  }
  return byCallId
}

function pushTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
