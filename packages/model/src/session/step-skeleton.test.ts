import { describe, expect, test } from 'vitest'
import { fromSkeleton, isSkeleton, toSkeleton } from './step-skeleton.ts'
import type { Step } from './step.ts'

const base: Step = {
  id: 'root',
  parentId: null,
  kind: 'agent',
  name: 'coder',
  startedAt: '2026-11-18T10:00:00.250Z',
  endedAt: '2026-11-18T10:00:09.251Z',
  offsetMs: 0,
  durationMs: 9000.875,
  status: 'error',
  error: { type: 'TypeError', message: 'path must be a string', isPropagated: true },
  hasPayload: false,
  cost: null,
  dialect: 'genai',
  agent: 'coder',
}

const steps: Step[] = [
  base,
  {
    ...base,
    id: 'call',
    parentId: 'root',
    kind: 'llm',
    name: 'chat gpt-4o',
    startedAt: '2026-11-18T10:00:00.750Z',
    endedAt: '2026-11-18T10:00:01.751Z',
    offsetMs: 500.125,
    durationMs: 1000.5,
    status: 'ok',
    model: 'gpt-4o',
    usage: { input: 1200, output: 0 },
    usageScope: 'call',
    cost: 0,
    costSource: 'computed',
    streaming: { firstTokenMs: 120.5 },
    finishReasons: ['stop'],
    inputPreview: 'Fix the bug',
    outputPreview: '→ read_file(path="a.ts")',
  },
  { ...base, id: 'a', parentId: 'root', kind: 'action', name: 'read_file', tool: { name: 'read_file' } },
  {
    ...base,
    id: 'b',
    parentId: 'root',
    kind: 'action',
    name: 'read_file',
    tool: { name: 'read_file', callId: 'call_1' },
  },
  { ...base, id: 'orphan', parentId: 'never-arrived', isOrphan: true },
  { ...base, id: 'open', parentId: 'call', endedAt: null, durationMs: null, status: 'running' },
]

const overTheWire = (given: readonly Step[], whole: readonly Step[] = []) =>
  fromSkeleton(JSON.parse(JSON.stringify(toSkeleton(given))) as ReturnType<typeof toSkeleton>, whole)

describe('the skeleton of a session', () => {
  test('has all that the steps have, except previews and payloads', () => {
    const expected = steps.map(({ inputPreview: _, outputPreview: __, ...step }) => ({
      ...step,
      isSkeleton: true,
    }))
    expect(overTheWire(steps)).toEqual(expected)
  })

  test('leaves payloads out', () => {
    const [step] = overTheWire([
      { ...base, input: 'secret', output: 'secret', messages: [], attributes: { key: 'secret' } },
    ])
    expect(JSON.stringify(step)).not.toContain('secret')
  })

  test('gives way to the steps that came whole', () => {
    const whole: Step = { ...steps[1]!, hasPayload: true, input: 'Fix the bug' }
    const read = overTheWire(steps, [whole])
    expect(read[1]).toBe(whole)
    expect(read.map(isSkeleton)).toEqual([true, false, true, true, true, true])
  })

  test('says of a step with its payload that nothing has to be requested', () => {
    const read = overTheWire([{ ...base, hasPayload: true }, base])
    expect(read.map(isSkeleton)).toEqual([false, true])
  })

  test('takes less than 100 bytes a step of a loop', () => {
    const { error: _, ...ok } = steps[2]!
    const many = Array.from({ length: 3_000 }, (__, index) => ({
      ...ok,
      id: index.toString(16).padStart(16, '0'),
    }))
    expect(JSON.stringify(toSkeleton(many)).length).toBeLessThan(100 * many.length)
  })

  test('is empty for a session without steps', () => {
    expect(overTheWire([])).toEqual([])
  })
})
