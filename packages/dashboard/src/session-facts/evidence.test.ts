import { expect, test } from 'vitest'
import { describeEdit, describeEvidence } from './evidence.ts'

test('evidence is told in one sentence', () => {
  const evidence = { stepId: 's', edit: { result: 'c_42' }, passed: 5, total: 5 }
  expect(describeEvidence({ ...evidence, control: { passed: 0, total: 5 }, p: 2 / 252 })).toBe(
    'With result "c_42" 5 of 5 pass; unchanged 0 of 5, p = 0.008',
  )
  expect(describeEvidence({ ...evidence, control: { passed: 0, total: 50 }, p: 1e-7 })).toBe(
    'With result "c_42" 5 of 5 pass; unchanged 0 of 50, p < 0.001',
  )
  expect(describeEvidence({ ...evidence, control: { passed: 0, total: 0 }, p: null })).toBe(
    'With result "c_42" 5 of 5 pass',
  )
})

test('edits are described by what they change', () => {
  expect(describeEdit({ model: 'gpt-5', system: 'Be kind.' })).toBe('another system prompt and model "gpt-5"')
  expect(describeEdit({ args: { customer_id: 'c_42' } })).toBe('arguments {"customer_id":"c_42"}')
  expect(describeEdit({ result: null })).toBe('result null')
  expect(describeEdit({})).toBe('an unknown change')
})
