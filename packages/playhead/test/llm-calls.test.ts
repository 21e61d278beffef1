import { Anthropic } from '@anthropic-ai/sdk'
import { startScriptedModel } from '@playhead/scripted-model'
import { OpenAI } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'

let model: Awaited<ReturnType<typeof startScriptedModel>>

beforeAll(async () => {
  playhead.init({ endpoint: false })
  model = await startScriptedModel(() => ({ text: 'Once.', usage: { input: 1000, output: 100 } }))
})
afterAll(async () => {
  await playhead.shutdown()
  await model.stop()
})

test('a call that a client, a wrapper and the HTTP layer report is one call with one price', async () => {
  const anthropic = new Anthropic({ apiKey: 'none', baseURL: model.url })
  const openai = playhead.wrapOpenAI(new OpenAI({ apiKey: 'none', baseURL: `${model.url}/v1` }))
  const messages = [{ role: 'user' as const, content: 'How often was I charged?' }]
  const session = await playhead.withSession(async (view) => {
    await anthropic.messages.create({ model: 'claude-haiku-4-5', max_tokens: 10, messages })
    await openai.chat.completions.create({ model: 'gpt-4o', messages })
    return view
  })
  expect(session.steps.filter(({ kind }) => kind === 'llm').length).toBeGreaterThan(2)
  expect(session.llmCalls.map((call) => [call.model, call.usage?.input, call.cost])).toEqual([
    ['claude-haiku-4-5', 1000, 0.0015],
    ['gpt-4o', 1000, 0.0035],
  ])
  expect(session.cost).toBe(0.005)
  expect(session.toJSON().session.llmCallCount).toBe(2)
})
