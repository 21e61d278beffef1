import { expect, test } from 'vitest'
import { addUsage, type Usage } from './usage.ts'

test('a field that neither side reported stays absent, one that either reported is summed', () => {
  const sum: Usage = { input: 10, reasoning: 2 }

  addUsage(sum, { input: 5, output: 7 })

  expect(sum).toEqual({ input: 15, reasoning: 2, output: 7 })
})
