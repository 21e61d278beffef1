import { expect, test } from 'vitest'
import { stepOf } from '../../../test/steps-of.ts'

const tool = { 'openinference.span.kind': 'TOOL', 'tool.name': 'get_weather' }

test('arguments are values, never their schema', () => {
  const { content } = stepOf({
    attributes: {
      ...tool,
      'tool.parameters': '{"city": {"type": "string", "description": "name of the city"}}',
      'input.value': '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Paris"}}',
    },
  })

  expect(content.tool).toEqual({ name: 'get_weather', arguments: { city: 'Paris' } })
})

test('arguments that look like part of a schema are arguments', () => {
  const { content } = stepOf({
    attributes: { ...tool, 'tool.parameters': '{"field": {"type": "invoice", "id": 7}}' },
  })

  expect(content.tool?.arguments).toEqual({ field: { type: 'invoice', id: 7 } })
})

const result = 'sunny, 21C in Paris'
const message = { content: result, name: 'get_weather', tool_call_id: 'call_1', status: 'success' }

test.each([
  ["LangChain's message as data", { type: 'tool', data: message }, 'call_1'],
  ["LangChain's message, dumped", { ...message, type: 'tool', additional_kwargs: {} }, 'call_1'],
  ["LangChain's message, serialised", { lc: 1, type: 'constructor', id: [], kwargs: message }, 'call_1'],
  ["LangChain's message, printed", `content='${result}' name='get_weather' tool_call_id='call_1'`, 'call_1'],
  ["Agno's result, printed", `status='success' result='${result}' error=None images=None`, undefined],
  ['a list with one message', [message], 'call_1'],
  ['a message with an id', { content: result, tool_call_id: 'call_1' }, 'call_1'],
  ["Bedrock's result", { toolUseId: 'call_1', status: 'success', content: [{ text: result }] }, 'call_1'],
  ["MCP's result", { content: [{ type: 'text', text: result }], isError: false }, undefined],
  ['an object with only a result', { result }, undefined],
  ['an object with only an output', { output: result }, undefined],
  [
    "LangChain's callback",
    { output: { lc: 1, type: 'constructor', id: [], kwargs: message }, kwargs: { name: 'get_weather' } },
    'call_1',
  ],
  ["Gemini's response", { id: 'adk-1', name: 'get_weather', response: { result } }, undefined],
  [
    "LlamaIndex's output",
    {
      blocks: [{ text: result }],
      tool_name: 'get_weather',
      raw_input: {},
      raw_output: result,
      is_error: false,
    },
    undefined,
  ],
])('the result is taken out of %s', (_envelope, output, callId) => {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  const { content } = stepOf({ attributes: { ...tool, 'output.value': text } })

  expect(content.tool).toEqual({
    name: 'get_weather',
    result,
    ...(callId !== undefined && { callId }),
  })
})

test("a failure that Agno printed is the tool's error", () => {
  const printed = `status='failure' result=None error='There is no city called Atlantis.' images=None`
  const { outline } = stepOf({ attributes: { ...tool, 'output.value': printed } })

  expect(outline).toMatchObject({
    status: 'soft-error',
    error: { message: 'There is no city called Atlantis.' },
  })
})

test('the result of an Anthropic tool is read from its own key', () => {
  const { content } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'anthropic.tool_result.content': JSON.stringify([{ type: 'text', text: result }]),
    },
  })

  expect(content.tool).toEqual({ name: 'get_weather', result })
})

test('an object that a recorded function returned stays as it is', () => {
  const { content } = stepOf({
    attributes: {
      'playhead.step.kind': 'action',
      'gen_ai.tool.name': 'add',
      'playhead.action.result': '{"result":5}',
    },
  })

  expect(content.tool).toEqual({ name: 'add', result: { result: 5 } })
})

test.each([
  ['by name only', '{"kwargs": {"city": "Paris", "days": 2}}'],
  ['of a module', '{"input_args": {"city": "Paris", "days": 2}}'],
  ["as LangChain's callback gets them", `{"input_str": "{'city': 'Paris', 'days': 2}"}`],
])('arguments are taken out of their envelope: %s', (_envelope, input) => {
  const { content } = stepOf({ attributes: { ...tool, 'input.value': input } })

  expect(content.tool?.arguments).toEqual({ city: 'Paris', days: 2 })
})

test("DSPy's tools are named without their method", () => {
  const { content } = stepOf({
    name: 'get_weather.__call__',
    attributes: { 'openinference.span.kind': 'TOOL' },
  })

  expect(content.tool?.name).toBe('get_weather')
})
