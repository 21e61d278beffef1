import { expect, onTestFinished, test } from 'vitest'
import { callTool, inTurns, startScriptedModel, type Script } from './src/index.ts'

async function start(script?: Script) {
  const model = await startScriptedModel(script)
  onTestFinished(() => model.stop())
  const post = async (path: string, body: object) => {
    const response = await fetch(`${model.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const json = async (path: string, body: object) => JSON.parse((await post(path, body)).text) as never
  return { model, post, json }
}

const user = { role: 'user', content: 'Weather in Ulm?' }
const tool = {
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
}

test('without a script, the model calls the tool once and then reports its result', async () => {
  const { json } = await start()
  const ask = { model: 'm', messages: [user] as object[], tools: [{ type: 'function', function: tool }] }
  const first = await json('/v1/chat/completions', ask)
  expect(first).toMatchObject({
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          tool_calls: [
            { function: { name: 'get_weather', arguments: '{"city":"Weather in Ulm?","days":1}' } },
          ],
        },
      },
    ],
  })
  ask.messages.push((first as { choices: { message: object }[] }).choices[0]!.message, {
    role: 'tool',
    tool_call_id: 'call_1_0',
    content: '{"sky":"fog"}',
  })
  expect(await json('/v1/chat/completions', ask)).toMatchObject({
    choices: [{ message: { content: 'The tool says: {"sky":"fog"}' } }],
  })
})

test('without a script, the model follows a schema or repeats the question', async () => {
  const { json } = await start()
  const schema = {
    type: 'object',
    properties: { mood: { enum: ['good', 'bad'] }, tags: { type: 'array', items: { type: 'string' } } },
  }
  expect(
    await json('/v1/responses', {
      model: 'm',
      input: 'Hi',
      text: { format: { type: 'json_schema', name: 'x', schema } },
    }),
  ).toMatchObject({ output: [{ content: [{ text: '{"mood":"good","tags":["Hi"]}' }] }] })
  expect(await json('/v1/messages', { model: 'm', max_tokens: 9, messages: [user] })).toMatchObject({
    content: [{ type: 'text', text: 'You said: Weather in Ulm?' }],
    stop_reason: 'end_turn',
  })
})

test('the first rule with a reply wins, and parallel conversations have separate turns', async () => {
  const { json, model } = await start([
    ({ userText }) => (userText === 'Stop' ? 'Stopped.' : undefined),
    inTurns(callTool('look'), 'Second.', 'Last.'),
  ])
  const turn = (count: number) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Go' }] },
      ...Array.from({ length: count }, () => [
        { role: 'model', parts: [{ text: 'x' }] },
        { role: 'user', parts: [{ text: 'on' }] },
      ]).flat(),
    ],
  })
  const texts = await Promise.all(
    [0, 1, 2, 5].map((count) => json('/v1beta/models/g:generateContent', turn(count))),
  )
  expect(
    texts.map(
      (body) => (body as { candidates: { content: { parts: object[] } }[] }).candidates[0]!.content.parts[0],
    ),
  ).toEqual([
    { functionCall: { name: 'look', args: {} } },
    { text: 'Second.' },
    { text: 'Last.' },
    { text: 'Last.' },
  ])
  expect(
    await json('/api/chat', { model: 'm', stream: false, messages: [{ role: 'user', content: 'Stop' }] }),
  ).toMatchObject({
    message: { content: 'Stopped.' },
    done: true,
  })
  expect(model.requests.map(({ api, turn: count }) => [api, count])).toContainEqual(['gemini.generate', 5])
})

test('a response that continues another one includes its messages', async () => {
  const { json } = await start(inTurns('First.', 'Second.'))
  const first = (await json('/v1/responses', { model: 'm', input: 'Hi' })) as { id: string }
  expect(
    await json('/v1/responses', { model: 'm', input: 'And?', previous_response_id: first.id }),
  ).toMatchObject({
    output: [{ content: [{ text: 'Second.' }] }],
  })
})

test('errors have the format of each provider', async () => {
  const { post } = await start(() => ({ error: { status: 429, message: 'Slow.', retryAfterSeconds: 3 } }))
  const openai = await post('/v1/chat/completions', { model: 'm', messages: [user] })
  expect([openai.status, openai.headers.get('retry-after'), JSON.parse(openai.text)]).toEqual([
    429,
    '3',
    { error: { message: 'Slow.', type: 'rate_limit_error', param: null, code: null } },
  ])
  expect(JSON.parse((await post('/v1/messages', { model: 'm', messages: [user] })).text)).toMatchObject({
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Slow.' },
  })
  expect(JSON.parse((await post('/v1beta/models/g:generateContent', { contents: [] })).text)).toEqual({
    error: { code: 429, message: 'Slow.', status: 'RESOURCE_EXHAUSTED' },
  })
  expect((await post('/v1/nothing', {})).status).toBe(404)
})

test('a failing script is reported as a server error', async () => {
  const { post } = await start(() => {
    throw new Error('oops')
  })
  const { status, text } = await post('/v1/chat/completions', { model: 'm', messages: [user] })
  expect([status, text]).toEqual([500, expect.stringContaining('The script failed: Error: oops')])
})
