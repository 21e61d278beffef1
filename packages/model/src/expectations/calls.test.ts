import { expect, test } from 'vitest'
import { outline } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'
import { makeSpan } from '../../test/make-span.ts'
import { spanToStep } from '../dialects/drafts/span-to-step.ts'
import type { StepOutline } from '../session/step-draft.ts'
import { called } from './called.ts'
import { costsLessThan } from './cost.ts'
import { matchesTrajectory } from './trajectory.ts'

const usage = { input: 110, output: 31 }
const tokens = { 'gen_ai.usage.input_tokens': 110, 'gen_ai.usage.output_tokens': 31 }

/** The step of a span that an instrumentation sends around the others. */
function groupOf(name: string, attributes: Record<string, unknown>): StepOutline {
  const { outline: drafted } = spanToStep(makeSpan({ name, attributes }))
  const { startedAtMs, endedAtMs } = outline({ id: 'group', to: 200 })
  return { ...drafted, id: 'group', parentId: 'root', startedAtMs, endedAtMs }
}

const agentsSpan = (type: string) => ({
  'openai_agents.object': 'trace.span',
  'openai_agents.span_data': {
    type: 'custom',
    name: type,
    data: { sdk_span_type: type, turn: 1, usage: { input_tokens: 110, output_tokens: 31 } },
  },
})

test.each<[what: string, group: StepOutline]>([
  ["OpenAI Agents' turn", groupOf('turn', agentsSpan('turn'))],
  ["OpenAI Agents' task", groupOf('task', agentsSpan('task'))],
  ["AgentOps' task", groupOf('plan.task', { 'agentops.span.kind': 'task', ...tokens })],
  ['a turn by its stated kind', groupOf('step', { 'vendor.span.kind': 'turn', ...tokens })],
  ['a turn of a tool', groupOf('step', { 'vendor.span.kind': 'turn', 'tool.name': 'get_weather' })],
  ['a turn that repeats tokens', groupOf('Turn 1 for agent weather_expert', tokens)],
  [
    'merged tools',
    groupOf('execute_tool (merged tools)', {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': '(merged tools)',
    }),
  ],
])('%s is no call and no action, in the counts and for the matchers', (_what, group) => {
  const session = sessionOf([
    outline({ id: 'root', kind: 'agent', to: 300 }),
    group,
    outline({ id: 'call', kind: 'llm', parentId: 'group', from: 10, to: 50, model: 'gpt-4o', usage }),
    outline({ id: 'tool', kind: 'action', parentId: 'group', from: 60, to: 90, name: 'get_weather' }),
  ])

  expect(session.steps.map(({ kind }) => kind)).toEqual([
    'agent',
    expect.stringMatching(/workflow|other/),
    'llm',
    'action',
  ])
  expect(session.session).toMatchObject({ llmCallCount: 1, actionCount: 1, usage })
  expect(called(session, 'get_weather', { times: 1 })).toMatchObject({ pass: true })
  expect(matchesTrajectory(session, [{ tool: 'get_weather' }], { mode: 'exact' })).toMatchObject({
    pass: true,
  })
  expect(costsLessThan(session, { tokens: 142, llmCalls: 2 })).toMatchObject({ pass: true })
})
