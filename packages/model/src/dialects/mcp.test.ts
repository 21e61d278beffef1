import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('only a tool call is an action, and a connection is not a session', () => {
  const call = stepOf({
    name: 'tools/call get_weather',
    attributes: {
      'mcp.method.name': 'tools/call',
      'mcp.session.id': 'connection-1',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.arguments': '{"city":"Paris"}',
      'gen_ai.tool.call.result': '{"content":[{"type":"text","text":"no such city"}],"isError":true}',
    },
  })
  const list = stepOf({
    name: 'tools/list',
    attributes: { 'mcp.method.name': 'tools/list', 'mcp.session.id': 'connection-1' },
  })

  expect(call.outline).toMatchObject({
    kind: 'action',
    name: 'get_weather',
    status: 'soft-error',
    error: { message: 'no such city' },
  })
  expect(call.outline.session).toBeUndefined()
  expect(list.outline.kind).toBe('other')
})
