import { expect, test } from 'vitest'
import { chat, play, useRecorder } from './play-exchange.ts'

useRecorder()

test('Ollama: JSON lines, and a response without streaming', () => {
  const url = 'http://localhost:11434/api/chat'
  const lines = [
    { model: 'llama3', message: { role: 'assistant', content: '', thinking: 'Hm.' }, done: false },
    { model: 'llama3', message: { role: 'assistant', content: 'Hel' }, done: false },
    { model: 'llama3', message: { role: 'assistant', content: 'lo' }, done: false },
    {
      model: 'llama3',
      message: {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: 'look', arguments: { at: 1 } } }],
      },
      done: false,
    },
    {
      model: 'llama3',
      message: { content: '' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 26,
      eval_count: 8,
    },
  ]
  const streamed = play({
    url,
    request: { model: 'llama3', messages: chat.messages },
    type: 'application/x-ndjson',
    response: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  })
  expect(streamed.answer).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hello' },
    { type: 'tool-call', name: 'look', arguments: { at: 1 } },
  ])
  expect(streamed.step).toMatchObject({
    provider: 'ollama',
    usage: { input: 26, output: 8 },
    finishReasons: ['stop'],
    status: 'ok',
  })
  // A local model costs nothing.
  expect(streamed.step.cost).toBeUndefined()
  const whole = play({
    url: 'http://localhost:11434/api/generate',
    request: { model: 'llama3', prompt: 'Hi', stream: false },
    response: {
      model: 'llama3',
      response: 'Hello',
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 3,
      eval_count: 1,
    },
  })
  expect(whole.answer).toEqual([{ type: 'text', text: 'Hello' }])
})
