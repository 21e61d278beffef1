import { createContextKey, ROOT_CONTEXT, type Context } from '@opentelemetry/api'
import { expect, test } from 'vitest'
import { withValue } from './light-context.ts'

const first = createContextKey('first')
const second = createContextKey('second')
const third = createContextKey('third')

test('it has the values of the context that it was made from, until it gets its own', () => {
  const outer = ROOT_CONTEXT.setValue(first, 'outer').setValue(second, 'outer')
  const context = withValue(outer, first, 'inner')
  const changed = withValue(context, third, 'new').setValue(second, 'changed')
  const valuesOf = (of: typeof context) => [first, second, third].map((key) => of.getValue(key))
  expect([valuesOf(outer), valuesOf(context), valuesOf(changed)]).toEqual([
    ['outer', 'outer', undefined],
    ['inner', 'outer', undefined],
    ['inner', 'changed', 'new'],
  ])
})

test('a deleted value is gone, also one of the context around it', () => {
  const context = withValue(ROOT_CONTEXT.setValue(first, 1), second, 2)
  const deleted = context.deleteValue(first).deleteValue(second)
  expect([deleted.getValue(first), deleted.getValue(second), context.getValue(first)]).toEqual([
    undefined,
    undefined,
    1,
  ])
})

test('it does not grow when its values are set again', () => {
  let context = withValue(ROOT_CONTEXT, first, 0)
  for (let count = 1; count <= 1000; count += 1)
    context = context.setValue(second, count).setValue(third, count).setValue(first, count)
  expect([context.getValue(first), context.getValue(second), layersOf(context)]).toEqual([1000, 1000, 3])
})

function layersOf(context: Context & { outer?: Context }): number {
  return context.outer === undefined ? 0 : 1 + layersOf(context.outer)
}
