import { expect, test } from 'vitest'
import { outline } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'

test('the input is that of the root, of the first model call, or of the agent', () => {
  const root = outline({ id: 'root' })
  const call = outline({ id: 'call', kind: 'llm', parentId: 'root', from: 5, inputPreview: 'asked' })
  const tool = outline({ id: 'tool', kind: 'action', parentId: 'root', from: 1, inputPreview: 'id=1' })
  const agent = outline({ id: 'agent', kind: 'agent', parentId: 'root', inputPreview: 'agent' })

  expect(sessionOf([{ ...root, inputPreview: 'top' }, call]).session.inputPreview).toBe('top')
  expect(sessionOf([root, tool, call]).session.inputPreview).toBe('asked')
  expect(sessionOf([root, agent]).session.inputPreview).toBe('agent')
})

test.each(['{"init_state": {}}', "ChatMessage(role='user', blocks=[])"])(
  'the input is that of the first call with words where others have only data: %s',
  (data) => {
    const session = sessionOf([
      outline({ id: 'root', kind: 'workflow', inputPreview: data, to: 100 }),
      outline({ id: 'outer', kind: 'llm', parentId: 'root', inputPreview: data, from: 1, to: 9 }),
      outline({ id: 'inner', kind: 'llm', parentId: 'outer', inputPreview: 'Hello?', from: 2, to: 8 }),
    ])

    expect(session.session.inputPreview).toBe('Hello?')
  },
)
