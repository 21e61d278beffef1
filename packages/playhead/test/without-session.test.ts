import Anthropic from '@anthropic-ai/sdk'
import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Session } from '@playhead/model'
import * as playhead from '../src/index.ts'
import { startTestServer, type TestServer } from '../../server/test/test-server.ts'

let server: TestServer
let folder: string
beforeAll(async () => {
  server = await startTestServer()
  folder = await mkdtemp(join(tmpdir(), 'playhead-recordings-'))
  playhead.init({ endpoint: server.url, dir: folder })
})
afterAll(async () => {
  await playhead.shutdown()
  await server.stop()
  await rm(folder, { recursive: true })
})

async function startModel(): Promise<string> {
  const asks = (city: string) => callTool('get_weather', { city })
  const model = await startScriptedModel(inTurns(asks('Köln'), asks('Bonn'), { text: 'It rains.' }))
  onTestFinished(() => model.stop())
  return model.url
}

/** The loop of an agent that was written without Playhead. */
async function chat(url: string, question: string): Promise<void> {
  const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
  for (;;) {
    const { choices } = await openai.chat.completions.create({ model: 'gpt-4o', messages })
    const { message } = choices[0]!
    messages.push(message)
    if (message.tool_calls === undefined) return
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: '{"sky":"rain"}' })
  }
}

async function message(url: string, question: string): Promise<void> {
  const anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: url })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (;;) {
    const { content } = await anthropic.messages.create({
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      messages,
    })
    messages.push({ role: 'assistant', content })
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '{"sky":"rain"}' })),
    })
  }
}

/** The calls and tools of each session that a question began. */
async function sessionsAsking(question: string): Promise<unknown[]> {
  expect(await playhead.flush()).toBe(true)
  const listed = await server.sessions('limit=100')
  const sessions = listed.filter(({ inputPreview }) => inputPreview === question)
  return Promise.all(
    sessions.map(async ({ id }) =>
      describeSession((await (await server.request(`/api/sessions/${id}`)).json()) as Session),
    ),
  )
}

/** The same, of the recordings on disk. */
async function recordingsAsking(question: string): Promise<unknown[]> {
  expect(await playhead.flush()).toBe(true)
  const texts = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'))
  const recordings = (await Promise.all(texts)).map((text) => JSON.parse(text) as Session)
  return recordings
    .filter(({ steps }) => JSON.stringify(steps).includes(question))
    .map((recording) => describeSession(recording))
}

function describeSession({ session, steps }: Session): unknown {
  const { llmCallCount, actionCount, endState } = session
  const actions = steps.filter(({ kind }) => kind === 'action')
  return {
    llmCallCount,
    actionCount,
    endState,
    actions: actions.map(({ name, inputPreview }) => [name, inputPreview]),
  }
}

const twoCities = {
  llmCallCount: 3,
  actionCount: 2,
  endState: 'success',
  actions: [
    ['get_weather', 'city=Köln'],
    ['get_weather', 'city=Bonn'],
  ],
}

test('a loop outside of any session is one session with its tools', async () => {
  await chat(await startModel(), 'Weather in two cities?')

  expect(await sessionsAsking('Weather in two cities?')).toEqual([twoCities])
  expect(await recordingsAsking('Weather in two cities?')).toEqual([twoCities])
})

test('a client with spans of its own around each call is no different', async () => {
  await message(await startModel(), 'Weather, Claude?')

  expect(await sessionsAsking('Weather, Claude?')).toEqual([twoCities])
  expect(await recordingsAsking('Weather, Claude?')).toEqual([twoCities])
})

test('two conversations at once stay apart, and so do two turns of the user', async () => {
  const url = await startModel()
  await Promise.all([chat(url, 'Rain here?'), chat(await startModel(), 'Rain there?')])
  await chat(await startModel(), 'Rain there?')

  expect(await sessionsAsking('Rain here?')).toHaveLength(1)
  expect(await sessionsAsking('Rain there?')).toHaveLength(2)
  expect(await recordingsAsking('Rain here?')).toHaveLength(1)
  expect(await recordingsAsking('Rain there?')).toHaveLength(2)
})
