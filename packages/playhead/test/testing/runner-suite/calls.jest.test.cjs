/* Jest runs every file in a sandbox of its own. */
const { fetch: takenBefore } = globalThis
const { createServer } = require('node:http')
const playhead = require('playhead')
const { test, expect } = require('playhead/jest')

let model
beforeAll(async () => {
  const answer = { choices: [{ message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }] }
  model = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(answer)))
  })
  await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve))
})
afterAll(() => model.close())

test('a call is recorded once, by the file that made it', async ({ session }) => {
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
  const url = `http://127.0.0.1:${model.address().port}/v1/chat/completions`
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  await (await takenBefore(url, init)).json()
  await new Promise((resolve, reject) => {
    const request = require('node:http').request(url, init, (response) =>
      response.resume().on('end', resolve),
    )
    request.on('error', reject).end(body)
  })
  expect(session.toJSON().steps.filter(({ kind }) => kind === 'llm')).toHaveLength(2)
  await playhead.flush()
})
