import { findTapeGaps, type Session } from '@playhead/model'
import { afterEach, beforeAll, expect, test } from 'vitest'
import * as playhead from '../index.ts'
import { requireRecorder } from '../record/session/active-recorder.ts'
import { setTape } from '../record/session/active-tape.ts'
import { createRunTape } from './run-tape.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false }))
afterEach(() => setTape(undefined))

type AnyFunction = (...args: never[]) => unknown

class Customer {
  readonly name: string
  readonly since: Date

  constructor(name: string, since: Date) {
    this.name = name
    this.since = since
  }

  greet(): string {
    return `Hello ${this.name}`
  }
}

class Pages {
  async *[Symbol.asyncIterator](): AsyncGenerator {
    yield 1
  }
}

/** Runs the function in a session and returns that, as it would be stored. */
async function record(fn: AnyFunction, options: Omit<playhead.ToolOptions, 'name'> = {}): Promise<Session> {
  const recorded = playhead.recordTool({ name: 'tool', ...options }, fn)
  const id = await playhead.withSession(async ({ id }) => {
    await drain(recorded)
    return id
  })
  const recorder = requireRecorder('test')!
  const session = recorder.readSession(recorder.findRecord(id)!, { isPriced: false })
  return JSON.parse(JSON.stringify(session)) as Session
}

/** What a call gives: its pieces, its result and what it throws, and how. */
async function drain(call: () => unknown): Promise<unknown[]> {
  const seen: unknown[] = []
  try {
    const result = call()
    seen.push(Object.prototype.toString.call(result))
    if (typeof result === 'object' && result !== null && 'next' in result) {
      const generator = result as AsyncGenerator
      let next = await generator.next()
      for (; next.done !== true; next = await generator.next()) seen.push(next.value)
      seen.push({ returned: next.value })
    } else seen.push(await result)
  } catch (error) {
    seen.push({ thrown: error })
  }
  return seen
}

async function replay(session: Session, fn: AnyFunction, options: Omit<playhead.ToolOptions, 'name'> = {}) {
  const content = { content: true, redactText: (text: string) => text, maxValueBytes: 1e6 }
  const tape = createRunTape({
    parent: session,
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
    allowWrites: [],
    agent: {},
    content: () => content,
  })
  let runs = 0
  const counting = new Proxy(fn, {
    apply(target, self, args) {
      runs += 1
      return Reflect.apply(target, self, args as never[])
    },
  })
  const again = playhead.recordTool({ name: 'tool', parameters: [], ...options }, counting)
  setTape(() => tape)
  const seen = await playhead.withSession(() => drain(again))
  return { seen, runs, misses: tape.misses.map(({ sentence }) => sentence) }
}

const bytes = new Uint8Array([0, 255, 128, 7])

test.each<[string, AnyFunction]>([
  ['text', () => 'billing'],
  ['JSON as text', () => '{"a":1}'],
  ['text in quotes', () => '"a"'],
  ['text that looks like a number', () => '42'],
  ['the text null', () => 'null'],
  ['null', () => null],
  ['nothing', () => undefined],
  ['a number', () => 1.5],
  ['zero', () => 0],
  ['a negative zero', () => -0],
  ['not a number', () => Number.NaN],
  ['false', () => false],
  ['content blocks', () => [{ type: 'text', text: '{"a":1}' }]],
  ['one key that is called result', () => ({ result: '{"a":1}' })],
  ['a promise of data', async () => ({ id: 'c_42', plan: ['pro', null] })],
  ['a promise of a function that is not async', () => Promise.resolve(7)],
  ['a date', () => new Date(1_700_000_000_000)],
  ['a date that is none', () => [new Date(Number.NaN)]],
  ['a bigint', () => 12_345_678_901_234_567_890n],
  ['dates and bigints in a list of rows', () => [1, 2, 3].map((n) => ({ id: BigInt(n), at: new Date(n) }))],
  ['a map', () => new Map([['plan', { at: new Date(1) }]])],
  [
    'a map whose keys are numbers as text',
    () =>
      new Map([
        ['10', 'a'],
        ['9', 'b'],
        ['x', 'c'],
      ]),
  ],
  [
    'a map with other keys',
    () =>
      new Map<unknown, unknown>([
        [1n, new Set([new Date(2)])],
        [new Date(3), 4],
      ]),
  ],
  ['a set', async () => new Set(['a', new Map([['b', -0]])])],
  ['odd numbers', () => ({ a: Number.NaN, b: -Infinity, c: -0, d: 0 })],
  ['undefined inside', () => ({ a: undefined, b: [undefined, 1], c: { d: undefined } })],
  ['keys that need escapes', () => ({ 'a/b': { 'c~d': new Date(4) }, '': 5n, ['__proto__']: new Date(8) })],
  ['bytes', () => bytes],
  ['a buffer', async () => ({ file: Buffer.from('abc'), more: bytes.buffer })],
  [
    'a part of a buffer',
    () => [bytes.subarray(1, 3), new Uint16Array([1, 65_535]), new DataView(bytes.buffer)],
  ],
  ['an address and a pattern', () => [new URL('https://x.test/a?b=1'), /a\/b/gi]],
  ['errors inside', () => [new TypeError('wrong', { cause: new RangeError('why') })]],
  [
    'settled promises',
    () => Promise.allSettled([Promise.resolve(new Date(5)), Promise.reject(new Error('no'))]),
  ],
  [
    'pieces of text',
    function* () {
      yield 'Hel'
      yield 'lo'
      yield ''
    },
  ],
  [
    'pieces of data',
    async function* () {
      yield { at: new Date(6) }
      yield [1n]
    },
  ],
  [
    'pieces and a result',
    function* () {
      yield 1
      return new Set([2])
    },
  ],
  [
    'no pieces but a result',
    // oxlint-disable-next-line require-yield -- as a host may write it
    async function* () {
      return { yielded: 'no' }
    },
  ],
  ['no pieces', function* () {}],
  [
    'one piece that is a list',
    function* () {
      yield ['a', 'b']
    },
  ],
  [
    'pieces and then an error',
    async function* () {
      yield 'a'
      throw new TypeError('cut')
    },
  ],
  [
    'an error',
    () => {
      throw new RangeError('too much')
    },
  ],
  [
    'an error of a promise',
    () => Promise.reject(Object.assign(new Error('no'), { code: 'E_NO', status: 503 })),
  ],
  [
    'a text as an error',
    async () => {
      throw 'text'
    },
  ],
  [
    'an object as an error',
    () => {
      throw { code: 7 }
    },
  ],
  [
    'an object with a message as an error',
    () => {
      throw { message: 'no', status: 429 }
    },
  ],
  [
    'several errors',
    () => {
      throw new AggregateError([new TypeError('a'), new Error('b')], 'both')
    },
  ],
  [
    'nothing as an error',
    () => {
      throw undefined
    },
  ],
])('a result that is %s is served as it was returned', async (_name, fn) => {
  const session = await record(fn)
  expect(findTapeGaps(session)).toEqual([])
  const expected = await drain(fn)
  expect(await replay(session, fn)).toStrictEqual({ seen: expected, runs: 0, misses: [] })
})

test('the name of an own error class is kept, the class is not', async () => {
  class PaymentError extends Error {}
  const fn = () => {
    throw new PaymentError('declined')
  }
  const { seen } = await replay(await record(fn), fn)
  const [{ thrown }] = seen as [{ thrown: Error }]
  expect([thrown.name, thrown.message, thrown instanceof Error]).toEqual(['PaymentError', 'declined', true])
})

test('the stack of a served error begins where the host made the call', async () => {
  function failing(): never {
    throw new RangeError('too much\nof it')
  }
  const { seen } = await replay(await record(failing), failing)
  const [{ thrown }] = seen as [{ thrown: Error }]
  expect(thrown.stack).toMatch(/^RangeError: too much\nof it\n {4}at drain \(.*revive-result\.test\.ts:/)
})

test('an instance is served as its data, or as `revive` makes it', async () => {
  const fn = async () => new Customer('Ada', new Date(7))
  const session = await record(fn)
  expect((await replay(session, fn)).seen[1]).toStrictEqual({ name: 'Ada', since: new Date(7) })
  const revive = ({ name, since }: Customer) => new Customer(name, since)
  const { seen, runs } = await replay(session, fn, { revive })
  expect([seen[1], runs]).toStrictEqual([new Customer('Ada', new Date(7)), 0])
})

test.each<[string, () => unknown, string]>([
  ['a response', () => new Response('a'), 'tool: its result is a Response, which can’t be recorded'],
  [
    'a stream inside',
    () => ({ files: [{ body: new ReadableStream() }] }),
    'tool: its result has a ReadableStream at files[0].body, which can’t be recorded',
  ],
  ['a function', () => () => 1, 'tool: its result is a function, which can’t be recorded'],
  [
    'large bytes',
    () => Buffer.alloc(100_000),
    'tool: its result is a Buffer of 100000 bytes, which can’t be recorded',
  ],
  [
    'bytes that hold a secret',
    () => ({ file: Buffer.from('key sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56') }),
    'tool: its result has a Buffer of 44 bytes at file, which can’t be recorded',
  ],
  [
    'an object that is read in pieces',
    () => new Pages(),
    'tool: its result is an iterable object, which can’t be recorded',
  ],
])('%s can’t be served, and the session says so', async (_name, fn, sentence) => {
  const session = await record(fn)
  expect(findTapeGaps(session)).toMatchObject([{ reason: 'result-not-data', sentence }])
  const { runs, misses } = await replay(session, fn)
  expect({ runs, misses }).toEqual({ runs: 0, misses: [sentence] })
})

test('a function inside a result fails when it is called, and says why', async () => {
  const fn = () => ({ id: 1, refresh: () => 2 })
  const session = await record(fn)
  expect(findTapeGaps(session)).toEqual([])
  const { seen, misses } = await replay(session, fn)
  const { id, refresh } = seen[1] as { id: number; refresh: () => number }
  expect([id, misses]).toEqual([1, []])
  expect(refresh).toThrow('tool was served from the tape, and the function at refresh of its result')
})

test('`replay: run` runs the function again', async () => {
  let count = 0
  const fn = () => (count += 1)
  const session = await record(fn)
  expect(await replay(session, fn, { replay: 'run' })).toEqual({
    seen: ['[object Number]', 2],
    runs: 1,
    misses: [],
  })
})
