import { expect, test } from 'vitest'
import { readAgentInput, type Message, type Step } from '@playhead/model'
import { sessionOf } from './project.ts'

const say = (role: string, text: string, isOutput = false): Message => ({
  role,
  parts: [{ type: 'text', text }],
  ...(isOutput && { isOutput }),
})
const call = {
  kind: 'llm',
  name: 'chat',
  messages: [say('system', 'Be kind'), say('user', 'Hello'), say('assistant', 'Hi', true)],
} as const satisfies Partial<Step>

const agentStep = (input: unknown): Pick<Step, 'kind' | 'name'> & Partial<Step> => ({
  kind: 'agent',
  name: 'support',
  input,
})

test('the input that a session declares comes first, as it was', () => {
  const session = sessionOf('support', agentStep({ question: 'other' }), call)
  session.steps[0]!.attributes = { 'playhead.session.input': '{"message":"Refund me","plan":"pro"}' }
  expect(readAgentInput(session)).toEqual({
    value: { message: 'Refund me', plan: 'pro' },
    text: 'Refund me',
    messages: [say('user', 'Hello')],
    from: 'session',
    session: session.session,
    thread: [],
  })
})

test('text that looks like JSON stays text', () => {
  const session = sessionOf('support')
  session.steps[0]!.attributes = { 'playhead.session.input': JSON.stringify('{"a":1}') }
  expect(readAgentInput(session)).toMatchObject({ value: '{"a":1}', text: '{"a":1}' })
})

test.each<[string, Parameters<typeof sessionOf>[1][], object]>([
  [
    'arguments of the first step',
    [agentStep({ question: 'Why?', plan: 'pro' }), call],
    { from: 'step', text: 'Why?', args: ['Why?', 'pro'] },
  ],
  ['the only text in them', [agentStep({ customer: 'c_42', count: 3 })], { text: 'c_42' }],
  [
    'a message, if the first step is a model call',
    [call, agentStep({ id: 'c_42' })],
    { from: 'message', text: 'Hello' },
  ],
  ['nothing', [], { from: 'message', text: '', messages: [] }],
])('the input is %s', (_name, steps, expected) => {
  expect(readAgentInput(sessionOf('support', ...steps))).toMatchObject(expected)
})

test('the config can find it elsewhere, and earlier turns come along', () => {
  const earlier = sessionOf('support', call)
  const input = readAgentInput(sessionOf('support', call), {
    find: ({ steps }) => ({ count: steps.length }),
    thread: [earlier],
  })
  expect(input).toMatchObject({ value: { count: 2 }, from: 'session', text: 'Hello' })
  expect(input.thread).toMatchObject([{ input: { text: 'Hello' }, output: 'Hi' }])
})
