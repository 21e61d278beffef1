import { expect, test } from 'vitest'
import { stepOf } from '../../../test/steps-of.ts'

function callWith(input: unknown[], output: unknown[] = []) {
  return stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': JSON.stringify(input),
      'gen_ai.output.messages': JSON.stringify(output),
    },
  }).outline
}

const call = (id: string, city: string) => ({
  type: 'tool_call',
  id,
  name: 'get_weather',
  arguments: { city },
})
const user = { role: 'user', parts: [{ type: 'text', content: 'Weather?' }] }
const result = (id: string, response: unknown) => ({
  role: 'tool',
  parts: [{ type: 'tool_call_response', id, response }],
})

test('the outline of a call has the tools that the model asked for', () => {
  const { toolRequests } = callWith(
    [user],
    [{ role: 'assistant', parts: [call('1', 'Paris'), call('2', 'Rome')] }],
  )

  expect(toolRequests).toEqual([
    { id: '1', name: 'get_weather', inputPreview: 'city=Paris' },
    { id: '2', name: 'get_weather', inputPreview: 'city=Rome' },
  ])
})

test('the outline of a call has the results since the previous reply', () => {
  const { toolAnswers } = callWith([
    user,
    { role: 'assistant', parts: [call('0', 'Oslo'), call('00', 'Bern')] },
    result('0', 'snow'),
    { role: 'assistant', parts: [call('1', 'Paris'), call('2', 'Rome')] },
    result('1', 'sunny'),
    result('2', { error: 'no such city' }),
  ])

  expect(toolAnswers).toEqual([
    { id: '1', outputPreview: 'sunny' },
    {
      id: '2',
      outputPreview: '{"error":"no such city"}',
      error: { type: 'ToolError', message: 'no such city' },
    },
  ])
})

test('calls that are messages of their own do not hide the results before them', () => {
  const { toolAnswers } = callWith([
    user,
    { role: 'assistant', parts: [call('1', 'Paris')] },
    result('1', 'sunny'),
    { role: 'assistant', parts: [call('2', 'Rome')] },
    result('2', 'rain'),
  ])

  expect(toolAnswers?.map(({ id }) => id)).toEqual(['1', '2'])
})
