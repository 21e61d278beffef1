import { expect, test } from 'vitest'
import { outline, SESSION_START } from '../../test/outline.ts'
import { presentStep } from '../assembly/present-step.ts'
import type { Step } from './step.ts'
import { buildStepTree, type StepBranch } from './step-tree.ts'

function step(id: string, parentId: string | null): Step {
  return presentStep({ ...outline({ id, parentId }), depth: 0 }, { startedAtMs: SESSION_START })
}

function ids(branches: StepBranch[]): unknown[] {
  return branches.map(({ step: { id }, children }) => (children.length > 0 ? [id, ids(children)] : id))
}

test('steps are below their parents in the given order, those without a parent at the top', () => {
  const steps = [
    step('root', null),
    step('orphan', 'gone'),
    step('b', 'root'),
    step('a', 'root'),
    step('c', 'b'),
  ]

  expect(ids(buildStepTree(steps))).toEqual([['root', [['b', ['c']], 'a']], 'orphan'])
})

test('a child that arrives before its parent is linked to it', () => {
  expect(ids(buildStepTree([step('child', 'root'), step('root', null)]))).toEqual([['root', ['child']]])
})

test('a cycle of parents is broken and no step is lost', () => {
  const steps = [step('leaf', 'a'), step('a', 'c'), step('b', 'a'), step('c', 'b'), step('self', 'self')]

  expect(ids(buildStepTree(steps))).toEqual([['a', ['leaf', ['b', ['c']]]], 'self'])
})
