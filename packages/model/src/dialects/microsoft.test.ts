import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('threads and events of Azure are read', () => {
  const { outline } = stepOf({
    scope: 'Experimental.Microsoft.Extensions.AI',
    name: 'chat gpt-4o',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'az.ai.openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.thread.id': 'th-1',
    },
    events: [{ name: 'gen_ai.user.message', attributes: { 'gen_ai.event.content': '{"content":"hi"}' } }],
  })

  expect(outline).toMatchObject({
    dialect: 'microsoft',
    provider: 'azure.ai.openai',
    session: { threadId: 'th-1' },
    inputPreview: 'hi',
  })
})
