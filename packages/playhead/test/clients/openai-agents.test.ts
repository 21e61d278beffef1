import { createRequire } from 'node:module'
import { load as loadPrevious, require as requirePrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inAction } from './recorder.ts'
import { setScene, tornText, variantsOf } from './scene.ts'

type Modules = { agents: typeof import('@openai/agents'); openai: typeof import('openai') }

const require = createRequire(import.meta.url)

const variants = variantsOf<Modules>({
  '@openai/agents 0.20, ESM': async () => ({
    agents: await import('@openai/agents'),
    openai: await import('openai'),
  }),
  '@openai/agents 0.19, ESM': async () => ({
    agents: await loadPrevious.openAiAgents(),
    openai: await loadPrevious.openai(),
  }),
  '@openai/agents 0.20, CJS': () => ({ agents: require('@openai/agents'), openai: require('openai') }),
  '@openai/agents 0.19, CJS': () => ({
    agents: requirePrevious('@openai/agents'),
    openai: requirePrevious('openai'),
  }),
})

describe.each(variants)('$name', ({ load, isBuiltBefore }) => {
  const build = async (url: string) => {
    const { agents, openai } = await load()
    agents.setTracingDisabled(true)
    const client = new openai.OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` })
    const provider = new agents.OpenAIProvider({ openAIClient: client as never })
    return { agents, runner: new agents.Runner({ modelProvider: provider }) }
  }

  test('records an agent with a tool, whole and streamed, below the current action', async () => {
    const { client, recorder } = await setScene(
      inTurns(
        { ...callTool('get_weather', { city: 'Ulm' }), usage: { input: 50, output: 12 } },
        { text: tornText, usage: { input: 90, output: 9, cacheRead: 64 }, sliceBytes: 61 },
      ),
      build,
      { isBuiltBefore },
    )
    const { agents, runner } = client
    const agent = new agents.Agent({
      name: 'Weather',
      model: 'gpt-5-mini',
      instructions: 'Be brief.',
      tools: [
        agents.tool({
          name: 'get_weather',
          description: 'The weather of a city',
          parameters: z.object({ city: z.string() }),
          execute: async ({ city }) => ({ city, sky: 'fog' }),
        }),
      ],
    })
    await inAction('support', async () => {
      const whole = await runner.run(agent, 'Weather in Ulm?')
      expect(whole.finalOutput).toBe(tornText)
      const streamed = await runner.run(agent, 'Weather in Ulm?', { stream: true })
      for await (const _event of streamed) continue
      await streamed.completed
      expect(streamed.finalOutput).toBe(tornText)
    })
    const action = recorder.steps().find(({ step }) => step.kind === 'action')!
    const calls = recorder.calls()
    expect(calls).toHaveLength(4)
    for (const { step } of calls) expect(step.parentId).toBe(action.step.id)
    expect(
      recorder.inferred().map(({ name, parentId, inputPreview, outputPreview }) => ({
        name,
        parentId,
        inputPreview,
        outputPreview,
      })),
    ).toEqual(
      Array.from({ length: 2 }, () => ({
        name: 'get_weather',
        parentId: action.step.id,
        inputPreview: 'city=Ulm',
        outputPreview: '{"city":"Ulm","sky":"fog"}',
      })),
    )
    for (const asked of [calls[0]!, calls[2]!]) {
      expect(asked.step).toMatchObject({
        model: 'gpt-5-mini',
        finishReasons: ['tool_call'],
        usage: { input: 50, output: 12 },
      })
      expect(asked.content.messages![0]).toEqual({
        role: 'system',
        parts: [{ type: 'text', text: 'Be brief.' }],
      })
    }
    for (const told of [calls[1]!, calls[3]!])
      expect(told.step).toMatchObject({
        outputPreview: tornText,
        usage: { input: 90, output: 9, cacheRead: 64 },
      })
    expect(calls[3]!.step.firstTokenMs).toBeGreaterThan(0)
  })
})
