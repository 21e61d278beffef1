import { expect, test } from 'vitest'
import type { SessionSummary, Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { readCassette } from '../tape/cassette.ts'
import { isMiss, Tape } from '../tape/tape.ts'
import { chooseOtherSession, findOtherSession } from './choose-other-session.ts'
import { joinSessions } from './join-sessions.ts'
import { writeTestFiles } from './write-test-files.ts'

const meta = { name: 'a test', recordedAt: '2026-11-16T09:00:00.000Z', playhead: '0.1.0' }
const options = { agent: 'support', version: '0.1.0', recordedAt: meta.recordedAt } as const
const text = 'I was charged twice, isn\'t that "odd"?'

const failed = sessionOf(
  { id: 'a'.repeat(32), endState: 'fail', endStateReason: 'ValueError: customer_id cannot be null\nat x' },
  root(),
  call('Classify.', 'billing'),
  action('extract_id', { text }, null),
  action('fetch', { customer_id: null }, undefined, {
    effect: 'read',
    status: 'error',
    error: { type: 'ValueError', message: 'customer_id cannot be null' },
  }),
)
const passed = sessionOf(
  { id: 'b'.repeat(32), endState: 'success' },
  root(),
  call('Classify.', 'billing'),
  action('extract_id', { text }, null),
  action('find_account', {}, 'c_42', { effect: 'read' }),
  action('fetch', { customer_id: 'c_42' }, { plan: 'Pro' }, { effect: 'read' }),
  action('refund', { invoice: 'INV-1', amount: 5 }, { ok: true }, { effect: 'write' }),
  action('notify', { id: '3f0c8a52-9d1e-4b6a-8c7f-2e5d9b1a0c4e' }, null, { effect: 'write' }),
)

test('the test of a failed session states what one that passed did', () => {
  const files = writeTestFiles(failed, {
    ...options,
    runner: 'vitest',
    other: { session: passed, why: 'passed' },
  })
  expect(files.test).toEqual({
    path: 'test/i-was-charged-twice-isn-t-that-odd.test.ts',
    text: `import { expect, nullArguments, runAgent, test } from 'playhead/vitest'

// From session s_aaaaaaaa, which failed: ValueError: customer_id cannot be null
// What should happen is from s_bbbbbbbb, which passed.
test('support: I was charged twice, isn\\'t that "odd"?', { cassette: true }, async ({ session }) => {
  await runAgent('support', { text: 'I was charged twice, isn\\'t that "odd"?' })

  expect(session).toHaveEffects([{ tool: 'refund', args: { invoice: 'INV-1', amount: 5 } }, 'notify'], { inOrder: true })
  expect(session).toHaveNoErrors()
  expect(nullArguments(session)).toEqual([])
})
`,
  })
  expect(files.cassette.path).toBe(
    'test/__cassettes__/i-was-charged-twice-isn-t-that-odd.test.ts/support-I-was-charged-twice-isn-t-that-odd.jsonl',
  )
  expect(readCassette(files.cassette.text).meta).toEqual({
    name: 'support: I was charged twice, isn\'t that "odd"?',
    agent: 'support',
    input: { text },
    recordedAt: meta.recordedAt,
    playhead: '0.1.0',
    sessions: ['a'.repeat(32), 'b'.repeat(32)],
  })
})

test('without one that passed, it only says that nothing fails', () => {
  const { test: written } = writeTestFiles(failed, {
    ...options,
    runner: 'node-test',
    testPath: 'a/b.test.mjs',
  })
  expect(written.text).toBe(`import assert from 'node:assert/strict'
import { expect, nullArguments, runAgent, test } from 'playhead/node-test'

// From session s_aaaaaaaa, which failed: ValueError: customer_id cannot be null
// No session of this input has passed yet, so this only says that nothing fails.
test('support: I was charged twice, isn\\'t that "odd"?', { cassette: true }, async ({ session }) => {
  await runAgent('support', { text: 'I was charged twice, isn\\'t that "odd"?' })

  expect(session).toHaveNoErrors()
  assert.deepEqual(nullArguments(session), [])
})
`)
})

test('in a project without modules, it requires what it needs', () => {
  const { test: written } = writeTestFiles(failed, {
    ...options,
    runner: 'jest',
    extension: 'js',
    isCommonJs: true,
  })
  expect(written.path).toBe('test/i-was-charged-twice-isn-t-that-odd.test.js')
  expect(written.text.split('\n')[0]).toBe(
    "const { expect, nullArguments, runAgent, test } = require('playhead/jest')",
  )
})

test('for pytest, with values as Python writes them', () => {
  const other = { session: passed, why: 'fork' as const }
  const session = {
    ...failed,
    steps: failed.steps.map((step) => withInput(step, { text, vip: true, note: null })),
  }
  const files = writeTestFiles(session, { ...options, runner: 'pytest', other })
  expect(files).toMatchObject({
    test: {
      path: 'tests/test_i_was_charged_twice_isn_t_that_odd.py',
      text: `import pytest
from playhead.testing import null_arguments, run_agent, writes


# From session s_aaaaaaaa, which failed: ValueError: customer_id cannot be null
# What should happen is from s_bbbbbbbb, the fork that passed.
@pytest.mark.cassette
def test_i_was_charged_twice_isn_t_that_odd(playhead_session):
    run_agent("support", {"text": "I was charged twice, isn't that \\"odd\\"?", "vip": True, "note": None})
    assert writes(playhead_session) == ["refund", "notify"]
    assert playhead_session.errors == []
    assert null_arguments(playhead_session) == []
`,
    },
    cassette: {
      path: 'tests/__cassettes__/test_i_was_charged_twice_isn_t_that_odd/test_i_was_charged_twice_isn_t_that_odd.jsonl',
    },
  })
})

test('text of a session stays text in the test', () => {
  const evil = "'); process.exit(); // ${x} \\' \u2028\n*/"
  const session = { ...failed, steps: failed.steps.map((step) => withInput(step, evil)) }
  const { text: code } = writeTestFiles(session, { ...options, runner: 'vitest' }).test
  expect(code).not.toContain('\u2028')
  const argument = /runAgent\('support', (.*)\)\n/.exec(code)![1]!
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func, typescript/no-unsafe-call
  expect(new Function(`return (${argument})`)()).toEqual({ text: evil })
})

test('a joined cassette repeats the failure, and has the way of the fix', () => {
  const cassette = joinSessions(failed, passed, { meta }).cassette
  const ask = (name: string, given: object) => new Tape([cassette]).takeAction(name, given)
  expect(ask('fetch', { customer_id: null })).toMatchObject({ step: { status: 'error' } })
  expect(ask('find_account', {})).toMatchObject({ kind: 'action' })
  expect(ask('fetch', { customer_id: 'c_42' })).toMatchObject({ step: { status: 'ok' } })
  expect(ask('extract_id', { text })).toMatchObject({ isContainer: false })
  expect(
    cassette.entries.filter((entry) => entry.kind === 'action' && entry.name === 'extract_id'),
  ).toHaveLength(1)
})

test('a function of the code that gave another result runs again; one that reads elsewhere does not', () => {
  const fork = sessionOf(
    { id: 'c'.repeat(32), endState: 'success' },
    root(),
    action('extract_id', { text }, 'c_42'),
    action('fetch', { customer_id: null }, { plan: 'Solo' }, { effect: 'read' }),
  )
  const { cassette, suspects } = joinSessions(failed, fork, { meta })
  const { entries } = cassette
  expect(entries.map((entry) => entry.kind === 'action' && [entry.name, entry.isContainer === true])).toEqual(
    [false, ['extract_id', true], ['fetch', false], ['extract_id', true], ['fetch', false]],
  )
  expect(suspects).toEqual(['extract_id'])
  expect(joinSessions(failed, fork, { meta, runsReads: true }).suspects).toEqual(['extract_id', 'fetch'])
})

test('a conversation that repeats its own answers comes first', () => {
  const talk = (id: string, said: string) =>
    sessionOf(
      { id: id.repeat(32), endState: 'success' },
      root(),
      call('Talk.', said),
      call('Talk.', 'Bye.', [
        { role: 'assistant', parts: [{ type: 'text', text: said }] },
        { role: 'user', parts: [{ type: 'text', text: 'And?' }] },
      ]),
    )
  const [one, other] = [talk('a', 'Hello there.'), talk('b', 'Hi!')]
  const tape = new Tape([joinSessions(one, other, { meta }).cassette])
  const [first] = tape.entries
  const found = tape.takeModelCall(first!.step)
  if (isMiss(found)) throw new Error(found.sentence)
  expect(JSON.stringify(found)).toContain('Hi!')
})

test('which session shows what should have happened', () => {
  const summary = (id: string, change: Partial<SessionSummary> = {}) =>
    ({
      ...passed.session,
      id,
      inputPreview: 'Hi',
      startedAt: `2026-11-16T09:0${id}:00Z`,
      ...change,
    }) as SessionSummary
  const failure = summary('0', { endState: 'fail' })
  const candidates = [
    summary('1'),
    summary('2'),
    summary('3', { endState: 'fail' }),
    summary('4', { inputPreview: 'Bye' }),
    summary('5', { parentId: 'x' }),
    summary('6', { name: 'other' }),
  ]
  const forks = [
    summary('7', { parentId: '0', edit: { result: 1 } }),
    summary('8', { parentId: '0', endState: 'fail', edit: { result: 1 } }),
    summary('9', { parentId: '0' }),
  ]
  expect(chooseOtherSession(failure, candidates, forks)).toMatchObject({
    why: 'passed',
    session: { id: '2' },
  })
  expect(chooseOtherSession(failure, candidates.slice(2), forks)).toMatchObject({
    why: 'fork',
    session: { id: '7' },
  })
  expect(chooseOtherSession(failure, candidates.slice(2), forks.slice(1))).toBeUndefined()
})

test('a session whose first line is the same, but not its input, is passed over', async () => {
  const at = (session: Session, id: string, input: unknown): Session => ({
    session: { ...session.session, id, inputPreview: 'Hi', startedAt: `2026-11-16T09:0${id}:00Z` },
    steps: session.steps.map((step) => withInput(step, input)),
  })
  const failure = at(failed, '0', { text: 'Hi', plan: 'Pro' })
  const others = [at(passed, '1', { text: 'Hi', plan: 'Pro' }), at(passed, '2', { text: 'Hi', plan: 'Team' })]
  const found = await findOtherSession(
    failure,
    others.map(({ session }) => session),
    [],
    (id) => Promise.resolve(others.find(({ session }) => session.id === id)!),
  )
  expect([found?.session.session.id, found?.why]).toEqual(['1', 'passed'])
})

function sessionOf(summary: Partial<SessionSummary>, ...steps: Omit<Step, 'id'>[]): Session {
  return {
    session: { name: 'support', startedAt: meta.recordedAt, ...summary } as SessionSummary,
    steps: steps.map((step, index) => ({ ...step, id: String(index) })),
  }
}

function base(): Omit<Step, 'id' | 'kind' | 'name'> {
  return {
    parentId: '0',
    startedAt: meta.recordedAt,
    endedAt: meta.recordedAt,
    offsetMs: 0,
    durationMs: 1,
    status: 'ok',
    hasPayload: true,
    cost: null,
    dialect: 'playhead',
  }
}

function root(): Omit<Step, 'id'> {
  return {
    ...base(),
    parentId: null,
    kind: 'agent',
    name: 'support',
    attributes: { 'playhead.session.input': JSON.stringify(text) },
  }
}

function withInput(step: Step, input: unknown): Step {
  return step.parentId === null
    ? { ...step, attributes: { 'playhead.session.input': JSON.stringify(input) } }
    : step
}

function call(system: string, said: string, history: NonNullable<Step['messages']> = []): Omit<Step, 'id'> {
  return {
    ...base(),
    kind: 'llm',
    name: 'chat gpt-4o',
    model: 'gpt-4o',
    messages: [
      { role: 'system', parts: [{ type: 'text', text: system }] },
      ...history,
      { role: 'assistant', isOutput: true, parts: [{ type: 'text', text: said }] },
    ],
  }
}

function action(name: string, given: unknown, result: unknown, change: Partial<Step> = {}): Omit<Step, 'id'> {
  const attributes = result === undefined ? {} : { 'playhead.action.result': JSON.stringify(result) }
  return { ...base(), kind: 'action', name, tool: { name, arguments: given }, attributes, ...change }
}
