import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

const call = { tool_name: 'get_weather', arguments: { city: 'Paris' }, id: 'call_1', extra: null }
const say = (role: string, content: unknown, meta = {}) => ({ role, meta, name: null, content: [content] })

test('a model call has messages, tools, model and usage', () => {
  const usage = { prompt_tokens: 120, completion_tokens: 32, prompt_tokens_details: { cached_tokens: 22 } }
  const { outline, content } = stepOf({
    scope: 'haystack',
    name: 'haystack.agent.step.llm',
    attributes: {
      'haystack.agent.step.llm.input': JSON.stringify({
        messages: [
          say('user', { text: 'Weather in Paris?' }),
          say('assistant', { tool_call: call }),
          say('tool', { tool_call_result: { result: 'sunny', origin: call, error: false } }),
        ],
      }),
      'haystack.agent.step.llm.output': JSON.stringify({
        replies: [say('assistant', { text: 'Sunny.' }, { model: 'gpt-4o-mini', usage })],
      }),
    },
  })

  expect(outline).toMatchObject({
    kind: 'llm',
    dialect: 'haystack',
    model: 'gpt-4o-mini',
    usage: { input: 120, output: 32, cacheRead: 22 },
    questionPreview: 'Weather in Paris?',
  })
  expect(content.messages).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Weather in Paris?' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'call_1', name: 'get_weather', arguments: { city: 'Paris' } }],
    },
    { role: 'tool', parts: [{ type: 'tool-result', id: 'call_1', name: 'get_weather', result: 'sunny' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'Sunny.' }], isOutput: true },
  ])
})

test.each([
  ['haystack.agent.run', undefined, 'agent'],
  ['haystack.agent.step', undefined, 'workflow'],
  ['haystack.agent.step.tool', undefined, 'action'],
  ['haystack.pipeline.run', undefined, 'workflow'],
  ['haystack.component.run', 'OpenAIChatGenerator', 'llm'],
  ['haystack.component.run', 'InMemoryBM25Retriever', 'retrieval'],
  ['haystack.component.run', 'ChatPromptBuilder', 'workflow'],
])('%s of %s is a step of the kind %s', (name, type, kind) => {
  const attributes = { 'haystack.component.name': 'x', ...(type && { 'haystack.component.type': type }) }

  expect(stepOf({ scope: 'haystack', name, attributes }).outline.kind).toBe(kind)
})
