import { expect, test } from 'vitest'
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
