import { createRequire } from 'node:module'
import { load as loadPrevious, require as requirePrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { describe, expect, test } from 'vitest'
import { setScene, startModel, tornText, variantsOf } from './scene.ts'

type GoogleModule = typeof import('@google/genai')
type Client = InstanceType<GoogleModule['GoogleGenAI']>

const require = createRequire(import.meta.url)

const variants = variantsOf<GoogleModule>({
  '@google/genai 2, ESM': () => import('@google/genai'),
  '@google/genai 2, CJS': () => require('@google/genai'),
  '@google/genai 1, ESM': () => loadPrevious.googleGenAi(),
  '@google/genai 1, CJS': () => requirePrevious('@google/genai'),
})

const weatherTool = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'The weather of a city',
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
}

describe.each(variants)('$name', ({ load, isBuiltBefore }) => {
  const build = async (url: string): Promise<Client> => {
    const { GoogleGenAI } = await load()
    return new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: { baseUrl: url } })
  }

  test('records a conversation with a tool', async () => {
    const { client, recorder } = await setScene(
      inTurns(
        { ...callTool('get_weather', { city: 'Rom' }), usage: { input: 30, output: 25, reasoning: 15 } },
        { text: 'Sunny.', usage: { input: 80, output: 3, cacheRead: 64 } },
      ),
      build,
      { isBuiltBefore },
    )
    const config = { systemInstruction: 'Be brief.', temperature: 0, tools: [weatherTool] }
    const contents = [{ role: 'user', parts: [{ text: 'Weather in Rom?' }] }] as Parameters<
      Client['models']['generateContent']
    >[0]['contents'] &
      unknown[]
    const first = await client.models.generateContent({ model: 'gemini-2.5-flash', contents, config })
    contents.push(first.candidates![0]!.content!, {
      role: 'user',
      parts: [{ functionResponse: { name: 'get_weather', response: { sky: 'sun' } } }],
    })
    await client.models.generateContent({ model: 'gemini-2.5-flash', contents, config })
    const [asked, told] = recorder.calls()
    expect(asked!.span.name).toBe('generate_content gemini-2.5-flash')
    expect(asked!.step).toMatchObject({
      kind: 'llm',
      model: 'gemini-2.5-flash',
      provider: 'gcp.gemini',
      usage: { input: 30, output: 25, reasoning: 15, total: 55 },
      // 30 at 0.3, 25 at 2.5 dollars per million.
      cost: 0.0000715,
    })
    expect(asked!.content.toolDefinitions![0]!.name).toBe('get_weather')
    expect(asked!.content.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Weather in Rom?' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', name: 'get_weather', arguments: { city: 'Rom' } }],
        finishReason: 'STOP',
        isOutput: true,
      },
    ])
    expect(told!.content.messages!.find(({ role }) => role === 'tool')!.parts).toEqual([
      { type: 'tool-result', name: 'get_weather', result: { sky: 'sun' } },
    ])
    expect(told!.step.usage).toMatchObject({ input: 80, cacheRead: 64, output: 3 })
    expect(JSON.stringify(recorder.steps().map(({ span }) => span.attributes))).not.toContain('AIza')
  })

  test('streams text from arbitrary chunks, and the caller sees the same chunks as without the SDK', async () => {
    const reply = {
      id: 'r1',
      text: tornText,
      reasoning: 'Greet.',
      usage: { input: 10, output: 9, reasoning: 2 },
      sliceBytes: 43,
    }
    const ask = async (client: Client) => {
      const chunks = []
      for await (const chunk of await client.models.generateContentStream({
        model: 'gemini-2.5-flash',
        contents: 'Greet me.',
      }))
        chunks.push({ candidates: chunk.candidates, usage: chunk.usageMetadata })
      return chunks
    }
    const bare = await ask(await build((await startModel(() => reply)).url))
    const { client, recorder, model } = await setScene(() => reply, build, { isBuiltBefore })
    expect(await ask(client)).toEqual(bare)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({
      outputPreview: tornText,
      usage: { input: 10, output: 9, reasoning: 2 },
      responseId: 'r1',
    })
    expect(content.streaming!.chunks!.map(([, text]) => text).join('')).toBe(tornText)
    expect(step.firstTokenMs).toBeGreaterThanOrEqual(model.requests[0]!.firstByteMs!)
  })

  test('records embeddings and errors', async () => {
    const { client, recorder } = await setScene(
      ({ api }) => (api === 'gemini.embed' ? {} : { error: { status: 429, message: 'Quota exceeded.' } }),
      build,
      { isBuiltBefore },
    )
    await client.models.embedContent({ model: 'gemini-embedding-001', contents: 'one' })
    await expect(client.models.generateContent({ model: 'gemini-2.5-pro', contents: 'Hi' })).rejects.toThrow(
      'Quota',
    )
    const [embedded, refused] = recorder.calls()
    expect(embedded!.step).toMatchObject({
      kind: 'embedding',
      model: 'gemini-embedding-001',
      inputPreview: 'one',
    })
    expect(refused!.step).toMatchObject({
      status: 'error',
      error: { type: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded.' },
    })
  })
})
