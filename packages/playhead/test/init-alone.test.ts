import { createOpenAI } from '@ai-sdk/openai'
import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentTool } from '@openai/agents'
import { generateText, stepCountIs, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import * as playhead from '../src/index.ts'

beforeAll(() => {
  playhead.init({ endpoint: false })
  setTracingDisabled(true)
})

afterAll(() => playhead.shutdown())

const weather = {
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }: { city: string }) => ({ city, sky: 'rain' }),
}

async function startModel(): Promise<string> {
  const model = await startScriptedModel(
    inTurns(callTool('get_weather', { city: 'Köln' }), {
      text: 'It rains.',
      usage: { input: 40, output: 4 },
    }),
  )
  onTestFinished(() => model.stop())
  return `${model.url}/v1`
}

/** What a session shows of the calls and tools of a run, without their times. */
async function shown(run: () => Promise<unknown>): Promise<unknown[]> {
  const { steps } = await playhead.withSession(async (view) => {
    expect(await run()).toBe('It rains.')
    return view
  })
  return steps
    .filter(({ kind }) => kind === 'action' || kind === 'llm')
    .map(({ kind, name, isInferred, input, output }) =>
      kind === 'action' ? { kind, name, isInferred, input, output } : { kind, name },
    )
}

const expected = [
  { kind: 'llm', name: 'gpt-4o' },
  {
    kind: 'action',
    name: 'get_weather',
    isInferred: true,
    input: { city: 'Köln' },
    output: { city: 'Köln', sky: 'rain' },
  },
  { kind: 'llm', name: 'gpt-4o' },
]

test('the Vercel AI SDK without telemetry shows its tools', async () => {
  const openai = createOpenAI({ apiKey: 'sk-test', baseURL: await startModel() })
  const { description, parameters: inputSchema, execute } = weather
  const run = async () => {
    const { text } = await generateText({
      model: openai.chat('gpt-4o'),
      prompt: 'Weather in Köln?',
      tools: { get_weather: tool({ description, inputSchema, execute }) },
      stopWhen: stepCountIs(3),
    })
    return text
  }

  expect(await shown(run)).toEqual(expected)
})

test('OpenAI Agents without its own tracing shows its tools', async () => {
  const openAIClient = new OpenAI({ apiKey: 'sk-test', baseURL: await startModel() })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: openAIClient as never }) })
  const agent = new Agent({
    name: 'Weather',
    model: 'gpt-4o',
    tools: [agentTool({ name: 'get_weather', ...weather })],
  })

  expect(await shown(async () => (await runner.run(agent, 'Weather in Köln?')).finalOutput)).toEqual(expected)
})
