import { expect, test } from 'vitest'
import { asksForReruns, describeRerun, readForkEdit } from './rerun.ts'

test('an edit is read field by field; what is not part of one is dropped', () => {
  expect(readForkEdit('{"result":null,"system":"Be brief.","model":7,"allowWrites":["refund"]}')).toEqual({
    result: null,
    system: 'Be brief.',
  })
  expect(readForkEdit('{}')).toEqual({})
})

test.each([
  ['text that is not JSON', '{'],
  ['a list', '[]'],
  ['more than 256 kB', JSON.stringify({ system: 'a'.repeat(256 * 1024) })],
])('%s is no edit', (_name, text) => {
  expect(readForkEdit(text)).toBeUndefined()
})

const parentId = '1a2b3c4d'.repeat(4)

test.each([
  [{}, undefined],
  [{ parentId, lane: 'tape' }, 're-run of s_1a2b3c4d'],
  [{ parentId }, 're-run of s_1a2b3c4d'],
  [{ parentId, lane: 'live-tools' }, 're-run of s_1a2b3c4d, live tools'],
  [{ parentId, lane: 'live-model' }, 're-run of s_1a2b3c4d, live model'],
  [{ parentId, lane: 'live' }, 're-run of s_1a2b3c4d, live model and tools'],
  [{ parentId, lane: 'fork', edit: { result: 1 } }, 'fork of s_1a2b3c4d'],
  [{ parentId, lane: 'fork' }, 'fork of s_1a2b3c4d, unchanged'],
] as const)('%j is described as %s', (session, expected) => {
  expect(describeRerun(session)).toBe(expected)
})

test.each([
  [{}, false],
  [{ tag: ['support'] }, false],
  [{ tag: ['support', 'rerun'] }, true],
  [{ tag: 'rerun' }, true],
  [{ lane: ['fork'] }, true],
  [{ parent: parentId }, true],
  [{ reruns: 'include' }, true],
  [{ lane: ['fork'], reruns: 'exclude' }, false],
])('a filter %j asks for re-runs: %s', (filter, expected) => {
  expect(asksForReruns(filter)).toBe(expected)
})
