import type { Reply } from '@playhead/scripted-model'
import type { Random } from '../../../../bench/corpus/random.ts'
import * as playhead from '../../src/index.ts'
import type { Carried } from './carriers.ts'

/** Calls the model over HTTP, as a client library would, with a given reply. */
export type Ask = (path: string, body: object, reply: Reply) => Promise<void>

export type Door = (value: Carried, ask: Ask, random: Random) => unknown

/** Every way by which a value gets into a recording. */
export const doors: Readonly<Record<string, Door>> = {
  'arguments of an action': (value) => playhead.recordAction('look', (given: unknown) => given)(value),
  'an ActionEvent': (value) =>
    playhead.record(new playhead.ActionEvent({ actionType: 'done', params: { value }, returns: value })),
  'a ToolEvent': (value) =>
    playhead.record(new playhead.ToolEvent({ name: 'look_up', params: { query: value }, returns: [value] })),
  'an LLMEvent': (value) =>
    playhead.record(
      new playhead.LLMEvent({
        model: 'gpt-4o',
        prompt: textOf(value),
        completion: `Noted: ${textOf(value)}`,
      }),
    ),
  'an error': (value) => {
    const cause = new Error(textOf(value))
    playhead.record(new playhead.ErrorEvent({ error: new Error(`It failed: ${textOf(value)}`, { cause }) }))
  },
  'a thrown error': (value) => {
    try {
      playhead.recordAction('throw', () => {
        throw new TypeError(textOf(value))
      })()
    } catch {
      // Thrown only to be recorded.
    }
  },
  'a session': (value) =>
    playhead.withSession(
      { name: textOf(value), tags: ['bench', textOf(value)], metadata: { value } },
      () => undefined,
    ),
  'a prompt': (value, ask) => ask('/v1/chat/completions', chat(textOf(value)), 'Noted.'),
  'system instructions': (value, ask) =>
    ask('/v1/messages', { ...claude('Hello'), system: textOf(value) }, 'Noted.'),
  'an answer': (value, ask) => ask('/v1/chat/completions', chat('Hello'), textOf(value)),
  'a streamed answer': (value, ask, random) =>
    ask('/v1/chat/completions', { ...chat('Hello'), stream: true }, { chunks: tear(textOf(value), random) }),
  'a streamed answer of Anthropic': (value, ask, random) =>
    ask('/v1/messages', { ...claude('Hello'), stream: true }, { chunks: tear(textOf(value), random) }),
  'arguments of a tool call': (value, ask) =>
    ask('/v1/chat/completions', chat('Hello'), { toolCalls: [{ name: 'act', arguments: { value } }] }),
  'streamed arguments of a tool call': (value, ask) =>
    ask(
      '/v1/messages',
      { ...claude('Hello'), stream: true },
      { toolCalls: [{ name: 'act', arguments: { value } }] },
    ),
  'a result of a tool': (value, ask) => {
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'act', arguments: JSON.stringify({ value }) },
    }
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: textOf(value) },
    ]
    return ask('/v1/chat/completions', { ...chat('Hello'), messages }, 'Noted.')
  },
  'an error of the model': (value, ask) =>
    ask('/v1/chat/completions', chat('Hello'), { error: { status: 401, message: textOf(value) } }),
}

function textOf(value: Carried): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function chat(content: string) {
  return { model: 'gpt-4o', messages: [{ role: 'user', content }] }
}

function claude(content: string) {
  return { ...chat(content), model: 'claude-haiku-4-5', max_tokens: 100 }
}

/** Chunks as short as tokens, so that no secret fits into one. */
function tear(text: string, random: Random): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const to = from + random.between(1, 9)
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}
