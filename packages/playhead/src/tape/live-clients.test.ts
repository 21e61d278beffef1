import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import type { ForkEdit } from '@playhead/model'
import { startScriptedModel, type ScriptedModel } from '@playhead/scripted-model'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as playhead from '../index.ts'
import { setTape } from '../record/session/active-tape.ts'
import { createRunTape } from './run-tape.ts'

let model: ScriptedModel

beforeAll(async () => {
  playhead.init({ endpoint: false })
  model = await startScriptedModel(() => ({ text: 'Take a coat.', usage: { input: 100, output: 10 } }))
})
afterAll(async () => {
  await playhead.shutdown()
  await model.stop()
})
afterEach(() => setTape(undefined))

const system = 'Advise the traveller.'
const prompt = 'What do I wear?'

/** Each asks one question and reads the answer to its end. */
const clients: [name: string, model: string, other: string, ask: (name: string) => Promise<unknown>][] = [
  [
    'OpenAI chat, streamed with usage',
    'gpt-4o',
    'gpt-5',
    async (name) => {
      const openai = new OpenAI({ apiKey: 'none', baseURL: `${model.url}/v1` })
      const stream = openai.chat.completions.stream({
        model: name,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: prompt },
        ],
      })
      await stream.finalChatCompletion()
    },
  ],
  [
    'OpenAI responses, streamed',
    'gpt-4o',
    'gpt-5',
    async (name) => {
      const openai = new OpenAI({ apiKey: 'none', baseURL: `${model.url}/v1` })
      await openai.responses.stream({ model: name, instructions: system, input: prompt }).finalResponse()
    },
  ],
  [
    'Anthropic, streamed',
    'claude-sonnet-4-5',
    'claude-haiku-4-5',
    async (name) => {
      const anthropic = new Anthropic({ apiKey: 'none', baseURL: model.url })
      const messages = [{ role: 'user' as const, content: prompt }]
      await anthropic.messages.stream({ model: name, max_tokens: 500, system, messages }).finalMessage()
    },
  ],
  [
    'Gemini, streamed',
    'gemini-2.5-flash',
    'gemini-2.5-pro',
    async (name) => {
      const google = new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: { baseUrl: model.url } })
      const config = { systemInstruction: system }
      const stream = await google.models.generateContentStream({ model: name, contents: prompt, config })
      for await (const _chunk of stream);
    },
  ],
  [
    'Vercel AI SDK, streamed',
    'gpt-4o',
    'gpt-5',
    async (name) => {
      const openai = createOpenAI({ apiKey: 'none', baseURL: `${model.url}/v1` })
      await streamText({ model: openai(name), system, prompt }).text
    },
  ],
]

type Asked = { ask: (name: string) => Promise<unknown>; name: string }

/** Records one question, and asks it again in a fork that begins with it. */
async function forkCall({ ask, name }: Asked, edit: ForkEdit, isGranted: (usd: number) => boolean) {
  const question = () =>
    playhead.withSession({ name: 'trip' }, async (session) => {
      await ask(name)
      return session
    })
  const isCall = ({ kind, messages }: playhead.Step) => kind === 'llm' && messages !== undefined
  const parent = (await question()).toJSON()
  const reserved: number[] = []
  const settled: number[] = []
  const tape = createRunTape({
    parent,
    tapes: [],
    lane: 'fork',
    fork: { stepId: parent.steps.find(isCall)!.id, edit },
    onMiss: 'fail',
    allowWrites: [],
    agent: {},
    content: () => ({ content: true, redactText: (text) => text, maxValueBytes: 1e6 }),
    budget: {
      reserve: (usd) => {
        if (isGranted(usd)) reserved.push(usd)
        return isGranted(usd)
      },
      settle: (_reserved, actual) => void settled.push(actual),
    },
  })
  const before = model.requests.length
  setTape(() => tape)
  const step = (await question()).steps.find(isCall)!
  return { tape, step, reserved, settled, requests: model.requests.slice(before) }
}

test.each(clients)('%s: an edited fork within a budget', async (_name, name, other, ask) => {
  const edit = { system: 'Advise the sailor.', prompt: 'What do I pack?', model: other }
  const { tape, step, reserved, settled, requests } = await forkCall({ ask, name }, edit, () => true)
  expect(tape.misses).toEqual([])
  expect(requests.map((request) => [request.model, request.userText])).toEqual([[other, 'What do I pack?']])
  const sent = JSON.stringify(requests[0]!.body)
  expect([sent.includes('Advise the sailor.'), sent.includes(system)]).toEqual([true, false])
  expect(step).toMatchObject({ source: 'live', model: other, inputPreview: 'What do I pack?' })
  expect(settled).toEqual([step.cost])
  expect(reserved[0]).toBeGreaterThan(settled[0]!)
})

test('a model that may write more than the budget allows gets a limit, and the run says so', async () => {
  const [, name, other, ask] = clients[0]!
  const { tape, reserved, requests } = await forkCall({ ask, name }, { model: other }, (usd) => usd < 0.5)
  expect(requests[0]!.body).toMatchObject({ model: 'gpt-5', max_completion_tokens: 16_384 })
  expect(reserved).toEqual([expect.closeTo(0.164, 2)])
  expect(tape.notes).toEqual([
    'Calls to gpt-5 were limited to 16,384 tokens of output, so that the budget covers them.',
  ])
})
