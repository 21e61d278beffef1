import { beforeAll, expect, test } from 'vitest'
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

test('omitted arguments are shown', () => {
  const find = playhead.recordAction('find', (customerId?: string, _deep?: boolean) => customerId)
  expect(stepOf(() => find(undefined, true)).params).toEqual({ customerId: null, _deep: true })
})

test('a destructured object provides the names', () => {
  const find = playhead.recordAction('find', ({ id }: { id: string; deep: boolean }) => id)
  expect(stepOf(() => find({ id: 'c_1', deep: true })).params).toEqual({ id: 'c_1', deep: true })
})

test('the same call has the same arguments, whatever the style of the function', () => {
  class Plans {
    change({ customerId, plan }: { customerId: string; plan: string }) {
      return [customerId, plan]
    }
  }
  const decorate = playhead.recordAction('change')
  const decorated = decorate(Plans.prototype.change, {} as ClassMethodDecoratorContext)
  const styles: (() => unknown)[] = [
    () =>
      playhead.recordAction('change', (customerId: string, plan: string) => [customerId, plan])('c_1', 'pro'),
    () =>
      playhead.recordAction('change', ({ customerId, plan }: { customerId: string; plan: string }) => [
        customerId,
        plan,
      ])({ plan: 'pro', customerId: 'c_1' }),
    () =>
      playhead.recordAction(
        'change',
        function (customerId: string, { plan = 'free' }: { plan?: string } = {}) {
          return [customerId, plan]
        },
      )('c_1', { plan: 'pro' }),
    () => decorated.call(new Plans(), { plan: 'pro', customerId: 'c_1' }),
  ]
  expect(styles.map((style) => JSON.stringify(stepOf(style).params))).toEqual(
    styles.map(() => '{"customerId":"c_1","plan":"pro"}'),
  )
})

test('a destructured object that would hide another argument keeps its position as its name', () => {
  const merge = playhead.recordAction('merge', (id: string, { id: other }: { id: string }) => [id, other])
  expect(stepOf(() => merge('a', { id: 'b' })).params).toEqual({ id: 'a', '1': { id: 'b' } })
})

test('a getter in a destructured object is not run', () => {
  const read = playhead.recordAction('read', (_id: string, _options: object, { a: _a }: { a: number }) => 1)
  let reads = 0
  const options = {
    a: 1,
    get b() {
      reads += 1
      return reads
    },
  }
  expect(stepOf(() => read('x', {}, options)).params).toMatchObject({ _id: 'x', _options: {}, a: 1 })
  expect(reads).toBe(0)
})

test('names that were lost in a build can be passed in', () => {
  const find = playhead.recordAction({ name: 'find', parameters: ['customer_id'] }, (a: string) => a)
  expect(stepOf(() => find('c_1')).params).toEqual({ customer_id: 'c_1' })
})

test.each<[string, (...args: never[]) => unknown, unknown]>([
  ['one parameter', (city: string) => city, { city: 'Oslo' }],
  ['a destructured object', ({ length }: { length: number }) => length, { 0: 'Oslo' }],
  ['none', () => 1, {}],
  [
    'a rest parameter',
    (city: string, ...more: unknown[]) => [city, more],
    { city: 'Oslo', more: [{ run: 1 }] },
  ],
  [
    '`arguments`',
    function (_city: string) {
      // oxlint-disable-next-line prefer-rest-params -- what older code does
      return arguments.length
    },
    { _city: 'Oslo', 1: { run: 1 } },
  ],
])("a framework's further argument is recorded only if the function reads it: %s", (_, fn, params) => {
  const find = playhead.recordTool('find', fn) as (...args: unknown[]) => unknown
  expect(stepOf(() => find('Oslo', { run: 1 })).params).toEqual(params)
})
