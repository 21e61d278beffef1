import Anthropic from '@anthropic-ai/sdk'
import { alignSessions, describeFirstDivergence, type Session } from '@playhead/model'
import { startScriptedModel, type Reply, type ScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as playhead from '../index.ts'
import { setTape } from '../record/session/active-tape.ts'
import { knownRuntime } from '../runtime/runtime.ts'
import { contentOptionsOf } from './asked-step.ts'
import { createRunTape } from './run-tape.ts'

let model: ScriptedModel
let reply: Reply = ''
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  playhead.init({ endpoint: false })
  model = await startScriptedModel(() => reply)
  openai = new OpenAI({ apiKey: 'none', baseURL: `${model.url}/v1`, maxRetries: 0 })
  anthropic = new Anthropic({ apiKey: 'none', baseURL: model.url, maxRetries: 0 })
})
afterAll(async () => {
  await playhead.shutdown()
  await model.stop()
})
afterEach(() => setTape(undefined))

const messages = [{ role: 'user' as const, content: 'Count to six.' }]

/** What a host hears of a stream: its text as it comes. */
type Ask = (onText: (text: string) => void) => Promise<unknown>

const clients: [name: string, ask: Ask][] = [
  [
    'OpenAI chat',
    async (onText) => {
      const stream = await openai.chat.completions.create({ model: 'gpt-4o', messages, stream: true })
      for await (const { choices } of stream) onText(choices[0]?.delta.content ?? '')
    },
  ],
  [
    'OpenAI responses',
    async (onText) => {
      const stream = await openai.responses.create({ model: 'gpt-4o', input: 'Count.', stream: true })
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') onText(event.delta)
        if (event.type === 'response.output_item.done') onText('[done]')
      }
    },
  ],
  [
    'Anthropic',
    async (onText) => {
      const options = { model: 'claude-sonnet-4-5', max_tokens: 100, messages }
      const stream = anthropic.messages.stream(options).on('text', onText)
      stream.on('contentBlock', () => onText('[done]'))
      await stream.finalMessage()
    },
  ],
]

const answers: [name: string, reply: Reply][] = [
  ['breaks', { text: 'one two three four five six', cutAfterEvents: 6 }],
  [
    'reports an error',
    { text: 'one two', streamError: { message: 'Overloaded, sorry', type: 'overloaded_error' } },
  ],
]

async function seenBy(ask: Ask): Promise<{ seen: string; session: Session }> {
  let seen = ''
  const view = await playhead.withSession({ name: 'counts' }, async (session) => {
    await ask((text) => (seen += text)).catch((error: unknown) => {
      seen += `! ${String(error)}`
    })
    return session
  })
  const { recorder } = knownRuntime()!
  return { seen, session: recorder.readSession(recorder.findRecord(view.id)!, { isPriced: true }) }
}

function play(parent: Session): void {
  const { recorder } = knownRuntime()!
  const content = () => contentOptionsOf(recorder)
  const strict = { tapes: [], lane: 'tape', onMiss: 'fail', allowWrites: [], agent: {}, content } as const
  const tape = createRunTape({ parent, ...strict })
  setTape(() => tape)
}

for (const [what, given] of answers)
  test.each(clients)(`a stream that ${what} does so again: %s`, async (_name, ask) => {
    reply = given
    const isError = what === 'reports an error'
    const first = await seenBy(ask)
    expect(first.seen).toMatch(/^one two.*!/)
    play(first.session)
    const again = await seenBy(ask)
    // Nobody recorded whether a part was complete before the error.
    expect(again.seen).toBe(isError ? first.seen.replace('[done]', '') : first.seen)
    const alignment = alignSessions(first.session, again.session)
    expect(describeFirstDivergence(alignment)).toBeUndefined()
  })

test('a stream that ends without saying why is whole', async () => {
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'local' }
  const delta = { ...chunk, choices: [{ index: 0, delta: { content: 'one two' }, finish_reason: null }] }
  reply = {
    rawBody: `data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`,
    headers: { 'content-type': 'text/event-stream' },
  }
  const [, ask] = clients[0]!
  const first = await seenBy(ask)
  expect([first.seen, first.session.steps[1]?.streaming?.isAborted]).toEqual(['one two', undefined])
  play(first.session)
  expect((await seenBy(ask)).seen).toBe('one two')
})

test('a refusal says as much about a retry as it did when it was recorded', async () => {
  const refused = { status: 429, message: 'No more' }
  const headersOf = async (ask: () => Promise<unknown>) => {
    const error: unknown = await ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof OpenAI.APIError)) throw new Error('not refused')
    return ['retry-after', 'x-should-retry'].map((name) => error.headers?.get(name) ?? null)
  }
  const ask = () => openai.chat.completions.create({ model: 'gpt-4o', messages, stream: false })
  for (const [headers, served] of [
    [{}, [null, null]],
    [{ 'retry-after': '20' }, ['0', null]],
    [{ 'x-should-retry': 'false' }, [null, 'false']],
  ] as const) {
    reply = { error: refused, headers }
    setTape(undefined)
    const { session } = await seenBy(ask)
    play(session)
    expect(await headersOf(ask)).toEqual(served)
  }
})
