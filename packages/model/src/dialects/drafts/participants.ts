import { innerNodes, isInnerNode } from '../reading/graph-nodes.ts'
import type { StepKind } from '../../session/step.ts'
import type { StepOutline } from '../../session/step-draft.ts'
import { firstText, isRecord, toFlag, toText } from '../../json/attribute-value.ts'
import { oneLine } from './preview.ts'
import { parseJson } from '../../json/json-text.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { unflattenList } from '../reading/flattened-keys.ts'
import { inputOf, outputOf } from '../reading/payload.ts'
import { toolOfSpan } from './tools-of-span.ts'

/** The agent that a step is or belongs to. */
export function agentOfSpan(
  { fields, span }: SpanReading,
  kind: StepKind,
  isLoop: boolean,
): string | undefined {
  const stated = isInnerNode(fields.agentName, fields.provider) ? undefined : fields.agentName
  const named = stated ?? agentInMetadata(fields.metadata)
  // Langfuse writes metadata as JSON.
  if (named !== undefined) return oneLine(named.startsWith('"') ? (toText(parseJson(named)) ?? named) : named)
  if (kind === 'agent') {
    return fields.graphNode ?? fields.functionId ?? fields.entityName ?? bareAgentName(span.name)
  }
  if (kind === 'llm') return agentNode(fields.langGraphPath, fields.langGraphNode)
  if (span.name.endsWith('.run_agent_step')) return agentInEvent(fields.input)
  return isLoop ? fields.functionId : undefined
}

/** LangChain names the agent and the node of the graph in the metadata of each of its steps. */
function agentInMetadata(metadata: unknown): string | undefined {
  if (typeof metadata !== 'string' || !/"(?:lc_agent_name|langgraph_node)"/.test(metadata)) return undefined
  const parsed = parseJson(metadata)
  if (!isRecord(parsed)) return undefined
  return (
    toText(parsed.lc_agent_name) ??
    agentNode(toText(parsed.langgraph_checkpoint_ns), toText(parsed.langgraph_node))
  )
}

/** LlamaIndex prints the event that its agent gets: `AgentSetup(input=[…], current_agent_name='planner')`. */
function agentInEvent(input: unknown): string | undefined {
  if (typeof input !== 'string') return undefined
  const start = input.lastIndexOf("current_agent_name='")
  return start === -1 ? undefined : toText(input.slice(start).split("'", 2)[1])
}

/** The innermost node of a graph that is named after an agent. */
function agentNode(path: string | undefined, node: string | undefined): string | undefined {
  const nodes = path?.split('|').map((part) => part.split(':', 1)[0]!) ?? []
  if (node !== undefined) nodes.push(node)
  return nodes.findLast((name) => name !== '' && !innerNodes.has(name))
}

const prefix = /^(?:invoke_agent|create_agent|agent_run|agent run:|agent) (?=\S)/
const suffix = /(?:\.agent|[. ](?:a?run|run_stream|a?invoke|execute))$/
const wrapped = /^(?:\[(.+)\]|'(.+)'|"(.+)")$/

/** The agent in the name of a span: `invoke_agent x`, `agent_run [x]`, `agent run: 'x'`, `x.run`. */
export function bareAgentName(spanName: string): string {
  const name = spanName.replace(suffix, '').replace(prefix, '')
  const inner = wrapped.exec(name)
  return (inner?.[1] ?? inner?.[2] ?? inner?.[3] ?? name).trim()
}

/** True for `handoff_to_x`, for `transfer_to_x` without arguments, and for a tool that gets the agent as an argument. */
export function isHandoffTool(toolName: string | undefined, toolArguments: unknown): boolean {
  if (toolName === undefined) return false
  if (namesTarget(toolName)) return targetIn(toolArguments) !== undefined
  if (toolName.startsWith('handoff_to_')) return true
  if (!toolName.startsWith('transfer_to_')) return false
  return toolArguments === undefined || (isRecord(toolArguments) && Object.keys(toolArguments).length === 0)
}

/** ADK's `transfer_to_agent(agent_name)`, LlamaIndex's `handoff(to_agent, reason)`. */
function namesTarget(toolName: string): boolean {
  return toolName === 'transfer_to_agent' || toolName === 'handoff' || toolName === 'handoff_to_agent'
}

function targetIn(given: unknown): string | undefined {
  return isRecord(given) ? firstText(given.agent_name, given.to_agent) : undefined
}

/** The agents on both sides of a handoff. */
export function handoffOfSpan(reading: SpanReading): NonNullable<StepOutline['handoff']> {
  const { fields, groups, span } = reading
  const listed = unflattenList(groups.handoffs)[0]
  const input = inputOf(reading)
  const output = outputOf(reading)
  const from =
    fields.handoffFrom ??
    (isRecord(listed) ? toText(listed.from) : undefined) ??
    (isRecord(input) ? toText(input.from_agent) : toText(input))
  const to =
    fields.handoffTo ??
    (isRecord(listed) ? toText(listed.to) : undefined) ??
    (isRecord(output) ? firstText(output.to_agent) : undefined) ??
    targetIn(input) ??
    targetIn(toolOfSpan(reading).arguments) ??
    toText(output) ??
    handoffTarget(fields.toolName ?? '') ??
    handoffTarget(span.name)
  const handoff: NonNullable<StepOutline['handoff']> = {}
  if (from !== undefined) handoff.from = from
  if (to !== undefined) handoff.to = to
  return handoff
}

function handoffTarget(name: string): string | undefined {
  return toText(/^(?:execute_tool )?(?:handoff[_ ]to[_ ]|transfer_to_)(.+)$/i.exec(name)?.[1])
}

const triggeredWords = new Set(['triggered', 'failed', 'fail', 'blocked', 'block', 'tripped', 'intervened'])
const passedWords = new Set(['passed', 'pass', 'success', 'ok', 'allowed', 'allow', 'none'])

/** The name of a guardrail and whether it was triggered. */
export function guardrailOfSpan(reading: SpanReading): NonNullable<StepOutline['guardrail']> {
  const { fields, span } = reading
  const name =
    fields.guardrailName ?? fields.toolName ?? fields.entityName ?? span.name.replace(/\.guardrail$/, '')
  const isTriggered =
    toFlag(fields.guardrailTriggered) ?? flagOfStatus(fields.guardrailStatus) ?? flagOfOutput(reading)
  return isTriggered === undefined ? { name } : { name, isTriggered }
}

function flagOfStatus(status: string | undefined): boolean | undefined {
  const word = status?.toLowerCase()
  if (word === undefined) return undefined
  if (triggeredWords.has(word)) return true
  return passedWords.has(word) ? false : undefined
}

function flagOfOutput(reading: SpanReading): boolean | undefined {
  const output = outputOf(reading)
  if (!isRecord(output)) return undefined
  const isTriggered = toFlag(
    output.tripwire_triggered ?? output.tripwireTriggered ?? output.triggered ?? output.blocked,
  )
  if (isTriggered !== undefined) return isTriggered
  const isPassed = toFlag(output.passed ?? output.allowed ?? output.valid)
  return isPassed === undefined ? undefined : !isPassed
}
