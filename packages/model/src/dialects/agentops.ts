import { mapWords } from '../json/word-table.ts'
import type { Message } from '../session/message.ts'
import type { StepKind } from '../session/step.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { ofKind, kindOfWord } from './reading/kind-words.ts'
import { openLlmetry } from './openllmetry.ts'
import { readJson } from './reading/payload.ts'
import { toMessages } from '../providers/messages.ts'

const kinds = mapWords({
  workflow: 'session workflow workflow.step task operation chain text',
  agent: 'agent',
  action: 'tool tool.usage',
  llm: 'llm request',
  guardrail: 'guardrail',
  other: 'http',
  event: 'error',
})

const entities = ['session', 'agent', 'task', 'operation', 'workflow', 'tool', 'guardrail', 'llm', 'chain']

/** The AgentOps SDKs: Python, and the TypeScript one that records OpenAI Agents. */
export const agentOps: Dialect = {
  name: 'agentops',
  signs: ['agentops.'],
  scopes: ['agentops'],
  numbers: {
    cost: ['gen_ai.usage.total_cost'],
    inputCost: ['gen_ai.usage.prompt_cost'],
    outputCost: ['gen_ai.usage.completion_cost'],
    firstChunkSeconds: ['gen_ai.streaming.time_to_first_token'],
  },
  texts: {
    agentOpsKind: ['agentops.span.kind'],
    entityName: ['agentops.entity.name'],
    operationLabel: ['operation.name'],
    endState: ['agentops.session.end_state'],
    endStateReason: ['agentops.session.end_state_reason', 'agentops.legacy.end_state_reason'],
    toolName: ['function.name'],
    toolStatus: ['tool.status', 'gen_ai.tool.status'],
    handoffFrom: ['from_agent'],
    handoffTo: ['to_agent'],
    guardrailName: ['guardrail.name'],
    responseId: ['response.id'],
    responseInput: ['response.input'],
    calledFunction: ['gen_ai.message.function_call.name'],
    threadId: ['workflow.session_id'],
    userId: ['workflow.user_id'],
    agentName: ['agent_name', 'recipient_agent.name'],
  },
  values: {
    input: [
      ...entities.map((entity) => `agentops.${entity}.input`),
      'agentops.entity.input',
      'workflow.input',
    ],
    output: [
      ...entities.map((entity) => `agentops.${entity}.output`),
      'agentops.entity.output',
      'workflow.final_output',
      'workflow.output',
    ],
    toolArguments: ['function.input', 'gen_ai.tool.input', 'gen_ai.tool.args', 'langchain.tool.input'],
    toolResult: ['function.output', 'tool.result', 'gen_ai.tool.output', 'langchain.tool.output'],
    systemInstructions: ['gen_ai.request.instructions', 'gen_ai.request.system_instruction'],
    guardrailTriggered: ['guardrail.triggered'],
    calledFunctionArguments: ['gen_ai.message.function_call.arguments'],
    isStreaming: ['gen_ai.request.streaming'],
    tags: ['agentops.tags'],
  },
  groups: {
    'agent.handoff.': 'handoffs',
    'trace.metadata.': 'sessionMetadata',
  },
  expand: ({ fields }) => {
    if (fields.agentOpsKind !== undefined) fields.entityName ??= fields.operationLabel
  },
  kind: readKind,
  inputMessages: readInput,
  outputMessages: readOutput,
  excludesCache: (_reading, { isSplitProvider }) => isSplitProvider,
}

function readKind(reading: SpanReading): KindResult | undefined {
  const stated = kindOfWord(kinds, reading.fields.agentOpsKind?.toLowerCase())
  if (stated !== undefined) return stated
  if (!isTypeScriptSdk(reading)) return undefined
  if (reading.span.parentSpanId === null) return ofKind('workflow')
  const kind = kindByShape(reading)
  return kind === undefined ? undefined : byTime.get(kind)
}

/** The TypeScript SDK reports no kinds and makes every span a child of the root. */
function kindByShape({ fields, groups, span }: SpanReading): StepKind | undefined {
  if (fields.toolName !== undefined) return 'action'
  if (fields.responseId !== undefined || span.name === 'Response' || span.name === 'Generation') return 'llm'
  if (fields.guardrailName !== undefined) return 'guardrail'
  if (groups.handoffs !== undefined || span.name === 'Handoff') return 'handoff'
  return fields.agentName === undefined ? undefined : 'agent'
}

const byTime = new Map(
  (['action', 'llm', 'guardrail', 'handoff', 'agent'] as const).map((kind): [StepKind, KindResult] => [
    kind,
    { kind, question: 'parent-by-time' },
  ]),
)

function isTypeScriptSdk({ span, fields }: SpanReading): boolean {
  const isRoot = span.parentSpanId === null && Object.keys(span.attributes).length === 0
  return (
    span.scope.name === 'agentops' &&
    fields.agentOpsKind === undefined &&
    (isRoot || 'openai_agents.span_id' in span.attributes)
  )
}

/** The TypeScript SDK lists text messages only; one JSON attribute has all items, including calls and results. */
function readInput(reading: SpanReading, kind: StepKind): Message[] | undefined {
  const items = readJson(reading, reading.fields.responseInput)
  if (!Array.isArray(items)) return undefined
  const listed = openLlmetry.inputMessages?.(reading, kind) ?? []
  return [...listed.filter((message) => message.role === 'system'), ...toMessages(items, 'user')]
}

/** The TypeScript SDK keeps only the last of several tool calls. */
function readOutput(reading: SpanReading, kind: StepKind): Message[] | undefined {
  const { calledFunction, calledFunctionArguments } = reading.fields
  if (calledFunction === undefined) return undefined
  const messages = openLlmetry.outputMessages?.(reading, kind) ?? []
  const call = { name: calledFunction, arguments: calledFunctionArguments }
  return [...messages, ...toMessages([{ role: 'assistant', tool_calls: [call] }], 'assistant')]
}
