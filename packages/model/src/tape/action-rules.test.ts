import { describe, expect, test } from 'vitest'
import type { Step } from '../session/step.ts'
import { liveSides, pickStub, planAction, type ActionPlan, type DeclaredAction } from './action-rules.ts'
import type { ActionEntry } from './tape-entry.ts'

const rules = {
  effects: { extract: 'read', mail: 'write' } as const,
  replay: { load_cart: 'run', lookup: 'serve' } as const,
  allowWrites: ['log'],
}

type Case = [call: DeclaredAction, isContainer: boolean, onTape: ActionPlan, live: ActionPlan]

describe('what happens to an action on the tape, and live', () => {
  test.each<Case>([
    [{ name: 'fetch', effect: 'read' }, false, 'serve', 'live'],
    [{ name: 'refund', effect: 'write' }, false, 'serve', 'stub'],
    [{ name: 'undeclared' }, false, 'serve', 'stub'],
    [{ name: 'extract' }, false, 'serve', 'live'],
    [{ name: 'extract', effect: 'write' }, false, 'serve', 'live'],
    [{ name: 'mail', effect: 'read' }, false, 'serve', 'stub'],
    [{ name: 'log', effect: 'write' }, false, 'serve', 'live'],
    [{ name: 'load_cart' }, false, 'run', 'run'],
    [{ name: 'lookup', effect: 'read', replay: 'run' }, true, 'serve', 'serve'],
    [{ name: 'fetch', effect: 'read', replay: 'serve' }, false, 'serve', 'serve'],
    [{ name: 'classify' }, true, 'run', 'run'],
    [{ name: 'report', effect: 'read' }, true, 'run', 'run'],
    [{ name: 'publish', effect: 'write' }, true, 'serve', 'stub'],
    [{ name: 'log', effect: 'write' }, true, 'serve', 'live'],
  ])('%o, container: %s', (call, isContainer, onTape, live) => {
    expect(planAction(call, { isLive: false, isContainer }, rules)).toBe(onTape)
    expect(planAction(call, { isLive: true, isContainer }, rules)).toBe(live)
  })
})

test('which side is live in each lane', () => {
  expect(liveSides('tape', false)).toEqual({ model: false, tools: false })
  expect(liveSides('live-tools', false)).toEqual({ model: false, tools: true })
  expect(liveSides('live-model', false)).toEqual({ model: true, tools: false })
  expect(liveSides('live', false)).toEqual({ model: true, tools: true })
  expect(liveSides('fork', false)).toEqual({ model: false, tools: false })
  expect(liveSides('fork', true)).toEqual({ model: true, tools: true })
})

describe('the recorded call that stands in for a write', () => {
  const exact = { isSameText: (a: string, b: string) => a === b }
  const pick = (given: unknown, ...entries: ActionEntry[]) =>
    pickStub(entries, given, exact)?.step.id ?? 'none'

  test('has the fewest other arguments', () => {
    const near = call('near', { invoice: 'INV-1', amount: 20 })
    const far = call('far', { invoice: 'INV-2', amount: 30 })
    expect(pick({ invoice: 'INV-1', amount: 25 }, far, near)).toBe('near')
    expect(pick({ invoice: 'INV-2', amount: 30 }, near, far)).toBe('far')
  })

  test('succeeded, unless the failed one has the same arguments', () => {
    const failed = call('failed', { invoice: 'INV-1' }, 'error')
    const other = call('other', { invoice: 'INV-2' })
    expect(pick({ invoice: 'INV-3' }, failed, other)).toBe('other')
    expect(pick({ invoice: 'INV-1' }, other, failed)).toBe('failed')
  })

  test('is the earliest of equals, and there may be none', () => {
    expect(pick({ a: 1 }, call('first', { a: 2 }), call('second', { a: 3 }))).toBe('first')
    expect(pick({ a: 1 })).toBe('none')
  })
})

function call(id: string, given: unknown, status: Step['status'] = 'ok'): ActionEntry {
  const step = { id, kind: 'action', name: 'refund', status } as Step
  return {
    kind: 'action',
    name: 'refund',
    step,
    number: 1,
    isUsed: false,
    isContainer: false,
    arguments: given,
  }
}
