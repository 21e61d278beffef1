import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readScenarios } from '../../test/planted-faults.ts'
import { shapeOfText } from '../align/text-shape.ts'
import type { Message } from '../session/message.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { isMiss, Tape } from './tape.ts'
import { recordedResult, type TapeEntry } from './tape-entry.ts'
import type { TapeMiss } from './tape-miss.ts'

const scenarios = readScenarios()

describe.each(scenarios)('$name', ({ session }) => {
  test('a tape answers its own session, whatever the order', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const tape = new Tape([session])
        const found = shuffle(tape.entries, seed).map((entry) => ask(tape, entry))
        expect(found.filter(isMiss)).toEqual([])
        expect(tape.unused).toEqual([])
      }),
      { numRuns: 20 },
    )
  })

  test('an entry that is not on the tape is the only one that is missed', () => {
    const { entries } = new Tape([session])
    for (const removed of entries) {
      const steps = session.steps.filter(({ id }) => id !== removed.step.id)
      const tape = new Tape([{ ...session, steps }])
      const misses = entries.map((entry) => ask(tape, entry)).filter(isMiss)
      expect(misses.map(({ kind }) => kind)).toEqual([removed.kind])
    }
  })
})

test('a repeated call is served in recorded order, a failed attempt first', () => {
  const asked = [say('system', 'Be brief.'), say('user', 'Hi')]
  const tape = tapeOf(
    call('one', asked, 'busy'),
    call('two', asked, 'Hello'),
    call('three', asked, 'Hello again'),
  )
  expect([ask(tape, asked), ask(tape, asked), ask(tape, asked)].map(idOf)).toEqual(['one', 'two', 'three'])
  expect(miss(tape, asked)).toMatchObject({
    step: 1,
    sentence: 'The model was asked this once more than recorded (step 1 gpt-4o).',
  })
})

test('one changed word of the system prompt is named with the words that differ', () => {
  const tape = tapeOf(
    call('one', [say('system', 'You are a friendly support agent.'), say('user', 'Hi')], 'Hello'),
  )
  expect(miss(tape, [say('system', 'You are a grumpy support agent.'), say('user', 'Hi')])).toEqual({
    kind: 'model',
    stepId: 'one',
    step: 1,
    message: 1,
    field: 'system prompt',
    recorded: 'You are a friendly support agent.',
    asked: 'You are a grumpy support agent.',
    words: [
      { kind: 'same', text: 'You are a ' },
      { kind: 'a', text: 'friendly' },
      { kind: 'b', text: 'grumpy' },
      { kind: 'same', text: ' support agent.' },
    ],
    sentence:
      'The model was asked something else than recorded (step 1 gpt-4o): system prompt is "You are a grumpy support agent.", recorded was "You are a friendly support agent.".',
  })
})

test('another result of a tool is named with the tool and the field', () => {
  const history = (plan: string) => [
    say('user', 'Which plan?'),
    calls({ id: 'call_1', name: 'fetch_customer', arguments: { id: 'c_42' } }),
    result('call_1', { plan, since: 2019 }),
  ]
  const tape = tapeOf(call('one', history('pro'), 'Pro.'))
  expect(miss(tape, history('free'))).toMatchObject({
    message: 3,
    field: 'message 3 (tool result of fetch_customer) › plan',
    recorded: 'pro',
    asked: 'free',
  })
})

test('results of parallel calls may come in another order', () => {
  const both = calls(
    { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
    { id: 'call_2', name: 'weather', arguments: { city: 'Rome' } },
  )
  const [oslo, rome] = [result('call_1', 'cold'), result('call_2', 'warm')]
  const tape = tapeOf(call('one', [say('user', 'Weather?'), both, oslo, rome], 'Cold and warm.'))
  expect(idOf(ask(tape, [say('user', 'Weather?'), both, rome, oslo]))).toBe('one')
})

test('a request that continues an earlier one has results without their calls, in any order', () => {
  const [oslo, rome] = [result('call_1', 'cold'), result('call_2', 'warm')]
  const tape = tapeOf(call('one', [oslo, rome], 'Cold and warm.'))
  expect(idOf(ask(tape, [rome, oslo]))).toBe('one')
})

test('an action that returned undefined has no result, whatever the model was told', () => {
  const told = { ...action('one', 'notify', {}), tool: { name: 'notify', result: 'undefined' } }
  expect(recordedResult({ ...told, attributes: { 'playhead.action.shape': 'promise' } })).toBeUndefined()
})

test.each([
  [
    'a uuid',
    '3f0c8a52-9d1e-4b6a-8c7f-2e5d9b1a0c4e',
    'b81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    { uuid: 1, time: 0, id: 0 },
  ],
  ['an ISO time', '2026-11-16T09:30:00Z', '2027-01-02T10:00:00.123+01:00', { uuid: 0, time: 1, id: 0 }],
  ['an epoch', '1794816000', '1798874400123', { uuid: 0, time: 1, id: 0 }],
  ["a provider's id", 'call_a1b2c3d4e5', 'call_z9y8x7w6v5', { uuid: 0, time: 0, id: 1 }],
])('%s that differs is mapped', (_name, recorded, live, mapped) => {
  const tape = tapeOf(call('one', [say('user', `Run ${recorded}: go on`)], 'Done'))
  expect(idOf(ask(tape, [say('user', `Run ${live}: go on`)]))).toBe('one')
  expect(tape.mapped).toEqual(mapped)
})

test('an id of a record that differs is a miss, unless it is declared volatile', () => {
  const recorded = [say('user', 'Refund cus_a1b2c3d4e5')]
  const live = [say('user', 'Refund cus_z9y8x7w6v5')]
  expect(miss(tapeOf(call('one', recorded, 'Done')), live)).toMatchObject({ field: 'message 1 (user)' })
  const tape = new Tape([sessionOf(call('one', recorded, 'Done'))], { volatile: [/cus_\w+/] })
  expect(idOf(ask(tape, live))).toBe('one')
})

test('an id that was mapped stays mapped', () => {
  const [first, second] = ['3f0c8a52-9d1e-4b6a-8c7f-2e5d9b1a0c4e', 'b81d4fae-7dec-11d0-a765-00a0c91e6bf6']
  const other = '00000000-1111-4222-8333-444444444444'
  const tape = tapeOf(
    call('one', [say('user', `order ${first}`)], 'a'),
    call('two', [say('user', `pay ${first}`)], 'b'),
  )
  expect(idOf(ask(tape, [say('user', `order ${second}`)]))).toBe('one')
  expect(miss(tape, [say('user', `pay ${other}`)])).toMatchObject({ step: 2 })
  expect(idOf(ask(tape, [say('user', `pay ${second}`)]))).toBe('two')
})

test('another model is a miss; settings that the tape does not know are not compared', () => {
  const tape = tapeOf(call('one', [say('user', 'Hi')], 'Hello'))
  const asked = { messages: [say('user', 'Hi')], model: 'gpt-5', parameters: { temperature: 1 } }
  expect(tape.takeModelCall(asked)).toMatchObject({ field: 'model', recorded: 'gpt-4o', asked: 'gpt-5' })
  expect(tape.takeModelCall({ ...asked, model: 'gpt-4o' })).toMatchObject({ step: { id: 'one' } })
})

test('an action with other arguments, one call too many, and one that was never recorded', () => {
  const tape = tapeOf(action('one', 'fetch_customer', { id: 'c_42' }))
  expect(tape.takeAction('fetch_customer', { id: 'c_43' })).toMatchObject({
    field: 'argument id',
    sentence:
      'fetch_customer was called with other arguments than recorded (step 1 fetch_customer): argument id is "c_43", recorded was "c_42".',
  })
  expect(tape.takeAction('fetch_customer', { id: 'c_42' })).toMatchObject({ step: { id: 'one' } })
  expect(tape.takeAction('fetch_customer', { id: 'c_42' })).toMatchObject({
    sentence: 'fetch_customer was called once more than recorded (step 1 fetch_customer).',
  })
  expect(tape.takeAction('refund', {})).toMatchObject({
    sentence: 'The tape has no action refund: the recorded run never called it.',
  })
})

test.each<[string, unknown, unknown]>([
  ['by name', { city: 'Oslo', 1: { configurable: { thread: 'a' } } }, { city: 'Oslo' }],
  ['for a tool without parameters', [{}, { toolCallId: 'call_1' }], {}],
])("an older recording also has the framework's own argument, %s", (_name, recorded, given) => {
  expect(tapeOf(action('one', 'weather', recorded)).takeAction('weather', given)).toMatchObject({
    step: { id: 'one' },
  })
})

test('arguments that look like a call of another framework are compared as they were recorded', () => {
  const given = { args: ['a', 'b'], kwargs: {} }
  const attributes = { 'playhead.action.arguments': JSON.stringify(given) }
  const tape = tapeOf({ ...action('one', 'run', given), attributes })
  expect(tape.takeAction('run', given)).toMatchObject({ step: { id: 'one' } })
})

test('an action that holds model calls runs again; others are served', () => {
  const outer = action('outer', 'classify', { text: 'Hi' })
  const inner = { ...call('inner', [say('user', 'Hi')], 'billing'), parentId: 'outer' }
  const tape = tapeOf(outer, inner, action('leaf', 'refund', {}))
  expect(tape.takeAction('classify', { text: 'Hi' })).toMatchObject({ isContainer: true })
  expect(tape.takeAction('refund', {})).toMatchObject({ isContainer: false })
})

test('a second session fills what the first lacks', () => {
  const failing = sessionOf(action('failing', 'extract_id', { text: 'a' }))
  const passing = sessionOf(
    action('same', 'extract_id', { text: 'a' }),
    action('more', 'find_account', { mail: 'b' }),
  )
  const tape = new Tape([failing, passing])
  expect(tape.takeAction('extract_id', { text: 'a' })).toMatchObject({ step: { id: 'failing' } })
  expect(tape.takeAction('find_account', { mail: 'b' })).toMatchObject({ step: { id: 'more' } })
})

test('a stub comes from the session itself before the next one, and from the nearest arguments', () => {
  const own = sessionOf(action('own', 'refund', { invoice: 'INV-1', amount: 5 }))
  const passing = sessionOf(
    action('other', 'refund', { invoice: 'INV-1', amount: 6 }),
    action('same', 'refund', { invoice: 'INV-2', amount: 7 }),
  )
  const tape = new Tape([own, passing])
  expect(tape.findStub('refund', { invoice: 'INV-1', amount: 8 })?.step.id).toBe('own')
  expect(tape.findStub('refund', { invoice: 'INV-2', amount: 8 })?.step.id).toBe('same')
  expect(tape.findStub('mail', {})).toBeUndefined()
})

test('text of eight million hex digits has a shape', () => {
  const digits = 'a1'.repeat(4_200_000)
  expect(shapeOfText(digits)).toBe(digits)
})

function say(role: string, text: string): Message {
  return { role, parts: [{ type: 'text', text }] }
}

function calls(...parts: { id: string; name: string; arguments: unknown }[]): Message {
  return { role: 'assistant', parts: parts.map((part) => ({ type: 'tool-call', ...part })) }
}

function result(id: string, value: unknown): Message {
  return { role: 'tool', parts: [{ type: 'tool-result', id, result: value }] }
}

const step: Omit<Step, 'id' | 'kind' | 'name'> = {
  parentId: null,
  startedAt: '2026-11-16T09:00:00.000Z',
  endedAt: '2026-11-16T09:00:01.000Z',
  offsetMs: 0,
  durationMs: 1000,
  status: 'ok',
  hasPayload: true,
  cost: null,
  dialect: 'playhead',
}

function call(id: string, asked: Message[], text: string): Step {
  const messages = [...asked, { ...say('assistant', text), isOutput: true }]
  return { ...step, id, kind: 'llm', name: 'chat gpt-4o', model: 'gpt-4o', messages }
}

function action(id: string, name: string, given: unknown): Step {
  return { ...step, id, kind: 'action', name, tool: { name, arguments: given, result: 'done' } }
}

function sessionOf(...steps: Step[]): Session {
  return { session: { id: 'a'.repeat(32) } as Session['session'], steps }
}

function tapeOf(...steps: Step[]): Tape {
  return new Tape([sessionOf(...steps)])
}

function ask(tape: Tape, asked: TapeEntry | Message[]): TapeEntry | TapeMiss {
  if (Array.isArray(asked)) return tape.takeModelCall({ messages: asked, model: 'gpt-4o' })
  return asked.kind === 'model'
    ? tape.takeModelCall(asked.step)
    : tape.takeAction(asked.name, asked.arguments)
}

function idOf(found: TapeEntry | TapeMiss): string {
  return isMiss(found) ? found.sentence : found.step.id
}

function miss(tape: Tape, asked: Message[]): TapeMiss {
  const found = ask(tape, asked)
  if (!isMiss(found)) throw new Error(`served by ${found.step.id}`)
  return found
}

function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed | 1
  const keyed = items.map((item) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    return { item, key: state }
  })
  return keyed.toSorted((one, other) => one.key - other.key).map(({ item }) => item)
}
