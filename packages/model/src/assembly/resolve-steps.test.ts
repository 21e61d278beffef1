import { expect, test } from 'vitest'
import { failed, log, outline, resolveById, SESSION_START } from '../../test/outline.ts'
import { resolveSteps } from './resolve-steps.ts'

test('steps come out in start order, at one instant the parent before the child, then by id', () => {
  const steps = resolveSteps([
    outline({ id: 'd', from: 5, parentId: 'z' }),
    outline({ id: 'c', from: 0, parentId: 'z' }),
    outline({ id: 'z', from: 0, to: 20 }),
    outline({ id: 'b', from: 0, parentId: 'z' }),
  ])

  expect(steps.map((step) => [step.id, step.depth])).toEqual([
    ['z', 0],
    ['b', 1],
    ['c', 1],
    ['d', 1],
  ])
})

test('resolving does not change the given outlines', () => {
  const outlines = [
    failed({ id: 'tool', kind: 'action', parentId: 'root', from: 5, to: 1, message: 'no such customer' }),
    failed({ id: 'root', kind: 'agent', message: 'no such customer' }),
  ]
  const before = structuredClone(outlines)

  resolveSteps(outlines, [log({ stepId: 'tool', adds: { inputPreview: 'x' } })])

  expect(outlines).toEqual(before)
})

test('a step whose parent never arrived is an orphan that still names its parent', () => {
  const [step] = resolveSteps([outline({ id: 'a', parentId: 'gone' })])

  expect(step).toMatchObject({ parentId: 'gone', isOrphan: true, depth: 0 })
})

test('a step whose parent is in another process is a root', () => {
  const [step] = resolveSteps([outline({ id: 'a', parentId: 'gone', isParentRemote: true })])

  expect(step).toEqual({ ...outline({ id: 'a', isParentRemote: true }), depth: 0 })
})

test('a step that is its own parent is a root', () => {
  const [step] = resolveSteps([outline({ id: 'a', parentId: 'a' })])

  expect(step).toMatchObject({ parentId: null, depth: 0 })
  expect(step).not.toHaveProperty('isOrphan')
})

test('a cycle of parents is cut at its earliest step, and the steps below stay there', () => {
  const steps = resolveById([
    outline({ id: 'a', parentId: 'c', from: 2 }),
    outline({ id: 'b', parentId: 'a', from: 1 }),
    outline({ id: 'c', parentId: 'b', from: 3 }),
    outline({ id: 'leaf', parentId: 'c', from: 4 }),
  ])

  expect(Object.values(steps).map((step) => [step.id, step.parentId, step.depth])).toEqual([
    ['b', null, 0],
    ['a', 'c', 2],
    ['c', 'b', 1],
    ['leaf', 'c', 2],
  ])
})

test('of two copies of a step, the one that ended wins', () => {
  const steps = resolveSteps([
    outline({ id: 'a', to: null }),
    outline({ id: 'a', to: 30, outputPreview: 'done' }),
    outline({ id: 'a', to: null }),
  ])

  expect(steps).toEqual([{ ...outline({ id: 'a', to: 30, outputPreview: 'done' }), depth: 0 }])
})

test('a step that ends before it starts ends when it starts', () => {
  const [step] = resolveSteps([outline({ id: 'a', from: 50, to: 20 })])

  expect(step?.endedAtMs).toBe(SESSION_START + 50)
})

test('a step without times gets those of the steps inside it', () => {
  const trace = { ...outline({ id: 'trace' }), startedAtMs: 0, endedAtMs: 0 }
  const steps = resolveById([
    trace,
    outline({ id: 'agent', parentId: 'trace', from: 100, to: 900 }),
    outline({ id: 'task', parentId: 'trace', from: 50, to: 400 }),
  ])

  expect(steps['trace']).toMatchObject({
    startedAtMs: SESSION_START + 50,
    endedAtMs: SESSION_START + 900,
    status: 'ok',
  })
  expect(Object.keys(steps)).toEqual(['trace', 'task', 'agent'])
})

test('a step without times is open while a step inside it is', () => {
  const trace = { ...outline({ id: 'trace', to: null }), startedAtMs: 0 }
  const steps = resolveById([trace, outline({ id: 'agent', parentId: 'trace', from: 10, to: null })])

  expect(steps['trace']).toMatchObject({
    startedAtMs: SESSION_START + 10,
    endedAtMs: null,
    status: 'running',
  })
})

test('a step without times and children starts with its parent', () => {
  const steps = resolveById([
    outline({ id: 'root', from: 10, to: 50 }),
    { ...outline({ id: 'leaf', parentId: 'root' }), startedAtMs: Number.NaN, endedAtMs: 0 },
  ])

  expect(steps['leaf']).toMatchObject({ startedAtMs: SESSION_START + 10, endedAtMs: SESSION_START + 10 })
})

test('steps of a root that was created later are nested by time, and the root gets their times', () => {
  const flat = { parentId: 'root', treeQuestion: 'parent-by-time' } as const
  const steps = resolveById([
    outline({ id: 'root', kind: 'workflow', from: 5000, to: 5000.3 }),
    outline({ id: 'guard', kind: 'guardrail', from: 0, to: 1, ...flat }),
    outline({ id: 'call-1', kind: 'llm', from: 1, to: 9, ...flat }),
    outline({
      id: 'handoff',
      kind: 'handoff',
      from: 10,
      to: 10,
      handoff: { from: 'Triage', to: 'Weather' },
      ...flat,
    }),
    outline({ id: 'triage', kind: 'agent', name: 'Triage', from: 0, to: 10, ...flat }),
    outline({ id: 'call-2', kind: 'llm', from: 11, to: 15, ...flat }),
    outline({ id: 'tool', kind: 'action', from: 15, to: 15, ...flat }),
    outline({ id: 'weather', kind: 'agent', name: 'Weather', from: 10, to: 20, ...flat }),
  ])

  expect(Object.values(steps).map((step) => [step.id, step.parentId])).toEqual([
    ['root', null],
    ['triage', 'root'],
    ['guard', 'triage'],
    ['call-1', 'triage'],
    ['weather', 'root'],
    ['handoff', 'triage'],
    ['call-2', 'weather'],
    ['tool', 'weather'],
  ])
  expect(steps['root']).toMatchObject({ startedAtMs: SESSION_START, endedAtMs: SESSION_START + 20 })
})

test('parallel tools are not nested, but an agent that a tool runs is', () => {
  const flat = { parentId: 'root', treeQuestion: 'parent-by-time' } as const
  const steps = resolveById([
    outline({ id: 'main', kind: 'agent', from: 0, to: 100, ...flat }),
    outline({ id: 'slow', kind: 'action', from: 10, to: 90, ...flat }),
    outline({ id: 'quick', kind: 'action', from: 20, to: 30, ...flat }),
    outline({ id: 'helper', kind: 'agent', from: 40, to: 80, ...flat }),
  ])

  expect(Object.values(steps).map((step) => [step.id, step.parentId, step.isOrphan])).toEqual([
    ['main', 'root', true],
    ['slow', 'main', undefined],
    ['quick', 'main', undefined],
    ['helper', 'slow', undefined],
  ])
})

test('a model generation is the model call unless a step below is', () => {
  const question = { kind: 'llm', treeQuestion: 'llm-unless-model-below' } as const
  const steps = resolveById([
    outline({ id: 'alone', ...question }),
    outline({ id: 'wrapper', ...question }),
    outline({ id: 'between', kind: 'workflow', parentId: 'wrapper' }),
    outline({ id: 'inference', kind: 'llm', parentId: 'between' }),
  ])

  expect(steps['alone']?.kind).toBe('llm')
  expect(steps['wrapper']?.kind).toBe('workflow')
})

test('generateText is an agent if it used a tool or took several steps, not if it was retried', () => {
  const question = { kind: 'workflow', treeQuestion: 'agent-if-tools-below' } as const
  const steps = resolveById([
    outline({ id: 'plain', ...question }),
    outline({ id: 'plain-call', kind: 'llm', parentId: 'plain' }),
    outline({ id: 'retried', ...question }),
    failed({ id: 'attempt-1', kind: 'llm', parentId: 'retried' }),
    outline({ id: 'attempt-2', kind: 'llm', parentId: 'retried' }),
    outline({ id: 'with-tool', ...question }),
    outline({ id: 'tool', kind: 'action', parentId: 'with-tool' }),
    outline({ id: 'two-steps', ...question }),
    outline({ id: 'step-1', kind: 'llm', parentId: 'two-steps' }),
    outline({ id: 'step-2', kind: 'llm', parentId: 'two-steps' }),
    outline({ id: 'seen-twice', ...question }),
    outline({ id: 'outer', kind: 'llm', parentId: 'seen-twice' }),
    outline({ id: 'inner', kind: 'llm', parentId: 'outer' }),
  ])
  const kindOf = (id: string) => steps[id]?.kind

  expect(['plain', 'retried', 'with-tool', 'two-steps', 'seen-twice'].map(kindOf)).toEqual([
    'workflow',
    'workflow',
    'agent',
    'agent',
    'workflow',
  ])
})

test('a step that turns out not to be an agent has no agent name', () => {
  const question = { kind: 'workflow', treeQuestion: 'agent-if-tools-below', agent: 'my-function' } as const
  const steps = resolveById([
    outline({ id: 'plain', ...question }),
    outline({ id: 'agent', ...question }),
    outline({ id: 'tool', kind: 'action', parentId: 'agent' }),
  ])

  expect(steps['plain']).not.toHaveProperty('agent')
  expect(steps['agent']).toMatchObject({ agent: 'my-function' })
})

test('a plain span is a workflow when AI steps are below it, however deep', () => {
  const question = { treeQuestion: 'workflow-if-ai-below' } as const
  const steps = resolveById([
    outline({ id: 'top', ...question }),
    outline({ id: 'middle', parentId: 'top', ...question }),
    outline({ id: 'call', kind: 'llm', parentId: 'middle' }),
    outline({ id: 'database', parentId: 'top', ...question }),
    outline({ id: 'query', parentId: 'database' }),
  ])

  expect([steps['top']?.kind, steps['middle']?.kind, steps['database']?.kind]).toEqual([
    'workflow',
    'workflow',
    'other',
  ])
})

test('a tool call reported by client and server is one action, the outer one', () => {
  const tool = { kind: 'action', toolName: 'search' } as const
  const steps = resolveById([
    outline({ id: 'framework', ...tool }),
    outline({ id: 'client', parentId: 'framework', dialect: 'mcp', ...tool }),
    outline({ id: 'http', parentId: 'client' }),
    outline({ id: 'server', parentId: 'http', dialect: 'mcp', ...tool }),
    outline({ id: 'other-tool', kind: 'action', toolName: 'fetch', parentId: 'server' }),
  ])

  expect(Object.fromEntries(Object.values(steps).map((step) => [step.id, step.kind]))).toEqual({
    framework: 'action',
    client: 'other',
    http: 'other',
    server: 'other',
    'other-tool': 'action',
  })
})

test('a recursive function is two actions, and so are two calls with different ids', () => {
  const recursive = { kind: 'action', toolName: 'walk', dialect: 'playhead' } as const
  const steps = resolveById([
    outline({ id: 'outer', ...recursive }),
    outline({ id: 'inner', parentId: 'outer', ...recursive }),
    outline({ id: 'call-1', kind: 'action', toolName: 'ask', toolCallId: '1' }),
    outline({ id: 'call-2', kind: 'action', toolName: 'ask', toolCallId: '2', parentId: 'call-1' }),
  ])

  expect(Object.values(steps).map((step) => step.kind)).toEqual(['action', 'action', 'action', 'action'])
})
