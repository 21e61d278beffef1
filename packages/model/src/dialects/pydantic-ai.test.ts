import { expect, test } from 'vitest'
import { outlineOf, stepOf } from '../../test/steps-of.ts'

test('span names give the kinds, and one list has the whole conversation', () => {
  const run = stepOf({
    scope: 'pydantic-ai',
    name: 'agent run',
    attributes: {
      agent_name: 'weather',
      model_name: 'gpt-4o',
      final_result: 'Sunny',
      all_messages_events: JSON.stringify([
        { 'event.name': 'gen_ai.system.message', content: 'Be nice', role: 'system' },
        { 'event.name': 'gen_ai.user.message', content: 'Weather?', role: 'user' },
        { 'event.name': 'gen_ai.assistant.message', role: 'assistant', content: 'Sunny' },
      ]),
      'gen_ai.usage.input_tokens': 10,
      'logfire.msg': 'weather run',
    },
  })
  const tool = stepOf({
    scope: 'pydantic-ai',
    name: 'running tool',
    attributes: {
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.id': 'c1',
      tool_arguments: '{"city":"Paris"}',
      tool_response: 'Sunny',
    },
  })
  const several = stepOf({ scope: 'pydantic-ai', name: 'running 2 tools', attributes: {} })

  expect(run.outline).toMatchObject({
    kind: 'agent',
    name: 'weather',
    inputPreview: 'Weather?',
    outputPreview: 'Sunny',
  })
  expect(run.content.messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
  expect(tool.outline).toMatchObject({
    kind: 'action',
    name: 'get_weather',
    inputPreview: 'city=Paris',
    outputPreview: 'Sunny',
  })
  expect(several.outline.kind).toBe('workflow')
})

test('aggregated usage is a rollup of the runs below', () => {
  const { outline } = stepOf({
    scope: 'pydantic-ai',
    name: 'invoke_agent weather',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.aggregated_usage.input_tokens': 240,
      'gen_ai.aggregated_usage.output_tokens': 70,
      'operation.cost': 0.002,
      'pydantic_ai.all_messages': JSON.stringify([
        { role: 'user', parts: [{ type: 'text', content: 'Weather?' }] },
        { role: 'assistant', parts: [{ type: 'text', content: 'Sunny' }] },
      ]),
    },
  })

  expect(outline).toMatchObject({
    kind: 'agent',
    dialect: 'pydantic-ai',
    usage: { input: 240, output: 70, total: 310 },
    isUsageRollup: true,
    reportedCost: 0.002,
    outputPreview: 'Sunny',
  })
})

test("Logfire's spans of OpenAI Agents have kinds and names", () => {
  const steps = [
    { name: 'Agent run: {name!r}', attributes: { name: 'expert' } },
    {
      name: 'Function: {name}',
      attributes: { name: 'get_weather', input: '{"city":"Paris"}', output: 'sunny' },
    },
  ].map((shape) => stepOf({ ...shape, scope: 'logfire.openai_agents' }))

  expect(outlineOf(steps)).toEqual(['agent expert', 'action get_weather'])
  expect(steps[1]!.content.tool).toEqual({
    name: 'get_weather',
    arguments: { city: 'Paris' },
    result: 'sunny',
  })
})
