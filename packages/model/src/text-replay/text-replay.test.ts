import { expect, test } from 'vitest'
import { failed, outline, SESSION_START } from '../../test/outline.ts'
import { sessionOf, support } from '../../test/session-of.ts'
import { assembleSession } from '../assembly/assemble-session.ts'
import { LOST_AFTER_MS } from '../session/end-state.ts'
import { renderTextReplay } from './text-replay.ts'

test('a session is rendered as readable text', () => {
  expect(renderTextReplay(sessionOf(support))).toBe(`\
Session: s_abc12345 | Duration: 4.2s | Cost: $0.003 | Status: Fail

00:00.000  LLM Call (gpt-4o)  #2
           Input: "I was charged twice..."
           Output: "I'll look into your billing issue..."
           Tokens: 400 in, 200 out | Cost: $0.003

00:01.234  Action: classify_intent  #3
           Input: "billing_dispute"
           Output: "billing"

00:01.890  Action: fetch_customer_data  #4
           Input: customer_id=null   ← PROBLEM
           Error: ValueError: customer_id cannot be None

00:01.891  Exception: ValueError
           Session ended: Fail
`)
})

test('the input that a session declares does not make its root a step of its own', () => {
  const session = sessionOf(support)
  const [root, ...steps] = session.steps
  const input = 'I was charged twice'
  const declared = { ...root!, input, attributes: { 'playhead.session.input': JSON.stringify(input) } }
  const before = renderTextReplay(session)
  expect(renderTextReplay({ ...session, steps: [declared, ...steps] })).toBe(before)
  expect(renderTextReplay({ ...session, steps: [{ ...root!, input }, ...steps] })).not.toBe(before)
})

test('a running session and a lost session are labelled as such', () => {
  const open = [
    outline({ id: 'root', kind: 'agent', to: null }),
    outline({ id: 'call', kind: 'llm', name: 'chat', parentId: 'root', from: 5, to: null }),
  ]
  const lost = assembleSession({
    outlines: open,
    nowMs: SESSION_START + LOST_AFTER_MS + 1,
    lastHeardAtMs: SESSION_START,
  })

  expect(renderTextReplay(sessionOf(open))).toBe(`\
Session: s_abc12345 | Duration: 5ms so far | Cost: none | Status: Running

00:00.000  Agent: root  #1  … running

00:00.005    LLM Call (chat)  #2  … running

00:00.005  Session is still running
`)
  expect(renderTextReplay(lost)).toContain('| Status: Lost\n')
  expect(renderTextReplay(lost)).toContain(
    '00:00.005  Session lost: it never ended, and no more data arrived',
  )
})

test('an unknown or incomplete cost is shown as such', () => {
  const unknown = outline({ id: 'a', kind: 'llm', model: 'my-model', usage: { input: 1, output: 1 } })
  const known = outline({
    id: 'b',
    kind: 'llm',
    model: 'gpt-4o',
    usage: { input: 1, output: 1 },
    cost: 1.234,
  })

  expect(renderTextReplay(sessionOf([unknown]))).toContain('| Cost: unknown (no price for my-model) |')
  expect(renderTextReplay(sessionOf([unknown, known]))).toContain(
    '| Cost: $1.23 + unknown (no price for my-model) |',
  )
})

test('a reported end state is shown with its reason', () => {
  const root = outline({
    id: 'root',
    to: 100,
    session: { endState: 'indeterminate', endStateReason: 'nobody\nchecked' },
  })

  expect(renderTextReplay(sessionOf([root]))).toContain(
    '\n\n00:00.100  Session ended: Indeterminate (nobody checked)\n',
  )
})

test('colours are optional and change nothing else', () => {
  const coloured = renderTextReplay(sessionOf(support), { color: true })

  expect(coloured).toContain('\u001B[31mFail\u001B[39m')
  // eslint-disable-next-line no-control-regex
  expect(coloured.replaceAll(/\u001B\[\d+m/g, '')).toBe(renderTextReplay(sessionOf(support)))
})

test('the replay can be limited to failed steps', () => {
  expect(renderTextReplay(sessionOf(support), { errorsOnly: true })).toBe(`\
Session: s_abc12345 | Duration: 4.2s | Cost: $0.003 | Status: Fail

00:01.890  Action: fetch_customer_data  #4
           Input: customer_id=null   ← PROBLEM
           Error: ValueError: customer_id cannot be None

00:01.891  Exception: ValueError
           Session ended: Fail
`)
  expect(renderTextReplay(sessionOf([outline({ id: 'a' })]), { errorsOnly: true })).toContain(
    'No step failed.',
  )
})

test('a handled error is labelled as such and does not end the session', () => {
  const replay = renderTextReplay(
    sessionOf([
      outline({ id: 'root', kind: 'agent', to: 50 }),
      failed({ id: 'tool', kind: 'action', parentId: 'root' }),
    ]),
  )

  expect(replay).toContain('Error: ValueError: tool broke (handled)')
  expect(replay).toContain('00:00.050  Session ended: Success')
})

test('duplicates of a call, also from another session, are shown once', () => {
  const call = { kind: 'llm', model: 'gpt-4o', responseId: 'r' } as const
  const twice = renderTextReplay(
    sessionOf([
      outline({ id: 'a', ...call, usage: { input: 1, output: 1 } }),
      outline({ id: 'b', ...call, from: 1, to: 9 }),
    ]),
  )
  const { session, steps } = sessionOf([outline({ id: 'a', ...call })])
  const elsewhere = renderTextReplay({
    session,
    steps: steps.map((step) => ({ ...step, usageScope: 'duplicate' as const })),
  })

  expect([twice.match(/LLM Call/g), elsewhere.match(/LLM Call/g)]).toEqual([['LLM Call'], ['LLM Call']])
})

test('steps are numbered as --step counts them, and nested in the steps that are shown', () => {
  const replay = renderTextReplay(
    sessionOf([
      outline({ id: 'lead', kind: 'agent', to: 500 }),
      outline({ id: 'one', kind: 'agent', parentId: 'lead', from: 10, to: 400 }),
      outline({ id: 'two', kind: 'agent', parentId: 'lead', from: 20, to: 400 }),
      outline({ id: 'search', kind: 'action', parentId: 'one', from: 30 }),
      outline({ id: 'read', kind: 'action', parentId: 'two', from: 40 }),
      outline({ id: 'write', kind: 'action', parentId: 'two', from: 50 }),
    ]),
  )

  expect(replay.match(/^\d\d:.*#.*/gm)).toEqual([
    '00:00.000  Agent: lead  #1',
    '00:00.010    Agent: one  #2',
    '00:00.020    Agent: two  #3',
    '00:00.030      Action: search  #4 in #2',
    '00:00.040      Action: read  #5',
    '00:00.050      Action: write  #6',
  ])
})

test('the chunks of a call and the stages of an action are not shown', () => {
  const replay = renderTextReplay(
    sessionOf([
      outline({ id: 'call', kind: 'llm', model: 'm', cost: 0 }),
      outline({ id: 'chunk', kind: 'event', parentId: 'call' }),
      outline({ id: 'tool', kind: 'action', from: 20 }),
      failed({ id: 'blocked', kind: 'event', parentId: 'tool', from: 21 }),
      outline({ id: 'note', kind: 'event', from: 50 }),
    ]),
  )

  expect(replay.match(/Event: .*/g)).toEqual(['Event: blocked  #4', 'Event: note  #5'])
})

test('a re-run says below its first line what it is', () => {
  const { session, steps } = sessionOf(support)
  const rerun = {
    parentId: '1a2b3c4d'.repeat(4),
    parentStepId: 'c'.repeat(16),
    lane: 'fork',
    edit: { result: 'c_42' },
  } as const

  const [, line] = renderTextReplay({ session: { ...session, ...rerun }, steps }).split('\n')

  expect(line).toBe('Fork of s_1a2b3c4d | From step: cccccccccccccccc | Edit: {"result":"c_42"}')
})
