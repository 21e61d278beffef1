import { expect, test } from 'vitest'
import { stepOf } from '../../../test/steps-of.ts'
import { parseErrorMessage } from './step-error.ts'

const trace = 'Traceback (most recent call last):\n  File "lib.py", line 40, in fetch'

test.each([
  [
    'a printed exception with its traceback',
    `ValueError('customer_id cannot be null')${trace}`,
    { type: 'ValueError', message: 'customer_id cannot be null', stack: trace },
  ],
  [
    'a message of several lines',
    'Error while generating output:\nError code: 400 - temperature must be at most 2.',
    {
      type: 'Error',
      message: 'Error while generating output:\nError code: 400 - temperature must be at most 2.',
    },
  ],
  [
    'a message of several lines with a stack',
    'TypeError: first\nsecond\n    at run (app.js:3:1)',
    { type: 'TypeError', message: 'first\nsecond', stack: 'at run (app.js:3:1)' },
  ],
  [
    'the data of a failed run, printed by Python',
    `Error in agent run: {'tool_name': 'fetch', 'error': "customer_id can't be null"}`,
    { type: 'Error', message: "customer_id can't be null" },
  ],
])('%s is parsed', (_name, message, expected) => {
  expect(parseErrorMessage(message)).toEqual(expected)
})

test('a printed exception gives a general type its name', () => {
  expect(parseErrorMessage(`ValueError('no')${trace}`, 'Exception')).toEqual({
    type: 'ValueError',
    message: 'no',
    stack: trace,
  })
})

test("an error that is only a type gets its message from the tool's result", () => {
  const { outline } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'error.type': 'TOOL_ERROR',
      'gen_ai.tool.call.result': '{"error": "There is no such city."}',
    },
    statusCode: 2,
  })

  expect(outline.error).toEqual({ type: 'TOOL_ERROR', message: 'There is no such city.' })
})
