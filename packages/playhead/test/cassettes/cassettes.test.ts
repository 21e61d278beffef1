import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { startScriptedModel, type ScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import * as playhead from 'playhead'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readCassette } from '@playhead/model'
import type { CassetteSettings } from '../../src/testing/cassettes/cassette-option.ts'
import { recordPlainTest } from '../../src/testing/runs/record-plain-test.ts'
import { temporaryFolder } from '../temporary-folder.ts'

let model: ScriptedModel
let folder: string
let said: string[]

beforeAll(async () => {
  playhead.init({ silent: true })
  model = await startScriptedModel(({ userText }) =>
    userText.includes('weather') && !userText.includes('again')
      ? { text: `It is cold in ${userText.split(' ').at(-1)}: 🏔️` }
      : 'Hello.',
  )
})
afterAll(() => model.stop())
beforeEach(async () => {
  folder = await temporaryFolder()
  said = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  vi.stubEnv('PLAYHEAD_CASSETTE', 'fill')
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

let requests = 0
const temperature = playhead.recordTool(
  { name: 'temperature', effect: 'read' },
  async ({ city }: { city: string }) => {
    requests += 1
    return Promise.resolve({ city, degrees: -3, at: new Date(0) })
  },
)

async function ask(
  text: string,
  { isStream = true, baseURL = `${model.url}/v1`, system = 'Be brief.' } = {},
) {
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 })
  const messages = [
    { role: 'system' as const, content: system },
    { role: 'user' as const, content: text },
  ]
  if (!isStream) {
    const { choices } = await client.chat.completions.create({ model: 'gpt-4o', messages })
    return choices[0]!.message.content
  }
  const stream = await client.chat.completions.create({
    model: 'gpt-4o',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })
  let answer = ''
  for await (const { choices } of stream) answer += choices[0]?.delta.content ?? ''
  return answer
}

/** An address that refuses every connection. */
const nowhere = 'http://127.0.0.1:2/v1'

function run<Result>(
  title: string,
  body: () => Promise<Result>,
  settings: CassetteSettings = {},
): Promise<unknown> {
  const cassette = { settings, title, testFile: join(folder, 'agent.test.ts') }
  return recordPlainTest({ name: title, attempt: 1, cassette }, body)
}

function fileOf(name: string): string {
  return join(folder, '__cassettes__/agent.test.ts', `${name}.jsonl`)
}

const agent = async (baseURL = `${model.url}/v1`) => [
  await ask('the weather in Oslo', { baseURL }),
  await temperature({ city: 'Oslo' }),
  await ask('the weather in Bodø', { baseURL, isStream: false }),
]

describe('a test with a cassette', () => {
  test('is recorded once and then answered without model and tools', async () => {
    const recorded = await run('knows the weather', () => agent())
    expect(said).toEqual([
      expect.stringMatching(
        /^playhead: cassette .*knows-the-weather\.jsonl added: 2 model calls and 1 action, for \$0\.0\d+\.\n$/,
      ),
    ])
    const text = readFileSync(fileOf('knows-the-weather'), 'utf8')
    const { meta, entries } = readCassette(text)
    expect(meta).toMatchObject({ name: 'knows the weather', playhead: '0.1.0' })
    expect(entries).toMatchObject([
      { kind: 'model', api: 'openai-chat', path: '/v1/chat/completions', answer: { status: 200 } },
      { kind: 'action', name: 'temperature', arguments: { city: 'Oslo' }, shape: 'promise' },
      { kind: 'model', answer: { body: { object: 'chat.completion' } } },
    ])

    vi.stubEnv('PLAYHEAD_CASSETTE', 'strict')
    const before = requests
    expect(await run('knows the weather', () => agent(nowhere))).toEqual(recorded)
    expect(requests).toBe(before)
    expect(readFileSync(fileOf('knows-the-weather'), 'utf8')).toBe(text)
  })

  test('keeps the events of a stream as they came', async () => {
    await run('streams', () => ask('the weather in Oslo'))
    const [entry] = readCassette(readFileSync(fileOf('streams'), 'utf8')).entries
    const { answer } = entry as { answer: { events: [number, string][] } }
    expect(answer.events.at(-1)![1]).toBe('data: [DONE]\n\n')
    expect(answer.events.every(([, text]) => text.startsWith('data: ') && text.endsWith('\n\n'))).toBe(true)
    expect(answer).not.toHaveProperty('isAborted')
  })

  test('records only what is missing, at the end of the file', async () => {
    await run('grows', () => ask('the weather in Oslo'))
    const first = readFileSync(fileOf('grows'), 'utf8')
    said.length = 0
    await run('grows', async () => [await ask('Hi'), await ask('the weather in Oslo', { baseURL: nowhere })])
    const second = readFileSync(fileOf('grows'), 'utf8')
    expect(second.startsWith(first)).toBe(true)
    expect(readCassette(second).entries).toHaveLength(2)
    expect(said.join('')).toContain('added: 1 model call and 0 actions')
  })

  test('says nothing and writes nothing when all is there', async () => {
    await run('same', () => ask('Hi'))
    said.length = 0
    await run('same', () => ask('Hi', { baseURL: nowhere }))
    expect(said).toEqual([])
    expect(readdirSync(join(folder, '__cassettes__/agent.test.ts'))).toEqual(['same.jsonl'])
  })

  test('is recorded anew with PLAYHEAD_CASSETTE=record, and not used with live', async () => {
    await run('anew', async () => [await ask('Hi'), await ask('the weather in Oslo')])
    vi.stubEnv('PLAYHEAD_CASSETTE', 'record')
    await run('anew', () => ask('Hi'))
    const text = readFileSync(fileOf('anew'), 'utf8')
    expect(readCassette(text).entries).toHaveLength(1)
    vi.stubEnv('PLAYHEAD_CASSETTE', 'live')
    const before = model.requests.length
    await run('anew', () => ask('Hi'))
    expect(model.requests.length).toBe(before + 1)
    expect(readFileSync(fileOf('anew'), 'utf8')).toBe(text)
  })

  test('has a file of its own name, also for several tests', async () => {
    const settings = { file: 'shared.jsonl' }
    await run('one', () => ask('Hi'), settings)
    await run('two', () => ask('the weather in Oslo'), settings)
    expect(readCassette(readFileSync(join(folder, 'shared.jsonl'), 'utf8')).entries).toHaveLength(2)
    vi.stubEnv('PLAYHEAD_CASSETTE', 'record')
    await run('one', () => ask('Hi'), settings)
    await run('two', () => ask('the weather in Oslo'), settings)
    await run('two', () => ask('the weather in Oslo'), settings)
    expect(readCassette(readFileSync(join(folder, 'shared.jsonl'), 'utf8')).entries).toHaveLength(2)
  })

  test('beside others has its own tape', async () => {
    const cities = ['Oslo', 'Rome', 'Bonn', 'Cork']
    const all = (baseURL?: string) =>
      Promise.all(
        cities.map((city) =>
          run(`in ${city}`, async () => [
            await ask('Hi', { baseURL: baseURL ?? `${model.url}/v1` }),
            await ask(`the weather in ${city}`, { baseURL: baseURL ?? `${model.url}/v1` }),
            await temperature({ city }),
          ]),
        ),
      )
    const recorded = await all()
    vi.stubEnv('PLAYHEAD_CASSETTE', 'strict')
    expect(await all(nowhere)).toEqual(recorded)
    for (const city of cities)
      expect(readCassette(readFileSync(fileOf(`in-${city}`), 'utf8')).entries).toHaveLength(3)
  })

  test('may have an agent with a session of its own, whose actions hold model calls', async () => {
    const classify = playhead.recordAction('classify', (text: string, baseURL: string) =>
      ask(text, { baseURL, isStream: false }),
    )
    const whole = (baseURL: string) => async () => {
      playhead.startSession({ name: 'support' })
      const intent = await classify('the weather in Oslo', `${model.url}/v1`)
      await playhead.endSession('Success')
      return [intent, baseURL.length > 0]
    }
    await run('nested', whole(''))
    expect(readCassette(readFileSync(fileOf('nested'), 'utf8')).entries).toMatchObject([
      { kind: 'action', name: 'classify', isContainer: true },
      { kind: 'model' },
    ])
    vi.stubEnv('PLAYHEAD_CASSETTE', 'strict')
    const before = model.requests.length
    await run('nested', whole('x'))
    expect(model.requests.length).toBe(before)
  })
})

describe('a miss', () => {
  beforeEach(async () => {
    await run('strict', () => ask('Hi', { system: 'You are a friendly support agent.' }))
    vi.stubEnv('PLAYHEAD_CASSETTE', 'strict')
  })

  test('fails the test with the sentence and the words that differ, even if the agent catches it', async () => {
    const caught = () => ask('Hi', { system: 'You are a grumpy support agent.' }).catch(() => 'Sorry!')
    await expect(run('strict', caught)).rejects.toThrow(
      /^The cassette .*strict\.jsonl has no answer\. The model was asked something else than recorded \(step 1 gpt-4o\): system prompt is "You are a grumpy support agent\.", recorded was "You are a friendly support agent\."\.\n\n- recorded: You are a friendly support agent\.\n\+ asked: {4}You are a grumpy support agent\.\n\nIf the change is meant, record what is missing with PLAYHEAD_CASSETTE=fill/,
    )
  })

  test('comes first, with the error of the test as its cause', async () => {
    const failing = async () => {
      await ask('the weather in Rome').catch(() => undefined)
      throw new Error('no answer was expected')
    }
    await expect(run('strict', failing)).rejects.toMatchObject({
      name: 'CassetteMissError',
      cause: { message: 'no answer was expected' },
    })
  })

  test('of an action that was never recorded', async () => {
    await expect(run('strict', () => temperature({ city: 'Oslo' }))).rejects.toThrow(
      'The tape has no action temperature: the recorded run never called it.',
    )
  })

  test('a missing file, a broken one', async () => {
    await expect(run('unknown', () => ask('Hi'))).rejects.toThrow(
      /^There is no cassette .*unknown\.jsonl\. Record it with PLAYHEAD_CASSETTE=fill and commit the file\.$/,
    )
    writeFileSync(fileOf('strict'), '<<<<<<< HEAD\n')
    await expect(run('strict', () => ask('Hi'))).rejects.toThrow(
      /strict\.jsonl can't be read\. Line 1 of the cassette is not JSON\.$/,
    )
  })
})

describe('what is not recorded', () => {
  test('a call that failed in a test that failed', async () => {
    await expect(run('offline', () => ask('Hi', { baseURL: nowhere }))).rejects.toThrow('Connection error')
    expect(existsSync(fileOf('offline'))).toBe(false)
    expect(said.join('')).toMatch(
      /offline\.jsonl not written, because the test failed and a model call ended with ECONNREFUSED\./,
    )
  })

  test('a request beside models and tools fails the test at once; inside a tool it is made', async () => {
    const server = createServer((_, response) => response.end('{"rate":2}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const getRate = async () => (await fetch(`http://127.0.0.1:${port}/rate?x=1`)).json()
    const rate = playhead.recordTool({ name: 'rate', effect: 'read' }, getRate)
    await expect(run('beside', getRate)).rejects.toThrow(
      `The test made a request that no cassette can answer: GET http://127.0.0.1:${port}/rate. Record the function that makes it with recordTool.`,
    )
    expect(await run('inside', rate)).toEqual({ rate: 2 })
    await new Promise((resolve) => server.close(resolve))
    vi.stubEnv('PLAYHEAD_CASSETTE', 'strict')
    expect(await run('inside', rate)).toEqual({ rate: 2 })
  })
})

test('a result that can’t be recorded is made again, and is a miss in strict', async () => {
  const open = playhead.recordTool({ name: 'open', effect: 'read' }, () => new Response('x'))
  const read = async () => open().text()
  await run('no data', read)
  expect(readCassette(readFileSync(fileOf('no-data'), 'utf8')).entries).toEqual([
    {
      kind: 'action',
      name: 'open',
      arguments: {},
      shape: 'value',
      types: expect.anything(),
      notServable: expect.stringMatching(/^open: /),
    },
  ])
  expect(await run('no data', read)).toBe('x')
  expect(readCassette(readFileSync(fileOf('no-data'), 'utf8')).entries).toHaveLength(1)
  vi.stubEnv('PLAYHEAD_CASSETTE', 'strict')
  await expect(run('no data', read)).rejects.toThrow(/has no answer\. open: /)
})

test('two tests whose names give one file', async () => {
  await run('a b', () => ask('Hi'))
  await expect(run('a: b', () => ask('Hi'))).rejects.toThrow(
    /^Two tests have the cassette .*a-b\.jsonl\. Name the file of one: \{ cassette: 'other\.jsonl' \}\.$/,
  )
})
