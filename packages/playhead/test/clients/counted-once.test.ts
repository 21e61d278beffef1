import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { Anthropic } from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { load as loadPrevious } from '@playhead/previous-clients'
import { generateText, streamText } from 'ai'
import { OpenAI } from 'openai'
import { expect, test } from 'vitest'
import { wrapAnthropic, wrapGoogleGenAI, wrapOpenAI } from '../../src/capture/hooks/wrap-client.ts'
import { inAction, otherTracer, type Recorder } from './recorder.ts'
import { setScene } from './scene.ts'

const reply = () => ({ text: 'Once.', usage: { input: 100, output: 10 } })

/** All steps that report a call, and the usage that counts. */
function reportsOf(recorder: Recorder) {
  const reports = recorder.steps().filter(({ step }) => step.usage !== undefined)
  return {
    reporters: new Set(reports.map(({ span }) => span.scope.name)).size,
    counted: reports.filter(({ step }) => step.usageScope === 'call').map(({ step }) => step.usage),
  }
}

const once = [{ input: 100, output: 10, total: 110 }]

test('a call that the AI SDK 7 also traces is counted once', async () => {
  const { client, recorder } = await setScene(reply, (url) => ({
    openai: createOpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` }),
    anthropic: createAnthropic({ apiKey: 'sk-ant-test', baseURL: `${url}/v1` }),
  }))
  // Its types come from another patch version of the AI SDK.
  const telemetry = { integrations: new OpenTelemetry({ tracer: otherTracer }) as never }
  await generateText({ model: client.openai.chat('gpt-4o'), prompt: 'Once?', telemetry })
  expect(reportsOf(recorder)).toEqual({ reporters: 2, counted: once })
  recorder.reset()
  const { textStream } = streamText({
    model: client.anthropic('claude-haiku-4-5'),
    prompt: 'Once?',
    telemetry,
  })
  for await (const _piece of textStream) continue
  await expect.poll(() => reportsOf(recorder)).toEqual({ reporters: 2, counted: once })
})

test('a call that the AI SDK 6 also traces is counted once', async () => {
  const ai = await loadPrevious.ai()
  const { createOpenAI: createPrevious } = await loadPrevious.aiOpenAi()
  const { client, recorder } = await setScene(reply, (url) =>
    createPrevious({ apiKey: 'sk-test', baseURL: `${url}/v1` }),
  )
  const telemetry = { isEnabled: true, tracer: otherTracer }
  await ai.generateText({ model: client.chat('gpt-4o'), prompt: 'Once?', experimental_telemetry: telemetry })
  expect(reportsOf(recorder)).toEqual({ reporters: 2, counted: once })
})

test("a call that Anthropic's client also traces is one step", async () => {
  const { client, recorder } = await setScene(
    reply,
    (url) => new Anthropic({ apiKey: 'sk-ant-test', baseURL: url }),
  )
  const ask = {
    model: 'claude-haiku-4-5',
    max_tokens: 10,
    messages: [{ role: 'user' as const, content: 'Once?' }],
  }
  await client.messages.create(ask)
  // The client reports no content: its span became a part of the step.
  const partsOfCall = () => recorder.call().step.parts?.length
  expect([reportsOf(recorder), partsOfCall()]).toEqual([{ reporters: 1, counted: once }, 1])
  recorder.reset()
  await client.messages.stream(ask).finalMessage()
  expect([reportsOf(recorder), partsOfCall()]).toEqual([{ reporters: 1, counted: once }, 1])
})

test('a call of a wrapped client that is also observed at the HTTP layer is counted once', async () => {
  const { client, recorder } = await setScene(reply, (url) => ({
    openai: wrapOpenAI(new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` })),
    anthropic: wrapAnthropic(new Anthropic({ apiKey: 'sk-ant-test', baseURL: url, openTelemetry: false })),
    google: wrapGoogleGenAI(new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: { baseUrl: url } })),
  }))
  const messages = [{ role: 'user' as const, content: 'Once?' }]
  const calls = [
    () => client.openai.chat.completions.create({ model: 'gpt-4o', messages }),
    () =>
      client.openai.chat.completions
        .stream({ model: 'gpt-4o', messages, stream_options: { include_usage: true } })
        .finalMessage(),
    () => client.openai.responses.create({ model: 'gpt-4o', input: 'Once?' }),
    () => client.anthropic.messages.create({ model: 'claude-haiku-4-5', max_tokens: 10, messages }),
    () =>
      client.anthropic.messages
        .stream({ model: 'claude-haiku-4-5', max_tokens: 10, messages })
        .finalMessage(),
    () => client.google.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Once?' }),
  ]
  for (const call of calls) {
    recorder.reset()
    await inAction('ask', async () => void (await call()))
    const steps = recorder.steps()
    expect(steps.map(({ step }) => [step.kind, step.depth, step.usageScope])).toEqual([
      ['action', 0, undefined],
      ['llm', 1, 'rollup'],
      ['llm', 2, 'call'],
    ])
    expect(steps[1]!.step.responseId).toBe(steps[2]!.step.responseId)
    expect(reportsOf(recorder).counted).toEqual(once)
  }
})
