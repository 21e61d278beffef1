import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeLongSession } from '../../test/long-session.ts'
import { otherIdsAndTimes, withVolatileValues } from '../../test/other-run.ts'
import { plantFaults, readScenarios, type PlantedPair } from '../../test/planted-faults.ts'
import { createRandom } from '../../test/random.ts'
import type { Part } from '../session/message.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { agentRun, does } from '../../test/agent-run.ts'
import { alignSessions, mirrorAlignment, type Alignment } from './align-sessions.ts'
import { describeFirstDivergence } from './describe-divergence.ts'

const scenarios = Object.fromEntries(readScenarios().map(({ name, session }) => [name, session]))
const scenario = (name: string) => structuredClone(scenarios[name]!)

function findStep({ steps }: Session, name: string): Step {
  return steps.find((step) => step.name === name)!
}

function setResult(step: Step, result: unknown): void {
  step.output = result
  step.tool = { ...step.tool!, result }
}

function describeDivergence(before: Session, now: Session): string | undefined {
  return describeFirstDivergence(alignSessions(before, now))
}

describe('sessions of the example agent', () => {
  test('a session has no difference from itself or from another run of the same', () => {
    for (const [name, session] of Object.entries(scenarios)) {
      const random = createRandom(7)
      const again = otherIdsAndTimes(withVolatileValues(session, random), random).session
      const itself = alignSessions(session, session)
      expect([name, itself.divergence]).toEqual([name, null])
      expect(itself.rows.every(({ differences }) => differences.length === 0)).toBe(true)
      const other = alignSessions(again, otherIdsAndTimes(again, random).session)
      expect([name, other.divergence]).toEqual([name, null])
    }
  })

  test('a session that declares its input does not differ from one that does not', () => {
    const [before, now] = [scenario('billing-signed-in'), scenario('billing-signed-in')]
    const [root] = now.steps
    root!.input = 'I was charged twice'
    const attributes = { ...root!.attributes, 'playhead.session.input': '"I was charged twice"' }
    expect(describeDivergence(before, now)).toContain('step 1')
    root!.attributes = attributes
    expect([describeDivergence(before, now), describeDivergence(now, before)]).toEqual([undefined, undefined])
    before.steps[0]!.input = 'Where is my parcel?'
    before.steps[0]!.attributes = attributes
    expect(alignSessions(before, now).rows[0]!.differences).toMatchObject([{ kind: 'input' }])
  })

  test('the failed run diverged where it did not look up the account', () => {
    expect(describeDivergence(scenario('billing-signed-in'), scenario('billing-fault'))).toBe(
      'step 6 find_account is missing',
    )
  })

  test('different phrasings of a question are no divergence, but their consequences are', () => {
    const alignment = alignSessions(scenario('billing-named'), scenario('billing-fault'))
    expect(alignment.rows[1]!.differences.map(({ kind }) => kind)).toEqual(['input'])
    expect(describeDivergence(scenario('billing-named'), scenario('billing-fault'))).toBe(
      'step 5 extract_customer_id, returned null instead of "c_42"',
    )
  })

  test('a null argument is reported with its value', () => {
    const failed = scenario('billing-named')
    findStep(failed, 'fetch_customer_data').tool!.arguments = { customer_id: null }
    expect(describeDivergence(scenario('billing-named'), failed)).toBe(
      'step 6 fetch_customer_data, argument customer_id null instead of "c_42"',
    )
  })

  test('the reply of a model comes before the result of the action around it', () => {
    const other = scenario('billing-named')
    const call = other.steps[3]!
    call.messages!.at(-1)!.parts = [{ type: 'text', text: 'general' }]
    setResult(findStep(other, 'classify_intent'), 'general')
    expect(describeDivergence(scenario('billing-named'), other)).toBe(
      'step 4 gpt-4o, the model replied "general" instead of "billing"',
    )
  })

  test('different wording is no divergence, nor are its later copies', () => {
    const other = scenario('billing-named')
    const said = findStep(other, 'write_reply').output as string
    const reworded = said.replace('I see two charges', 'I can see the two charges')
    const text = JSON.stringify(other.steps).replaceAll(JSON.stringify(said), JSON.stringify(reworded))
    const alignment = alignSessions(scenario('billing-named'), { ...other, steps: JSON.parse(text) })
    expect(alignment.divergence).toBeNull()
    expect(alignment.rows.flatMap(({ differences }) => differences.map(({ kind }) => kind))).toEqual([
      'wording',
    ])
  })

  test('an effect of only one session is listed apart from other steps', () => {
    const done = scenario('refund')
    const twice = scenario('refund')
    const refund = findStep(twice, 'issue_refund')
    twice.steps.splice(twice.steps.indexOf(refund) + 1, 0, {
      ...refund,
      id: 'again',
      offsetMs: refund.offsetMs + 0.5,
    })
    const alignment = alignSessions(done, twice)
    expect(alignment.effects.map(({ kind, b }) => [kind, b?.id])).toEqual([['added', 'again']])
    expect(describeDivergence(done, twice)).toBe('step 8 issue_refund (a write) is extra')
    expect(describeDivergence(twice, done)).toBe('step 8 issue_refund (a write) is missing')
  })

  test('repeating a loop is no divergence unless it writes', () => {
    const once = scenario('refund')
    const lookup = findStep(once, 'fetch_customer_data')
    const again = { ...lookup, id: 'again', offsetMs: lookup.offsetMs + 0.5 }
    const twice = { ...once, steps: once.steps.toSpliced(once.steps.indexOf(lookup) + 1, 0, again) }
    const { divergence, rows } = alignSessions(once, twice)
    expect(divergence).toBeNull()
    expect(rows.filter(({ differences }) => differences.length > 0).map(({ b }) => b?.id)).toEqual(['again'])
  })

  test('a level that only one session has does not hide the steps below it', () => {
    const plain = scenario('billing-named')
    const nested = scenario('billing-named')
    const [root, ...steps] = nested.steps
    const level: Step = { ...root!, id: 'level', parentId: root!.id, kind: 'agent', name: 'support v2' }
    const inside = steps.map((step) => (step.parentId === root!.id ? { ...step, parentId: 'level' } : step))
    const alignment = alignSessions(plain, { ...nested, steps: [root!, level, ...inside] })
    expect(alignment.divergence).toBeNull()
    expect(alignment.rows.filter(({ a, b }) => a !== undefined && b !== undefined)).toHaveLength(
      plain.steps.length,
    )
  })

  test('corresponding ids are no difference, swapped ids are', () => {
    const random = createRandom(1)
    const ids = [random.hex(32), random.hex(32), random.hex(32), random.hex(32)]
    const run = (first: string, second: string, used: string): Session => {
      const session = scenario('refund')
      setResult(findStep(session, 'extract_customer_id'), first)
      setResult(findStep(session, 'fetch_customer_data'), { order: second })
      findStep(session, 'issue_refund').tool!.arguments = { order: used }
      return session
    }
    const before = run(ids[0]!, ids[1]!, ids[1]!)
    expect(alignSessions(before, run(ids[2]!, ids[3]!, ids[3]!)).divergence).toBeNull()
    expect(alignSessions(before, run(ids[2]!, ids[3]!, ids[2]!)).divergence).toMatchObject({
      kind: 'argument',
      path: 'order',
    })
  })

  test('a re-run has the clock of the session that it repeats', () => {
    const before = scenario('refund')
    const at = (ms: number) => new Date(Date.parse(before.session.startedAt) + ms).toISOString()
    setResult(findStep(before, 'extract_customer_id'), `c_42 at ${at(5)}`)
    const again = scenario('refund')
    setResult(findStep(again, 'extract_customer_id'), `c_42 at ${at(90)}`)
    again.session.startedAt = at(86_400_000)
    expect(alignSessions(before, again).divergence).toMatchObject({ kind: 'result' })
    again.session.parentId = before.session.id
    expect(alignSessions(before, again).divergence).toBeNull()
  })

  test.each<[string, boolean]>([
    ['after the calls', true],
    ['of a request that continues an earlier one', false],
  ])('results of parallel tools may come in any order %s, with the same values', (_name, hasCalls) => {
    const told = (id: string, result: string) => ({ type: 'tool-result' as const, id, result })
    const calls = ['call_1', 'call_2'].map((id) => ({
      type: 'tool-call' as const,
      id,
      name: 'look_up',
      arguments: { id },
    }))
    const run = (...results: Part[]): Session => {
      const session = scenario('refund')
      const step = session.steps.find(({ kind }) => kind === 'llm')!
      step.messages = [
        ...(hasCalls ? [{ role: 'assistant', parts: calls }] : []),
        ...results.map((part) => ({ role: 'tool', parts: [part] })),
      ]
      return session
    }
    const before = run(told('call_1', 'cold'), told('call_2', 'warm'))
    expect(alignSessions(before, run(told('call_2', 'warm'), told('call_1', 'cold'))).divergence).toBeNull()
    expect(
      alignSessions(before, run(told('call_2', 'warm'), told('call_1', 'hot'))).divergence,
    ).toMatchObject({
      kind: 'result',
    })
  })

  test('without payloads, previews are compared and the result says so', () => {
    const withoutPayloads = (session: Session): Session => ({
      ...session,
      steps: session.steps.map(
        ({ tool: _tool, messages: _messages, input: _input, output: _output, ...step }) => ({
          ...step,
          hasPayload: false,
        }),
      ),
    })
    const alignment = alignSessions(
      withoutPayloads(scenario('billing-signed-in')),
      withoutPayloads(scenario('billing-fault')),
    )
    expect(alignment.hasPayloads).toBe(false)
    expect(alignment.rows[alignment.divergence!.row!]!.a!.name).toBe('find_account')
  })
})

describe('the corpus of planted faults', () => {
  const pairs = plantFaults(500, 20_261_115)
  const alignments = pairs.map(({ a, b }) => alignSessions(a, b))

  test('the first divergence is the planted one in 95% of the pairs, and equal runs have none', () => {
    const score = new Map<string, { right: number; all: number }>()
    for (const [index, pair] of pairs.entries()) {
      const counted = score.get(pair.fault) ?? { right: 0, all: 0 }
      counted.all += 1
      if (isNamed(pair, alignments[index]!)) counted.right += 1
      score.set(pair.fault, counted)
    }
    const right = [...score.values()].reduce((sum, counted) => sum + counted.right, 0)
    const lines = [...score].map(([fault, counted]) => `  ${fault}: ${counted.right} of ${counted.all}`)
    console.log(`first divergence named right: ${right} of ${pairs.length}\n${lines.join('\n')}`)
    expect(right / pairs.length).toBeGreaterThanOrEqual(0.95)
    for (const fault of ['none', 'parallel order', 'other words'])
      expect([fault, score.get(fault)!.right]).toEqual([fault, score.get(fault)!.all])
  })

  test('swapping the sessions mirrors the result', () => {
    for (const [index, { a, b }] of pairs.entries())
      expect(alignSessions(b, a)).toEqual(mirrorAlignment(alignments[index]!))
  })

  test('each step of both sessions is in one row', () => {
    for (const [index, { a, b }] of pairs.entries()) {
      const { rows } = alignments[index]!
      const numbers = (side: 'aNumber' | 'bNumber') =>
        rows.flatMap((row) => row[side] ?? []).toSorted((one, other) => one - other)
      expect(numbers('aNumber')).toEqual(a.steps.map((_, position) => position + 1))
      expect(numbers('bNumber')).toEqual(b.steps.map((_, position) => position + 1))
    }
  })
})

function isNamed({ expected, a, b }: PlantedPair, { divergence, rows }: Alignment): boolean {
  if (expected === null || divergence === null) return expected === divergence
  const row = divergence.row === undefined ? undefined : rows[divergence.row]
  const isStep = row?.b?.id === expected.stepId || row?.a?.id === expected.stepId
  const isPath = expected.path === undefined || divergence.path?.startsWith(expected.path) === true
  return a !== b && isStep && isPath && expected.kinds.includes(divergence.kind)
}

const anyStep = fc.record({
  kind: fc.constantFrom('llm', 'action', 'agent', 'workflow'),
  name: fc.constantFrom('search', 'write', 'plan'),
  parent: fc.nat(8),
  gapMs: fc.nat(4),
  durationMs: fc.nat(9),
  value: fc.constantFrom('one', 'two', null, 3),
})

const anySession = fc.array(anyStep, { maxLength: 14 }).map((drafts): Session => {
  const { session } = scenarios.plans!
  let offsetMs = 0
  const steps = drafts.map(({ parent, gapMs, durationMs, value, ...draft }, index): Step => {
    offsetMs += gapMs
    return {
      ...(draft as Pick<Step, 'kind' | 'name'>),
      id: `step ${index}`,
      parentId: parent < index ? `step ${parent}` : null,
      startedAt: session.startedAt,
      endedAt: session.startedAt,
      offsetMs,
      durationMs,
      status: 'ok',
      hasPayload: true,
      input: { value },
      output: value,
      cost: null,
      dialect: 'playhead',
    }
  })
  return { session: { ...session, id: JSON.stringify(steps) }, steps }
})

test('any session compared with itself has no difference', () => {
  fc.assert(
    fc.property(anySession, (session) => {
      const { rows, divergence, effects } = alignSessions(session, structuredClone(session))
      expect({ divergence, effects }).toEqual({ divergence: null, effects: [] })
      expect(rows.filter(({ a, b, differences }) => a?.id !== b?.id || differences.length > 0)).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('swapping any two sessions mirrors the result', () => {
  fc.assert(
    fc.property(anySession, anySession, (a, b) => {
      expect(alignSessions(b, a)).toEqual(mirrorAlignment(alignSessions(a, b)))
    }),
    { numRuns: 300 },
  )
})

test('long sessions are aligned however much they differ', () => {
  const steps = 10_000
  const before = makeLongSession(createRandom(1), { steps })
  const same = alignSessions(before, makeLongSession(createRandom(2), { steps }))
  const other = alignSessions(
    before,
    makeLongSession(createRandom(3), { steps, dropped: 0.05, changed: 0.05 }),
  )
  expect([same.rows.length, same.divergence]).toEqual([steps, null])
  expect(other.rows.filter(({ a, b }) => a !== undefined && b !== undefined).length).toBeGreaterThan(9000)
})

test('endlessly nested values and steps are compared to a limited depth', () => {
  const nest = (depth: number): unknown => {
    let value: unknown = 'bottom'
    for (let level = 0; level < depth; level += 1) value = { value }
    return value
  }
  const session = scenario('plans')
  const [root] = session.steps
  const deep = Array.from({ length: 5000 }, (_, index): Step => ({
    ...root!,
    id: `deep ${index}`,
    parentId: index === 0 ? root!.id : `deep ${index - 1}`,
    input: nest(index === 10 ? 20_000 : 1),
  }))
  const nested = { ...session, steps: [...session.steps, ...deep] }
  expect(
    alignSessions(
      nested,
      structuredClone({ ...nested, steps: nested.steps.map(({ input: _input, ...step }) => step) }),
    ).rows,
  ).toHaveLength(nested.steps.length)
})

test('a changed write says what the second session has instead of the first, in either order', () => {
  const refund = (amount: number) =>
    agentRun([does('find', {}, 'o'), does('refund', { amount }, 'ok', { effect: 'write' })])
  for (const [first, second] of [
    [20, 2],
    [2, 20],
  ] as const)
    expect(alignSessions(refund(first), refund(second)).effects[0]?.differences).toEqual([
      { kind: 'argument', path: 'amount', a: first, b: second },
    ])
})
