import type { Message } from '../session/message.ts'
import { toText } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'

const spellings = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_call', 'tool_call'],
  ['content_filter', 'content_filter'],
  ['error', 'error'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['eos', 'stop'],
  ['finish', 'stop'],
  ['finished', 'stop'],
  ['complete', 'stop'],
  ['completed', 'stop'],
  ['tool_calls', 'tool_call'],
  ['tool_use', 'tool_call'],
  ['function_call', 'tool_call'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
])

/** Finish reasons in one spelling: stop, length, tool_call, content_filter, error. Unknown reasons stay as they are. */
export function finishReasonsOf(
  value: unknown,
  messages: readonly Message[] | undefined,
): string[] | undefined {
  const given = parseJson(value)
  const list: unknown[] = Array.isArray(given) ? given : [given]
  const reasons = list.map(toText).filter((reason) => reason !== undefined)
  if (reasons.length === 0 && messages !== undefined) {
    for (const message of messages) {
      if (message.isOutput === true && message.finishReason !== undefined) reasons.push(message.finishReason)
    }
  }
  return reasons.length === 0 ? undefined : reasons.map(normalise)
}

function normalise(reason: string): string {
  const known = spellings.get(reason)
  if (known !== undefined) return known
  const word = reason.toLowerCase().replaceAll('-', '_')
  return spellings.get(word) ?? word
}
