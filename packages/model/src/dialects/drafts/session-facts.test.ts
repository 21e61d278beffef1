import { expect, test } from 'vitest'
import { stepOf } from '../../../test/steps-of.ts'

const parentId = 'b'.repeat(32)
const rerunOf = (rerun: Record<string, string>) =>
  stepOf({
    parentSpanId: null,
    attributes: {
      'playhead.step.kind': 'agent',
      ...Object.fromEntries(Object.entries(rerun).map(([name, value]) => [`playhead.rerun.${name}`, value])),
    },
  }).outline.session?.rerun

test.each([
  [
    { parent: parentId, lane: 'tape' },
    { parentId, lane: 'tape' },
  ],
  [{ parent: parentId.toUpperCase(), lane: 'warp' }, { parentId }],
  [
    { parent: parentId, lane: 'fork', step: 'c'.repeat(16), edit: '{"result":null}' },
    { parentId, lane: 'fork', parentStepId: 'c'.repeat(16), edit: { result: null } },
  ],
  [
    { parent: parentId, lane: 'fork', step: 'c', edit: 'unreadable' },
    { parentId, lane: 'fork', edit: {} },
  ],
  [{ parent: 'somebody', lane: 'tape' }, undefined],
  [{ lane: 'tape' }, undefined],
])('the facts of a re-run are read from its root: %j', (attributes, expected) => {
  expect(rerunOf(attributes)).toEqual(expected)
})

test('the input of a session is the input of its root', () => {
  const input = { text: 'I was charged twice' }
  const { outline, content } = stepOf({
    parentSpanId: null,
    attributes: { 'playhead.step.kind': 'workflow', 'playhead.session.input': JSON.stringify(input) },
  })
  expect([content.input, outline.inputPreview]).toEqual([input, 'I was charged twice'])
})
