import { createRedactor } from '@playhead/model'
import { expect, test } from 'vitest'
import { describeError } from './describe-error.ts'

const options = { maxLength: 1000, isContentKept: true, isSecretKey: createRedactor().isSecretKey }

const describe = (thrown: unknown, isContentKept = true) =>
  describeError(thrown, { ...options, isContentKept })

class ValueError extends Error {}

test('an error keeps its type, message, stack and causes', () => {
  const error = new ValueError('customer_id cannot be null', {
    cause: new TypeError('no row', { cause: 'offline' }),
  })
  expect(describe(error)).toEqual({
    type: 'ValueError',
    message: 'customer_id cannot be null',
    stack: expect.stringContaining('describe-error.test.ts') as string,
    cause: {
      type: 'TypeError',
      message: 'no row',
      stack: expect.any(String) as string,
      cause: { type: 'string', message: 'offline' },
    },
  })
})

test('an aggregate error keeps all its errors, and lists them if it has no message', () => {
  const error = new AggregateError([new Error('first'), new ValueError('second')])
  expect(describe(error)).toMatchObject({
    type: 'AggregateError',
    message: '2 errors: first; second',
    cause: { message: 'first' },
    errors: [{ message: 'first' }, { type: 'ValueError', message: 'second' }],
  })
})

test.each<[unknown, { type: string; message: string }]>([
  ['just text', { type: 'string', message: 'just text' }],
  [undefined, { type: 'undefined', message: 'null' }],
  [null, { type: 'null', message: 'null' }],
  [{ code: 7 }, { type: 'Object', message: '{"code":7}' }],
  [
    { message: 'from a library', name: 'HTTPError' },
    { type: 'HTTPError', message: 'from a library' },
  ],
])('describes anything that is thrown: %j', (thrown, expected) => {
  expect(describe(thrown)).toEqual(expected)
})

test.each([
  [AbortSignal.abort().reason, 'AbortError', 'This operation was aborted'],
  [new DOMException('took too long', 'TimeoutError'), 'TimeoutError', 'took too long'],
])('a DOMException keeps its name and message', (thrown, type, message) => {
  expect(describe(thrown)).toMatchObject({ type, message })
})

test('our own frames are not in a stack', () => {
  const error = new Error('x')
  const own = new URL('../step/wrap-function.ts', import.meta.url).href
  error.stack = `Error: x\n    at lookUp (/app/tools.ts:3:1)\n    at run (${own}:20:5)\n    at wrap (/app/node_modules/playhead/dist/index.js:7:2)\n    at main (/app/main.ts:9:1)`

  expect(describe(error).stack).toBe(
    'Error: x\n    at lookUp (/app/tools.ts:3:1)\n    at main (/app/main.ts:9:1)',
  )
})

test('an unreadable message, and an endless chain of causes', () => {
  const hostile = Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('never')
    },
  })
  expect(describe(hostile)).toMatchObject({ type: 'Error', message: '' })
  const circular = new Error('again')
  circular.cause = circular
  expect(JSON.stringify(describe(circular)).match(/again/g)!.length).toBeLessThan(40)
})

test('without content, the message is hidden and the stack is kept', () => {
  const { message, stack } = describe(new Error('the card 4111… was refused'), false)
  expect(message).toBe('[26 characters]')
  expect(stack).not.toContain('card')
  expect(stack).toContain('describe-error.test.ts')
})
