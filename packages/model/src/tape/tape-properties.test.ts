import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom, type Random } from '../../test/random.ts'
import type { Message, Part } from '../session/message.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { isMiss, Tape } from './tape.ts'
import type { TapeEntry } from './tape-entry.ts'
import type { TapeMiss } from './tape-miss.ts'

type Call = { tool: string; city: string; degrees: number }

/** What an agent does in every run; a run adds ids, times and the order in which parallel tools end. */
type Plan = {
  words: string[]
  /** Each turn asks the model, after so many refusals, and runs the tools that it calls. */
  turns: { refusals: number; calls: Call[] }[]
}

const word = fc.constantFrom('amber', 'birch', 'copper', 'delta', 'ember', 'flint', 'grove', 'harbor')
const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom('weather', 'forecast'),
  city: word,
  degrees: fc.integer({ min: -30, max: 40 }),
})
const plan: fc.Arbitrary<Plan> = fc.record({
  words: fc.array(word, { minLength: 2, maxLength: 8 }),
  turns: fc.array(
    fc.record({
      refusals: fc.integer({ min: 0, max: 3 }),
      calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})
const seed = fc.integer({ min: 1, max: 1e6 })

type Changes = { words?: string[]; degrees?: (call: Call, turn: number, index: number) => number }

/** One run of a plan. Another seed makes other ids and times, and tools that end in another order. */
function run({ words, turns }: Plan, seedOfRun: number, changes: Changes = {}): Session {
  const random = createRandom(seedOfRun)
  // What the model makes up comes from the tape.
  const ofModel = createRandom(1)
  const startedAt = new Date(1_790_000_000_000 + random.integer(0, 1e9)).toISOString()
  const epoch = String(1_790_000_000 + random.integer(0, 1e6))
  const system = `Run ${uuid(random)} at ${startedAt} (${epoch}). You are ${(changes.words ?? words).join(' ')}.`
  const messages: Message[] = [text('system', system), text('user', `Trip ${uuid(random)}?`)]
  const steps: Step[] = []
  const add = (step: Omit<Step, keyof typeof base | 'id'> & Partial<Step>) =>
    steps.push({ ...base, id: String(steps.length), ...step })
  for (const [turn, { refusals, calls }] of turns.entries()) {
    const asked = [...messages]
    for (let refusal = 0; refusal < refusals; refusal += 1)
      add({
        kind: 'llm',
        name: 'chat',
        messages: asked,
        status: 'error',
        attributes: { 'http.response.status_code': 429 },
      })
    const made = calls.map((planned) => ({
      ...planned,
      id: `call_${random.hex(12)}`,
      booking: uuid(ofModel),
    }))
    const reply: Message = {
      role: 'assistant',
      parts: made.map(({ id, tool, city, booking }) => ({
        type: 'tool-call',
        id,
        name: tool,
        arguments: { city, booking },
      })),
    }
    add({ kind: 'llm', name: 'chat', messages: [...asked, { ...reply, isOutput: true }] })
    const results = made.map(({ id, tool, city, booking, ...planned }, index): [Step['tool'], Part] => {
      const degrees = changes.degrees?.({ tool, city, ...planned }, turn, index) ?? planned.degrees
      const result = { city, degrees, at: startedAt }
      return [
        { name: tool, arguments: { city, booking }, result },
        { type: 'tool-result', id, result },
      ]
    })
    const finished = shuffle(results, random)
    for (const [tool] of finished) add({ kind: 'action', name: tool!.name, tool: tool! })
    messages.push(reply, ...finished.map(([, part]): Message => ({ role: 'tool', parts: [part] })))
  }
  add({
    kind: 'llm',
    name: 'chat',
    messages: [...messages, { ...text('assistant', 'Done.'), isOutput: true }],
  })
  return { session: { id: 'a'.repeat(32), startedAt } as Session['session'], steps }
}

const base = {
  parentId: null,
  startedAt: '2026-11-16T09:00:00.000Z',
  endedAt: '2026-11-16T09:00:01.000Z',
  offsetMs: 0,
  durationMs: 1000,
  status: 'ok' as const,
  hasPayload: true,
  cost: null,
  dialect: 'playhead',
  model: 'gpt-4o',
}

function text(role: string, content: string): Message {
  return { role, parts: [{ type: 'text', text: content }] }
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => random.hex(length)).join('-')
}

function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  const keyed = items.map((item) => ({ item, key: random.next() }))
  return keyed.toSorted((one, other) => one.key - other.key).map(({ item }) => item)
}

/** Asks the tape for everything that a session did, in its order. */
function replay(tape: Tape, session: Session): { asked: TapeEntry; found: TapeEntry | TapeMiss }[] {
  return new Tape([session]).entries.map((asked) => ({
    asked,
    found:
      asked.kind === 'model' ? tape.takeModelCall(asked.step) : tape.takeAction(asked.name, asked.arguments),
  }))
}

function missesOf(session: Session, live: Session): TapeMiss[] {
  return replay(new Tape([session]), live).flatMap(({ found }) => (isMiss(found) ? [found] : []))
}

test('a tape replayed against itself never misses, and nothing is left', () => {
  fc.assert(
    fc.property(plan, seed, (planned, one) => {
      const session = run(planned, one)
      const tape = new Tape([session])
      const served = replay(tape, session)
      expect(
        served.map(({ asked, found }) => (isMiss(found) ? found.sentence : [found.number, asked.number])),
      ).toEqual(served.map(({ asked }) => [asked.number, asked.number]))
      expect(tape.unused).toEqual([])
    }),
    { numRuns: 100 },
  )
})

test('another run with other uuids, times, call ids and order of parallel tools matches, refusals included', () => {
  fc.assert(
    fc.property(plan, seed, seed, (planned, one, other) => {
      const tape = new Tape([run(planned, one)])
      const served = replay(tape, run(planned, other))
      const status = ({ step }: TapeEntry) => step.attributes?.['http.response.status_code']
      expect(served.map(({ found }) => (isMiss(found) ? found.sentence : status(found)))).toEqual(
        served.map(({ asked }) => status(asked)),
      )
      expect(tape.unused).toEqual([])
    }),
    { numRuns: 100 },
  )
})

test('a removed entry is the only one that is missed, and the miss says what was asked', () => {
  fc.assert(
    fc.property(plan, seed, fc.nat(), (planned, one, position) => {
      const session = run(planned, one)
      const removed = session.steps[position % session.steps.length]!
      const tape = new Tape([{ ...session, steps: session.steps.filter((step) => step !== removed) }])
      const missed = replay(tape, session).flatMap(({ asked, found }) =>
        isMiss(found) ? [{ asked, found }] : [],
      )
      // Of attempts that asked the same, the last one is left without an answer.
      expect(missed.map(({ asked: { step } }) => [step.kind, step.name, askedOf(step)])).toEqual([
        [removed.kind, removed.name, askedOf(removed)],
      ])
      const { found } = missed[0]!
      expect(found.kind).toBe(removed.kind === 'llm' ? 'model' : 'action')
      if (removed.kind === 'action') expect(found.sentence).toContain(removed.name)
      expect(tape.unused).toEqual([])
    }),
    { numRuns: 150 },
  )
})

function askedOf({ messages, tool }: Step): unknown {
  return tool?.arguments ?? messages?.filter(({ isOutput }) => isOutput !== true)
}

test('another word in the system prompt is named with step, message, field and the words', () => {
  fc.assert(
    fc.property(plan, seed, seed, fc.nat(), (planned, one, other, position) => {
      const words = planned.words.with(position % planned.words.length, 'zinc')
      const [first] = missesOf(run(planned, one), run(planned, other, { words }))
      expect(first).toMatchObject({ kind: 'model', step: 1, message: 1, field: 'system prompt' })
      const changed = (kind: string) =>
        first!.words!.flatMap((part) => (part.kind === kind ? [part.text.trim()] : []))
      expect(changed('b').join(' ')).toContain('zinc')
      expect(changed('a').join(' ')).toContain(planned.words[position % planned.words.length])
      expect(first!.sentence).toMatch(
        /^The model was asked something else than recorded \(step 1 gpt-4o\): system prompt is /,
      )
    }),
    { numRuns: 100 },
  )
})

test('another result of a tool is named with step, message, tool and field', () => {
  fc.assert(
    fc.property(plan, seed, seed, fc.nat(), (planned, one, other, position) => {
      const turn = position % planned.turns.length
      const { calls } = planned.turns[turn]!
      const index = position % calls.length
      const degrees = (call: Call, atTurn: number, at: number) =>
        call.degrees + (atTurn === turn && at === index ? 100 : 0)
      const recorded = run(planned, one)
      const [first] = missesOf(recorded, run(planned, other, { degrees }))
      const before = planned.turns.slice(0, turn + 1).reduce((sum, each) => sum + 1 + each.calls.length, 1)
      const message = before + 1 - calls.length + index + 1
      const asked = recorded.steps.findIndex(
        ({ kind, messages = [] }) => kind === 'llm' && messages.length > before,
      )
      expect(first).toMatchObject({
        kind: 'model',
        step: asked + 1,
        message,
        field: `message ${message} (tool result of ${calls[index]!.tool}) › degrees`,
        recorded: calls[index]!.degrees,
        asked: calls[index]!.degrees + 100,
      })
    }),
    { numRuns: 100 },
  )
})
