import { isRecord } from '../json/attribute-value.ts'
import type { Message, Part } from '../session/message.ts'
import { parseResult } from '../session/step-input-output.ts'
import type { Step } from '../session/step.ts'

/** The parts of a step that say what a model was asked. A live request is read into the same form. */
export type AskedStep = Pick<Step, 'messages' | 'model' | 'requestedModel' | 'parameters' | 'toolDefinitions'>

/**
 * What a model was asked, without what changes from run to run or does not change the answer: ids of calls,
 * reasoning, headers, whether it streamed.
 */
export type Meaning = {
  model?: string
  parameters: Record<string, unknown>
  /** The schema of each tool by its name. */
  tools: Record<string, unknown>
  messages: MeaningMessage[]
}

export type MeaningMessage = { role: string; parts: unknown[] }

const irrelevantParameters = new Set(['stream', 'previous_response_id', 'service_tier', 'user'])

export function readMeaning(step: AskedStep): Meaning {
  const model = step.requestedModel ?? step.model
  const parameters = Object.entries(step.parameters ?? {}).filter(([name]) => !irrelevantParameters.has(name))
  return {
    ...(model !== undefined && { model }),
    parameters: Object.fromEntries(parameters),
    tools: Object.fromEntries(
      (step.toolDefinitions ?? []).map(({ name, description, parameters: schema }) => [
        name,
        { description, parameters: parseResult(schema) },
      ]),
    ),
    messages: readMessages(step.messages?.filter(({ isOutput }) => isOutput !== true) ?? []),
  }
}

function readMessages(messages: readonly Message[]): MeaningMessage[] {
  const calls = new Map<string, { position: number; name: string }>()
  const meanings: MeaningMessage[] = []
  const results: ToolResult[] = []
  for (const message of [...messages, { role: '', parts: [] }]) {
    const found = message.parts.flatMap((part) => readResult(part, calls))
    results.push(...found)
    const others = message.parts.flatMap((part) => readPart(part, calls))
    const isOnlyResults = found.length > 0 && others.length === 0
    if (isOnlyResults) continue
    // The results of parallel calls arrive in any order; that of the calls is the one that repeats.
    meanings.push(...inOrderOfCalls(results.splice(0)))
    if (others.length > 0) meanings.push({ role: message.role, parts: joinTexts(others) })
  }
  return meanings
}

type ToolResult = { position: number; id: string; meaning: MeaningMessage }

/** A request that continues an earlier one by its id does not repeat the calls, but results name them. */
function inOrderOfCalls(results: ToolResult[]): MeaningMessage[] {
  return results
    .toSorted((one, other) => one.position - other.position || one.id.localeCompare(other.id))
    .map(({ meaning }) => meaning)
}

function readResult(
  part: Part,
  calls: ReadonlyMap<string, { position: number; name: string }>,
): ToolResult[] {
  if (part.type !== 'tool-result') return []
  const call = part.id === undefined ? undefined : calls.get(part.id)
  const name = part.name ?? call?.name
  return [
    {
      position: call?.position ?? Number.MAX_SAFE_INTEGER,
      id: part.id ?? '',
      meaning: {
        role: 'tool',
        parts: [{ ...(name !== undefined && { name }), result: parseResult(part.result) }],
      },
    },
  ]
}

function readPart(part: Part, calls: Map<string, { position: number; name: string }>): unknown[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [part.text]
    case 'tool-call':
      if (part.id !== undefined) calls.set(part.id, { position: calls.size, name: part.name })
      return [{ call: part.name, arguments: parseResult(part.arguments) }]
    case 'media':
      return [{ media: part.uri ?? part.fileId ?? part.base64 ?? part.modality }]
    case 'other':
      return [part.raw]
    case 'reasoning':
    case 'tool-result':
      return []
  }
}

/** Frameworks cut a text into parts as they like. */
function joinTexts(parts: readonly unknown[]): unknown[] {
  const joined: unknown[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = `${last}\n${part}`
    else joined.push(part)
  }
  return joined
}

/** The name of the tool whose result a message holds. */
export function toolOfMessage({ role, parts }: MeaningMessage): string | undefined {
  const [part] = parts
  return role === 'tool' && isRecord(part) && typeof part.name === 'string' ? part.name : undefined
}

/** Model, parameters and tools, as far as the tape has them: other instrumentations leave them out. */
export function settingsOf(taped: Meaning, live: Meaning): [taped: unknown, live: unknown] {
  const known = (own: Record<string, unknown>, other: Record<string, unknown>) =>
    Object.fromEntries(Object.keys(own).map((name) => [name, other[name]]))
  const pick = (meaning: Meaning) => ({
    ...(taped.model !== undefined && live.model !== undefined && { model: meaning.model }),
    parameters: known(taped.parameters, meaning.parameters),
    ...(Object.keys(taped.tools).length > 0 && { tools: meaning.tools }),
  })
  return [pick(taped), pick(live)]
}
