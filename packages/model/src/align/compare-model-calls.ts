import { wordsOf, type Message } from '../session/message.ts'
import type { Step } from '../session/step.ts'
import { compareValues } from './compare-values.ts'
import type { Comparison } from './comparison.ts'
import type { Difference } from './difference.ts'
import { isSameInOtherWords } from './text-shape.ts'
import { shapeOfValue } from './fingerprint-session.ts'
import { modelReply, parseResult, inputMessagesOf, type ModelReply } from '../session/step-input-output.ts'

type Context = { comparison: Comparison; isBeginning: boolean }

/** Compares two prompts. Earlier replies are part of every prompt, but were already compared where they were made. */
export function comparePrompts(a: Step, b: Step, context: Context): Difference[] {
  return [
    ...compareSettings(a, b, context.comparison),
    ...compareSystem(a, b, context.comparison),
    ...compareUserMessages(a, b, context),
    ...compareToolResults(a, b, context.comparison),
  ]
}

function compareSettings(a: Step, b: Step, comparison: Comparison): Difference[] {
  const settings = (step: Step) => ({
    model: step.requestedModel ?? step.model,
    parameters: step.parameters,
    tools: step.toolDefinitions?.map(({ name }) => name).toSorted(),
  })
  return compareValues(settings(a), settings(b), comparison, 4).map((place) => ({ kind: 'prompt', ...place }))
}

function compareSystem(a: Step, b: Step, comparison: Comparison): Difference[] {
  const [left, right] = [textsOf(a, isSystem).join('\n\n'), textsOf(b, isSystem).join('\n\n')]
  if (comparison.isSameText(left, right) || isSameJson(left, right, comparison)) return []
  comparison.remember(left, right)
  return [{ kind: 'prompt', path: 'system', a: left, b: right }]
}

function isSameJson(a: string, b: string, comparison: Comparison): boolean {
  return compareValues(a, b, comparison).length === 0
}

function compareUserMessages(a: Step, b: Step, { comparison, isBeginning }: Context): Difference[] {
  const [left, right] = [textsOf(a, isUser), textsOf(b, isUser)]
  const found: Difference[] = []
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [one, other] = [left[index], right[index]]
    const path = 'user message'
    if (one === undefined) found.push({ kind: 'prompt', path, b: other })
    else if (other === undefined) found.push({ kind: 'prompt', path, a: one })
    else if (!comparison.isSameText(one, other)) {
      const kind = isBeginning ? 'input' : isSameInOtherWords(one, other) ? 'wording' : 'prompt'
      comparison.remember(one, other)
      found.push({ kind, path, a: one, b: other })
    }
  }
  return found
}

/** Compares the tool results in the prompts, which are all that is known of tools that were not recorded. */
function compareToolResults(a: Step, b: Step, comparison: Comparison): Difference[] {
  const [left, right] = [toolResults(a), toolResults(b)]
  const found: Difference[] = []
  for (const [index, { name, result }] of left.entries()) {
    const other = right[index]
    if (other === undefined) break
    for (const place of compareValues(result, other.result, comparison))
      found.push({
        kind: 'result',
        path: `tool result${name === undefined ? '' : ` of ${name}`}`,
        a: place.a,
        b: place.b,
      })
  }
  return found
}

/** In the order of their calls: parallel calls end in any order. */
function toolResults(step: Step): { name: string | undefined; result: unknown }[] {
  const parts = inputMessagesOf(step).flatMap((message) => message.parts)
  const positions = new Map(
    parts.map((part, index) => [part.type === 'tool-call' ? part.id : undefined, index]),
  )
  const results = parts.flatMap((part, index) => {
    if (part.type !== 'tool-result') return []
    const { id, name } = part
    const result = parseResult(part.result)
    const position = id === undefined ? index : positions.get(id)
    // The call is part of an earlier response, which this request continues by its id.
    const key = position === undefined ? shapeOfValue(result) : ''
    return [{ name, result, position: position ?? parts.length, key }]
  })
  return results.toSorted(
    (one, other) =>
      one.position - other.position || Number(one.key > other.key) - Number(one.key < other.key),
  )
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function isUser({ role }: Message): boolean {
  return role === 'user'
}

function textsOf(step: Step, isWanted: (message: Message) => boolean): string[] {
  return inputMessagesOf(step)
    .filter(isWanted)
    .map(({ parts }) => parts.map(wordsOf).join('\n'))
    .filter((text) => text !== '')
}

/** Compares two replies: the tools called, their arguments, and the text. */
export function compareReplies(a: Step, b: Step, comparison: Comparison): Difference[] {
  const [left, right] = [modelReply(a), modelReply(b)]
  const calls = compareCalls(left, right, comparison)
  if (calls.length > 0) return calls
  if (comparison.isSameText(left.text, right.text)) return []
  const places = compareValues(left.text, right.text, comparison, 4)
  const isWording = left.calls.length > 0 || isSameInOtherWords(left.text, right.text) || places.length === 0
  comparison.remember(left.text, right.text)
  if (isWording) return [{ kind: 'wording', a: left.text, b: right.text }]
  return places.map(({ path, ...values }) => ({ kind: 'decision', ...(path !== '' && { path }), ...values }))
}

/** Tool calls of one reply have no order. */
function compareCalls(a: ModelReply, b: ModelReply, comparison: Comparison): Difference[] {
  const [left, right] = [inOrder(a), inOrder(b)]
  if (left.map(({ name }) => name).join() !== right.map(({ name }) => name).join())
    return [{ kind: 'decision', path: 'tool calls', a: a.calls, b: b.calls }]
  return left.flatMap((call, index) =>
    compareValues(call.arguments, right[index]!.arguments, comparison, 4).map(({ path, ...values }) => ({
      kind: 'decision' as const,
      path: path === '' ? call.name : `${call.name}.${path}`,
      ...values,
    })),
  )
}

function inOrder({ calls }: ModelReply): ModelReply['calls'] {
  const keyed = calls.map((call) => ({ call, key: `${call.name} ${shapeOfValue(call.arguments)}` }))
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ call }) => call)
}
