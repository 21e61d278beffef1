import { expect, test } from 'vitest'
import { addUsage } from './usage.ts'

test('a field that neither side reported stays absent, one that either reported is summed', () => {
  const sum = addUsage({ input: 10, reasoning: 2 }, { input: 5, output: 7 })

  expect(sum).toEqual({ input: 15, reasoning: 2, output: 7 })
})
