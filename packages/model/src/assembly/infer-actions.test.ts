import { expect, test } from 'vitest'
import { makeLog } from '../../test/make-span.ts'
import { outline, resolveById, SESSION_START } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'
import { logToDraft } from '../dialects/logs/log-to-draft.ts'
import type { StepOutline } from '../session/step-draft.ts'
import { assembleSession } from './assemble-session.ts'
import { resolveSteps } from './resolve-steps.ts'

const root = outline({ id: 'root', kind: 'workflow', to: 100 })
const asking = outline({
  id: 'asking',
  kind: 'llm',
  parentId: 'root',
  from: 10,
  to: 20,
  toolRequests: [{ id: 'call_1', name: 'get_weather', inputPreview: 'city=Paris' }],
})
const answered = outline({
  id: 'answered',
  kind: 'llm',
  parentId: 'root',
  from: 50,
  to: 60,
  toolAnswers: [{ id: 'call_1', outputPreview: 'sunny' }],
})
const conversation = [root, asking, answered]

const actionsOf = (steps: StepOutline[]) =>
  resolveSteps(steps)
    .filter(({ kind }) => kind === 'action')
    .map(({ name, isInferred = false }) => ({ name, isInferred }))

test('a tool call that was answered but not recorded is an inferred action between the two calls', () => {
  const steps = resolveSteps(conversation)

  expect(steps.map(({ id, isInferred }) => (isInferred === true ? 'inferred' : id))).toEqual([
    'root',
    'asking',
    'inferred',
    'answered',
  ])
  expect(steps[2]).toEqual({
    sessionId: 'a'.repeat(32),
    id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    parentId: 'root',
    isParentRemote: false,
    startedAtMs: SESSION_START + 20,
    endedAtMs: SESSION_START + 50,
    kind: 'action',
    name: 'get_weather',
    dialect: 'otel-genai',
    status: 'ok',
    toolName: 'get_weather',
    toolCallId: 'call_1',
    inputPreview: 'city=Paris',
    outputPreview: 'sunny',
    depth: 1,
    isInferred: true,
    requestedBy: 'asking',
    answeredBy: 'answered',
    requestIndex: 0,
  })
})

test('tools that one reply asked for are in its order', () => {
  const cities = ['Oslo', 'Rome', 'Bern', 'Lima', 'Cork', 'Bonn']
  const ask = {
    ...asking,
    toolRequests: cities.map((city) => ({ id: `call_${city}`, name: 'get_weather', inputPreview: city })),
  }
  const reply = { ...answered, toolAnswers: cities.map((city) => ({ id: `call_${city}` })) }

  const actions = resolveSteps([root, ask, reply]).filter(({ kind }) => kind === 'action')

  expect(actions.map(({ inputPreview }) => inputPreview)).toEqual(cities)
})

test('the session counts an inferred action and shows its arguments and result', () => {
  const { session, steps } = sessionOf(conversation, {
    asking: {
      messages: [
        {
          role: 'assistant',
          isOutput: true,
          parts: [{ type: 'tool-call', id: 'call_1', name: 'get_weather', arguments: { city: 'Paris' } }],
        },
      ],
    },
    answered: {
      messages: [{ role: 'tool', parts: [{ type: 'tool-result', id: 'call_1', result: 'sunny' }] }],
    },
  })

  expect(session).toMatchObject({ stepCount: 4, llmCallCount: 2, actionCount: 1, tools: ['get_weather'] })
  expect(steps[2]).toMatchObject({
    kind: 'action',
    isInferred: true,
    hasPayload: true,
    tool: { name: 'get_weather', callId: 'call_1', arguments: { city: 'Paris' }, result: 'sunny' },
    input: { city: 'Paris' },
    output: 'sunny',
  })
})

test('a call that nobody answered is not an action', () => {
  expect(actionsOf([root, asking])).toEqual([])
})

test.each([
  ['with the same call id', { kind: 'action', name: 'weather', toolCallId: 'call_1' }],
  ['with the same name', { kind: 'action', name: 'get_weather' }],
  ['whose name is written for people', { kind: 'action', name: 'Get weather', toolName: 'Get Weather' }],
] as const)('nothing is inferred beside a recorded action %s', (_case, recorded) => {
  const real = outline({ id: 'real', parentId: 'root', from: 25, to: 40, ...recorded })

  expect(actionsOf([...conversation, real])).toEqual([{ name: recorded.name, isInferred: false }])
})

test('an action with another call id is another action', () => {
  const other = outline({
    id: 'other',
    kind: 'action',
    name: 'get_weather',
    toolCallId: 'call_2',
    parentId: 'root',
    from: 25,
  })

  expect(actionsOf([...conversation, other])).toEqual([
    { name: 'get_weather', isInferred: true },
    { name: 'get_weather', isInferred: false },
  ])
})

test('plain code with the name of the tool is the action', () => {
  const code = outline({ id: 'code', kind: 'other', name: 'get_weather', parentId: 'root', from: 25, to: 40 })

  expect(resolveById([...conversation, code]).code).toMatchObject({
    kind: 'action',
    toolName: 'get_weather',
    toolCallId: 'call_1',
    inputPreview: 'city=Paris',
    outputPreview: 'sunny',
  })
  expect(resolveById([...conversation, code]).code).not.toHaveProperty('isInferred')
})

test('an agent that runs as a tool is not repeated as an action', () => {
  const agent = outline({
    id: 'expert',
    kind: 'agent',
    name: 'get_weather',
    parentId: 'root',
    from: 25,
    to: 40,
  })

  expect(actionsOf([...conversation, agent])).toEqual([])
})

test('without call ids, results belong to requests by name and order', () => {
  const ask = { ...asking, toolRequests: [{ name: 'a' }, { name: 'b' }, { name: 'a', inputPreview: 'x=2' }] }
  const reply = {
    ...answered,
    toolAnswers: [{ name: 'b', outputPreview: '1' }, { name: 'a' }, { name: 'a' }],
  }

  const inferred = resolveSteps([root, ask, reply]).filter((step) => step.isInferred === true)

  expect(
    inferred.map(({ name, inputPreview, outputPreview }) => [name, inputPreview, outputPreview]),
  ).toEqual(
    expect.arrayContaining([
      ['a', undefined, undefined],
      ['b', undefined, '1'],
      ['a', 'x=2', undefined],
    ]),
  )
  expect(inferred).toHaveLength(3)
})

test('agents that call the same tool in parallel have an action each', () => {
  const agentOf = (name: string, { from, ranAt }: { from: number; ranAt: number }): StepOutline[] => {
    const call = { id: `call_${name}`, name: 'get_weather', inputPreview: `city=${name}` }
    return [
      outline({ id: name, kind: 'agent', parentId: 'root', from, to: 90 }),
      outline({ id: `${name}-asking`, kind: 'llm', parentId: name, from, to: 20, toolRequests: [call] }),
      outline({
        id: `${name}-action`,
        kind: 'action',
        name: 'get_weather',
        toolName: 'get_weather',
        parentId: name,
        from: ranAt,
        to: ranAt + 5,
        inputPreview: `city=${name}`,
      }),
      outline({
        id: `${name}-told`,
        kind: 'llm',
        parentId: name,
        from: ranAt + 6,
        to: 60,
        toolAnswers: [{ id: call.id, outputPreview: 'sunny' }],
      }),
    ]
  }
  const steps = resolveSteps([
    root,
    ...agentOf('Oslo', { from: 10, ranAt: 40 }),
    ...agentOf('Rome', { from: 11, ranAt: 25 }),
  ])
  expect(steps.flatMap(({ id, kind, toolCallId }) => (kind === 'action' ? [[id, toolCallId]] : []))).toEqual([
    ['Rome-action', 'call_Rome'],
    ['Oslo-action', 'call_Oslo'],
  ])
})

test('results without ids that a conversation repeats answer nobody else', () => {
  const call = (city: string) => ({ name: 'get_weather', inputPreview: `city=${city}` })
  const answer = (outputPreview: string) => ({ name: 'get_weather', outputPreview })
  const steps = resolveSteps([
    root,
    outline({ id: 'a', kind: 'agent', parentId: 'root', from: 5, to: 90 }),
    outline({ id: 'a1', kind: 'llm', parentId: 'a', from: 10, to: 20, toolRequests: [call('Oslo')] }),
    outline({
      id: 'a2',
      kind: 'llm',
      parentId: 'a',
      from: 30,
      to: 40,
      toolAnswers: [answer('cold')],
      toolRequests: [call('Rome')],
    }),
    outline({ id: 'b', kind: 'agent', parentId: 'root', from: 5, to: 90 }),
    outline({ id: 'b1', kind: 'llm', parentId: 'b', from: 41, to: 45, toolRequests: [call('Bodø')] }),
    outline({
      id: 'a3',
      kind: 'llm',
      parentId: 'a',
      from: 50,
      to: 60,
      toolAnswers: [answer('cold'), answer('warm')],
    }),
  ])
  expect(
    steps.flatMap(({ kind, inputPreview, outputPreview }) =>
      kind === 'action' ? [[inputPreview, outputPreview]] : [],
    ),
  ).toEqual([
    ['city=Oslo', 'cold'],
    ['city=Rome', 'warm'],
  ])
})

test('a conversation that is sent again does not repeat its actions', () => {
  const later = { ...answered, id: 'later', startedAtMs: SESSION_START + 70, endedAtMs: SESSION_START + 80 }

  expect(actionsOf([...conversation, later])).toEqual([{ name: 'get_weather', isInferred: true }])
})

test('a call that two instrumentations report is one action', () => {
  const copy = { ...asking, id: 'copy', reporter: 'other', parentId: 'asking' }

  expect(actionsOf([...conversation, copy])).toEqual([{ name: 'get_weather', isInferred: true }])
})

test('a result that says it failed makes the inferred action a soft error, not the session a failure', () => {
  const failing = {
    ...answered,
    toolAnswers: [{ id: 'call_1', error: { type: 'ToolError', message: 'no such city' } }],
  }
  const { session, steps } = sessionOf([
    { ...asking, parentId: null },
    { ...failing, parentId: null },
  ])

  expect(session).toMatchObject({ endState: 'success', errorCount: 1 })
  expect(steps[1]).toMatchObject({ status: 'soft-error', error: { message: 'no such city' } })
})

test('a tool that hands over to another agent is no action', () => {
  const ask = { ...asking, toolRequests: [{ id: 'call_1', name: 'transfer_to_billing' }] }

  expect(actionsOf([root, ask, answered])).toEqual([])
})

test('parallel calls without ids get the results in their order', () => {
  const city = (name: string) => ({
    type: 'tool-call' as const,
    name: 'get_weather',
    arguments: { city: name },
  })
  const told = (result: unknown) => ({ type: 'tool-result' as const, name: 'get_weather', result })
  const { steps } = sessionOf(
    [
      root,
      { ...asking, toolRequests: [{ name: 'get_weather' }, { name: 'get_weather' }] },
      { ...answered, toolAnswers: [{ name: 'get_weather' }, { name: 'get_weather' }] },
    ],
    {
      asking: { messages: [{ role: 'assistant', parts: [city('Oslo'), city('Rome')], isOutput: true }] },
      answered: {
        messages: [{ role: 'tool', parts: [told('old'), told({ result: 'snow' }), told({ result: 'sun' })] }],
      },
    },
  )

  const pairs = steps.filter(({ isInferred }) => isInferred).map(({ input, output }) => [input, output])
  expect(new Set(pairs)).toEqual(
    new Set([
      [{ city: 'Oslo' }, 'snow'],
      [{ city: 'Rome' }, 'sun'],
    ]),
  )
})

test('results without ids answer calls with ids in their order', () => {
  const { steps } = sessionOf([root, asking, { ...answered, toolAnswers: [{}] }], {
    answered: { messages: [{ role: 'tool', parts: [{ type: 'tool-result', result: 'sunny' }] }] },
  })

  expect(steps.find(({ isInferred }) => isInferred)?.output).toBe('sunny')
})

test('an execution that a framework and its runtime report is one action', () => {
  const tool = outline({
    id: 'tool',
    kind: 'action',
    toolName: 'get_weather',
    parentId: 'root',
    from: 25,
    to: 45,
  })
  const inner = { ...tool, id: 'inner', parentId: 'tool', dialect: 'microsoft', toolCallId: 'call_1' }

  expect(resolveSteps([...conversation, tool, inner]).filter(({ kind }) => kind === 'action')).toMatchObject([
    { id: 'tool', toolCallId: 'call_1' },
  ])
})

test('an execution with a made-up call id is the one that was asked for with the same arguments', () => {
  const tool = outline({
    id: 'tool',
    kind: 'action',
    toolName: 'get_weather',
    parentId: 'root',
    from: 25,
    to: 45,
  })
  const own = { ...tool, toolCallId: 'adk-1', inputPreview: 'city=Paris', outputPreview: 'sunny' }

  expect(actionsOf([...conversation, own])).toEqual([{ name: own.name, isInferred: false }])
  expect(actionsOf([...conversation, { ...own, inputPreview: 'city=Rome' }])).toHaveLength(2)
})

test('a conversation that arrives only in log records shows its actions too', () => {
  const callOf = (id: string, from: number) =>
    outline({ id, kind: 'llm', parentId: 'root', from, to: from + 10 })
  const logOf = (spanId: string, name: string, body: Record<string, unknown>, atMs: number) => {
    const record = makeLog({
      spanId,
      name,
      body: body as never,
      timeNs: BigInt(Math.round((SESSION_START + atMs) * 1e6)),
    })
    const { outline: log, content } = logToDraft(record)
    return { ...log, sessionId: root.sessionId, content }
  }
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
  const outlines = [root, callOf('asking', 10), callOf('told', 40)]
  const logs = [
    logOf('asking', 'gen_ai.user.message', { content: 'Look!' }, 10),
    logOf('asking', 'gen_ai.choice', { message: { role: 'assistant', tool_calls: [call] } }, 20),
    logOf('told', 'gen_ai.user.message', { content: 'Look!' }, 40),
    logOf('told', 'gen_ai.assistant.message', { tool_calls: [call] }, 41),
    logOf('told', 'gen_ai.tool.message', { id: 'call_1', content: 'nothing' }, 42),
  ]
  const { session, steps } = assembleSession({
    outlines,
    logs,
    contents: new Map(outlines.map(({ id }) => [id, { attributes: {} }])),
    nowMs: 1000,
    lastHeardAtMs: 1000,
  })

  expect(session).toMatchObject({ actionCount: 1, tools: ['look'] })
  expect(steps.filter(({ kind }) => kind === 'action')).toMatchObject([
    {
      name: 'look',
      isInferred: true,
      inputPreview: 'at=1',
      outputPreview: 'nothing',
      input: { at: 1 },
      output: 'nothing',
    },
  ])
})
