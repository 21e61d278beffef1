import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import * as playhead from '../../index.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false }))

/** The only step that a callback records, in its own session. */
function stepOf(run: () => unknown): playhead.RecordedAction {
  const session = playhead.withSession((view) => {
    run()
    return view
  })
  return session.actionEvents[0]!
}

async function stepOfAsync(run: () => unknown): Promise<playhead.RecordedAction> {
  const session = await playhead.withSession(async (view) => {
    await run()
    return view
  })
  return session.actionEvents[0]!
}

describe('a recorded function stays the same', () => {
  async function fetchCustomer(this: unknown, customerId: string, _limit?: number): Promise<{ id: string }> {
    return { id: customerId }
  }

  test('name, arity, properties and kind', () => {
    const original = Object.assign(fetchCustomer, { schema: { type: 'object' } })
    const recorded = playhead.recordAction('fetch_customer_data', original)
    expect([recorded.name, recorded.length, recorded.schema, recorded.constructor.name]).toEqual([
      'fetchCustomer',
      2,
      { type: 'object' },
      'AsyncFunction',
    ])
  })

  test('types: overloads, generics, this', () => {
    function overloaded(value: string): string
    function overloaded(value: number): number
    function overloaded(value: string | number) {
      return value
    }
    const generic = playhead.recordAction('generic', <Value>(value: Value) => [value])
    expectTypeOf(playhead.recordAction('o', overloaded)).toEqualTypeOf<typeof overloaded>()
    expectTypeOf(generic('a')).toEqualTypeOf<string[]>()
    expectTypeOf(playhead.recordTool({ name: 't', effect: 'read' }, fetchCustomer)).toEqualTypeOf<
      typeof fetchCustomer
    >()
    expectTypeOf(playhead.agent('a', async (question: string) => question.length)).toEqualTypeOf<
      (question: string) => Promise<number>
    >()
    expect(generic(1)).toEqual([1])
  })

  test('this', () => {
    const counter = {
      count: 1,
      add: playhead.recordAction('add', function (this: { count: number }, by: number) {
        this.count += by
        return this
      }),
    }
    expect(stepOf(() => expect(counter.add(2)).toBe(counter))).toMatchObject({ params: { by: 2 } })
    expect(counter.count).toBe(3)
  })

  test('return values and errors', async () => {
    const value = { big: 'object' }
    const error = { not: 'even an error' }
    expect(playhead.recordAction('value', () => value)()).toBe(value)
    expect(await playhead.recordAction('later', async () => value)()).toBe(value)
    const failing = playhead.recordAction('fail', () => {
      throw error
    })
    expect(failing).toThrow(expect.objectContaining(error) as Error)
    await expect(playhead.recordAction('reject', () => Promise.reject(error))()).rejects.toBe(error)
  })

  test('a recorded class can still be constructed', () => {
    class Agent {
      name = 'a'
    }
    const Recorded = playhead.recordAction(
      'agent',
      Agent as unknown as () => Agent,
    ) as unknown as typeof Agent
    expect(new Recorded()).toBeInstanceOf(Agent)
  })
})

describe('what is recorded', () => {
  test('arguments by name, result, effect and time', async () => {
    const refund = playhead.recordAction(
      { name: 'issue_refund', effect: 'write' },
      async (invoice: string, { amount }: { amount: number }, ...notes: string[]) => {
        await nextTurn()
        return { invoice, amount, notes: notes.length }
      },
    )
    expect(await stepOfAsync(() => refund('INV-1', { amount: 5 }, 'a', 'b'))).toEqual({
      actionType: 'issue_refund',
      params: { invoice: 'INV-1', amount: 5, notes: ['a', 'b'] },
      returns: { invoice: 'INV-1', amount: 5, notes: 2 },
      effect: 'write',
      status: 'ok',
      startedAt: expect.any(String) as string,
      durationMs: expect.any(Number) as number,
      stepId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    })
  })

  test.each<[string, () => unknown, unknown]>([
    ['null', () => null, null],
    ['nothing', () => undefined, undefined],
    ['a number', () => 0, 0],
    ['false', () => false, false],
    ['text', () => 'billing', 'billing'],
    ['empty text', () => '', ''],
    ['text that looks like a number', () => '42', '42'],
    ['text that is JSON', () => '{"a":1}', '{"a":1}'],
    ['text in quotes', () => '"a"', '"a"'],
    ['the text null', () => 'null', 'null'],
    ['a list', () => [1, null], [1, null]],
  ])('a result that is %s', (_, fn, returns) => {
    expect(stepOf(playhead.recordAction('give', fn)).returns).toEqual(returns)
  })

  test('a result that is JSON text still tells its error', () => {
    const find = playhead.recordAction('find', () => '{"error":"no such customer"}')
    expect(stepOf(find)).toMatchObject({
      returns: '{"error":"no such customer"}',
      status: 'soft-error',
      error: { message: 'no such customer' },
    })
  })

  test('a value as it was at the time of the call', () => {
    const push = playhead.recordAction('push', (list: number[]) => list.push(2))
    expect(stepOf(() => push([1]))).toMatchObject({ params: { list: [1] }, returns: 2 })
  })

  test("a tool uses OpenTelemetry's conventions", () => {
    const session = playhead.withSession((view) => {
      playhead.recordTool({ name: 'search', description: 'finds documents' }, (query: string) => [query])(
        'refunds',
      )
      return view
    })
    expect(session.steps[1]).toMatchObject({
      kind: 'action',
      name: 'search',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'search',
        'gen_ai.tool.call.arguments': '{"query":"refunds"}',
      },
      tool: {
        name: 'search',
        description: 'finds documents',
        arguments: { query: 'refunds' },
        result: ['refunds'],
      },
    })
  })

  test('agents inside agents', async () => {
    const researcher = playhead.agent('researcher', async (question: string) => {
      await nextTurn()
      return `facts on ${question}`
    })
    const writer = playhead.agent('writer', async (topic: string) => `text of ${await researcher(topic)}`)
    const session = await playhead.withSession(async (view) => {
      await writer('refunds')
      return view
    })
    expect(session.steps.map(({ kind, name, agent, output }) => [kind, name, agent, output])).toEqual([
      ['workflow', 'session', undefined, undefined],
      ['agent', 'writer', 'writer', 'text of facts on refunds'],
      ['agent', 'researcher', 'researcher', 'facts on refunds'],
    ])
    expect(session.steps[2]!.parentId).toBe(session.steps[1]!.id)
  })
})

describe('outside of any session', () => {
  test('the outermost call is a session', async () => {
    let inner: playhead.SessionView | undefined
    const child = playhead.recordAction('child', () => 1)
    const parent = playhead.recordAction('parent', async () => {
      child()
      await nextTurn()
      child()
      inner = playhead.getSession()
    })
    await parent()
    expect(inner!.steps.map(({ name }) => name)).toEqual(['parent', 'child', 'child'])
    expect([inner!.endState, inner!.name, inner!.id === playhead.getSession(inner!.id)!.id]).toEqual([
      'success',
      'parent',
      true,
    ])
  })

  test('it fails if the call fails', () => {
    let session: playhead.SessionView | undefined
    const failing = playhead.recordAction('fail', () => {
      session = playhead.getSession()
      throw new Error('no')
    })
    expect(failing).toThrow('no')
    expect([session!.endState, session!.endStateReason]).toEqual(['fail', 'no'])
  })
})

describe('generators', () => {
  test('a generator is one step, and its body runs inside', () => {
    const inner = playhead.recordAction('inner', (value: number) => value)
    const count = playhead.recordAction('count', function* (to: number) {
      for (let index = 0; index < to; index += 1) yield inner(index)
      return 'done'
    })
    const session = playhead.withSession((view) => {
      const generator = count(2)
      expect(generator).toBe(generator[Symbol.iterator]())
      expect([generator.next(), generator.next(), generator.next()]).toEqual([
        { value: 0, done: false },
        { value: 1, done: false },
        { value: 'done', done: true },
      ])
      return view
    })
    expect(session.actionEvents.map(({ actionType, returns }) => [actionType, returns])).toEqual([
      ['count', { yielded: [0, 1], returned: 'done' }],
      ['inner', 0],
      ['inner', 1],
    ])
    expect(session.steps[2]!.parentId).toBe(session.steps[1]!.id)
  })

  test('an async generator of text is recorded as a stream', async () => {
    const stream = playhead.recordAction('stream_answer', async function* () {
      for (const word of ['We ', 'are ', 'sorry']) {
        await nextTurn()
        yield word
      }
    })
    const session = await playhead.withSession(async (view) => {
      const words: string[] = []
      for await (const word of stream()) words.push(word)
      expect(words.join('')).toBe('We are sorry')
      return view
    })
    const [step] = session.steps.slice(1)
    expect(step).toMatchObject({
      output: 'We are sorry',
      streaming: {
        chunks: [
          [expect.any(Number), 'We '],
          [expect.any(Number), 'are '],
          [expect.any(Number), 'sorry'],
        ],
      },
    })
  })

  test('a long stream is kept whole, and an endless one is marked as truncated', () => {
    const count = playhead.recordAction('count', function* (to: number) {
      for (let number = 0; number < to; number += 1) yield number
    })
    const session = playhead.withSession((view) => {
      for (const to of [5000, 20_001]) for (const _ of count(to));
      return view
    })
    const counted = session.steps.filter(({ name }) => name === 'count')
    expect(counted.map(({ tool, isTruncated }) => [(tool!.result as number[]).length, isTruncated])).toEqual([
      [5000, undefined],
      [20_000, true],
    ])
  })

  test('a generator that is abandoned, and one that throws', async () => {
    const numbers = playhead.recordAction('numbers', async function* () {
      yield 1
      yield 2
      throw new Error('no more')
    })
    const left = await stepOfAsync(async () => {
      for await (const _ of numbers()) break
    })
    const failed = await stepOfAsync(async () => {
      const all = async () => {
        const values: number[] = []
        for await (const value of numbers()) values.push(value)
        return values
      }
      await expect(all()).rejects.toThrow('no more')
    })
    expect([left, failed]).toMatchObject([
      { status: 'ok', returns: [1] },
      { status: 'error', returns: [1, 2], error: { message: 'no more' } },
    ])
  })
})

describe('promises with more than then', () => {
  class Query<Row> implements PromiseLike<Row> {
    runs = 0
    readonly row: Row
    constructor(row: Row) {
      this.row = row
    }
    then<Given = Row, Thrown = never>(
      onReturn?: ((row: Row) => Given | PromiseLike<Given>) | null,
      onThrow?: ((error: unknown) => Thrown | PromiseLike<Thrown>) | null,
    ): Promise<Given | Thrown> {
      this.runs += 1
      return Promise.resolve(this.row).then(onReturn, onThrow)
    }
  }

  test('a query that runs when awaited is not run by the SDK, and stays the same object', async () => {
    const query = new Query({ id: 'c_1' })
    const find = playhead.recordAction('find', () => query)
    const step = await stepOfAsync(async () => {
      const result = find()
      expect([result === query, query.runs]).toEqual([true, 0])
      expect(await result).toEqual({ id: 'c_1' })
    })
    expect([query.runs, step.returns]).toEqual([1, { id: 'c_1' }])
  })

  test('a promise with methods keeps them', async () => {
    class ApiPromise<Value> extends Promise<Value> {
      asResponse() {
        return 'raw'
      }
    }
    const call = playhead.recordAction('call', () => ApiPromise.resolve(7) as ApiPromise<number>)
    const step = await stepOfAsync(async () => {
      const promise = call()
      expect([promise instanceof ApiPromise, promise.asResponse(), await promise]).toEqual([true, 'raw', 7])
    })
    expect(step.returns).toBe(7)
  })
})

test('before init and after shutdown, a recorded function is simply called', async () => {
  const add = playhead.recordAction('add', (a: number, b: number) => a + b)
  await playhead.shutdown()
  const { recorded } = playhead.stats()
  expect(add(1, 2)).toBe(3)
  expect(playhead.withSession((session) => session.id)).toBe('')
  expect(playhead.stats().recorded).toBe(recorded)
  playhead.init({ endpoint: false, capture: false })
  expect(stepOf(() => add(1, 2)).returns).toBe(3)
})
