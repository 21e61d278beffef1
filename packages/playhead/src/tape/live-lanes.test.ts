import { alignSessions, type ForkEdit, type Session } from '@playhead/model'
import { startScriptedModel, type ModelRequest, type ScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import * as playhead from '../index.ts'
import { setTape } from '../record/session/active-tape.ts'
import { knownRuntime } from '../runtime/runtime.ts'
import { createRunTape, type RunTape, type RunTapeOptions } from './run-tape.ts'

let model: ScriptedModel
let openai: OpenAI
let recorded: Session
/** What really ran. */
let ran: string[] = []
/** What the model answers to the question about the reply. */
let reply = 'Take a coat.'
let asked: ModelRequest[] = []

beforeAll(async () => {
  playhead.init({ endpoint: false })
  model = await startScriptedModel((request) => {
    asked.push(request)
    return request.messages[0]?.text === 'Name the city.' ? 'Oslo' : reply
  })
  openai = new OpenAI({ apiKey: 'none', baseURL: `${model.url}/v1` })
  recorded = await record('What do I wear in Oslo?')
})
afterAll(async () => {
  await playhead.shutdown()
  await model.stop()
})
beforeEach(() => {
  ran = []
  asked = []
  reply = 'Take a coat.'
})
afterEach(() => setTape(undefined))

async function ask(system: string, text: string, modelName = 'gpt-4o'): Promise<string> {
  const { choices } = await openai.chat.completions.create({
    model: modelName,
    max_tokens: 100,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: text },
    ],
  })
  return choices[0]!.message.content ?? ''
}

/** Holds a model call. */
const findCity = playhead.recordAction('find_city', async (question: string) =>
  ask('Name the city.', question),
)
const weather = playhead.recordTool({ name: 'weather', effect: 'read' }, async (city: string) => {
  ran.push(`weather ${city}`)
  return { city, degrees: -4 }
})
const shorten = playhead.recordAction('shorten', (text: string) => {
  ran.push('shorten')
  return text.slice(0, 60)
})
const sendMail = playhead.recordTool(
  { name: 'send_mail', effect: 'write' },
  async (to: string, text: string) => {
    ran.push(`mail ${to}: ${text}`)
    return { sent: true, id: 1 }
  },
)
const archive = playhead.recordTool({ name: 'archive', effect: 'write' }, async (text: string) => {
  ran.push('archive')
  return ask('Name the city.', text)
})

async function answer(question: string): Promise<string> {
  const city = await findCity(question)
  const found = await weather(city)
  const text = await ask('Advise the traveller in one sentence.', `${question} ${JSON.stringify(found)}`)
  const short = shorten(text)
  const mail = await sendMail('ada@example.com', short)
  await archive(question)
  return mail.sent ? short : 'not sent'
}

async function record(question: string): Promise<Session> {
  const view = await playhead.withSession({ name: 'trip' }, async (session) => {
    await answer(question).catch(() => 'failed')
    return session
  })
  const { recorder } = knownRuntime()!
  return recorder.readSession(recorder.findRecord(view.id)!, { isPriced: true })
}

type Run = { tape: RunTape; session: Session; sources: string[] }

const strict: Omit<RunTapeOptions, 'parent'> = {
  tapes: [],
  lane: 'tape',
  onMiss: 'fail',
  allowWrites: [],
  agent: {},
  content: () => ({ content: true, redactText: (text) => text, maxValueBytes: 1e6 }),
}

async function run(change: Partial<RunTapeOptions>, question = 'What do I wear in Oslo?'): Promise<Run> {
  const tape = createRunTape({ ...strict, parent: recorded, ...change })
  setTape(() => tape)
  const session = await record(question)
  setTape(undefined)
  const named = session.steps.filter(({ kind }) => kind === 'action' || kind === 'llm')
  const sources = named.map(({ name, source = 'none' }) => `${name} ${source}`)
  return { tape, session, sources }
}

function fork(stepName: string, edit?: ForkEdit): Partial<RunTapeOptions> {
  const steps = recorded.steps.filter(({ name }) => name === stepName)
  return { lane: 'fork', fork: { stepId: steps.at(-1)!.id, edit } }
}

test('on the tape, nothing runs and nothing is asked; a write that holds a call is copied whole', async () => {
  const { tape, session, sources } = await run({})
  expect([ran, asked]).toEqual([[], []])
  expect(tape.counts).toEqual({ taped: 6, live: 0, stubbed: 0 })
  expect([tape.misses, tape.unused, tape.costUsd]).toEqual([[], [], 0])
  expect(sources).toEqual([
    'find_city none',
    'gpt-4o tape',
    'weather tape',
    'gpt-4o tape',
    'shorten tape',
    'send_mail tape',
    'archive tape',
    'gpt-4o tape',
  ])
  expect(alignSessions(recorded, session).divergence).toBeNull()
})

test('live tools: what reads runs, what writes is stubbed, and what nobody declared is a write', async () => {
  const { tape, sources } = await run({ lane: 'live-tools' })
  expect([ran, asked.length]).toEqual([['weather Oslo'], 0])
  expect(tape.counts).toEqual({ taped: 2, live: 1, stubbed: 3 })
  expect(sources.slice(2)).toEqual([
    'weather live',
    'gpt-4o tape',
    'shorten stub',
    'send_mail stub',
    'archive stub',
  ])
})

test('a live model: tools come from the tape, other arguments get the nearest recorded result', async () => {
  reply = 'Take a warm coat and gloves.'
  const { tape, session, sources } = await run({ lane: 'live-model', model: 'gpt-4.1' })
  expect(ran).toEqual([])
  expect(asked.map(({ model: name }) => name)).toEqual(['gpt-4.1', 'gpt-4.1'])
  expect(tape.counts).toEqual({ taped: 3, live: 2, stubbed: 1 })
  expect(sources).toEqual([
    'find_city none',
    'gpt-4.1 live',
    'weather tape',
    'gpt-4.1 live',
    'shorten stub',
    'send_mail tape',
    'archive tape',
    'gpt-4o tape',
  ])
  expect(tape.costUsd).toBeGreaterThan(0)
  expect(session.session.endState).toBe('success')
})

test('live: the configuration declares effects and stubs, and a write runs only if it is allowed', async () => {
  const given: unknown[] = []
  const { tape } = await run({
    lane: 'live',
    allowWrites: ['archive'],
    agent: {
      effects: { shorten: 'read' },
      stubs: { send_mail: (args: unknown) => (given.push(args), { sent: false }) },
    },
  })
  expect(ran).toEqual(['weather Oslo', 'shorten', 'archive'])
  expect(given).toEqual([{ to: 'ada@example.com', text: 'Take a coat.' }])
  expect(tape.counts).toEqual({ taped: 0, live: 6, stubbed: 1 })
})

test('a write without a recording needs a stub, and the run stops there', async () => {
  const before = { ...recorded, steps: recorded.steps.filter(({ name }) => name !== 'send_mail') }
  const { tape, session } = await run({
    lane: 'live',
    parent: before,
    agent: { effects: { shorten: 'read' } },
  })
  expect(ran).toEqual(['weather Oslo', 'shorten'])
  expect(tape.reason).toBe(
    "send_mail needs a stub: it may write, and no recorded call of it can stand in. In playhead.config.ts, give it one (stubs: { send_mail: (args) => … }), or say that it only reads (effects: { send_mail: 'read' }).",
  )
  expect(session.steps.find(({ name }) => name === 'send_mail')).toMatchObject({
    error: { type: 'TapeMissError' },
  })
})

test('a fork at an action returns another result, and the rest is live', async () => {
  const { tape, sources } = await run(fork('weather', { result: { city: 'Rome', degrees: 31 } }))
  expect(ran).toEqual([])
  expect(asked.map(({ userText }) => userText)).toEqual([
    'What do I wear in Oslo? {"city":"Rome","degrees":31}',
  ])
  expect(tape.counts).toEqual({ taped: 1, live: 1, stubbed: 4 })
  expect(sources.slice(0, 5)).toEqual([
    'find_city none',
    'gpt-4o tape',
    'weather stub',
    'gpt-4o live',
    'shorten stub',
  ])
})

test('a fork at an action runs it with other arguments', async () => {
  const { session } = await run(fork('weather', { args: { city: 'Rome' } }))
  expect(ran).toEqual(['weather Rome'])
  expect(session.steps.find(({ name }) => name === 'weather')).toMatchObject({
    source: 'live',
    tool: { arguments: { city: 'Rome' }, result: { city: 'Rome', degrees: -4 } },
  })
})

test('a fork at a model call changes its prompts and its model, in this call and in later ones', async () => {
  const first = recorded.steps.find(({ kind }) => kind === 'llm')!
  const edit = { system: 'Name the town.', prompt: 'Where?', model: 'gpt-4.1' }
  await run({ lane: 'fork', fork: { stepId: first.id, edit } })
  expect(asked[0]!.messages.map(({ text }) => text)).toEqual(['Name the town.', 'Where?'])
  expect(asked.map(({ model: name }) => name)).toEqual(['gpt-4.1', 'gpt-4.1'])
  expect(asked[1]!.messages[0]!.text).toBe('Advise the traveller in one sentence.')
  expect(asked[1]!.userText).toMatch(/^Where\? \{/)
})

test('a fork at a model call answers it, without a request', async () => {
  const first = recorded.steps.find(({ kind }) => kind === 'llm')!
  const { session } = await run({ lane: 'fork', fork: { stepId: first.id, edit: { result: 'Rome' } } })
  expect(ran).toEqual(['weather Rome'])
  expect(asked).toHaveLength(1)
  expect(session.steps.find(({ kind }) => kind === 'llm')).toMatchObject({ source: 'stub' })
})

test('a fork without a change is the control: live from its step on', async () => {
  const { tape } = await run(fork('weather'))
  expect(ran).toEqual(['weather Oslo'])
  expect(tape.counts).toEqual({ taped: 1, live: 2, stubbed: 3 })
})

test('of parallel calls, one that was recorded before the fork is served even if it is asked later', async () => {
  const read = async (cities: string[]) => {
    const view = await playhead.withSession({ name: 'parallel' }, async (session) => {
      await Promise.all(cities.map((city) => weather(city)))
      return session
    })
    return view.toJSON()
  }
  const parent = await read(['Oslo', 'Rome'])
  ran = []
  const stepId = parent.steps.at(-1)!.id
  const tape = createRunTape({ ...strict, parent, lane: 'fork', fork: { stepId } })
  setTape(() => tape)
  await read(['Rome', 'Oslo'])
  expect(ran).toEqual(['weather Rome'])
  expect(tape.counts).toEqual({ taped: 1, live: 1, stubbed: 0 })
})

test('redacted values that are sent to a live model are counted', async () => {
  const { tape } = await run({ lane: 'live-model' }, 'What do I wear? My keys: [redacted], [redacted]')
  expect(tape.notes.at(-1)).toBe(
    'The live model was sent 2 values that the recording has only as [redacted].',
  )
})

test('what was not asked for is listed only where it could have been', async () => {
  const other = await record('And in Rome?')
  const unused = async (change: Partial<RunTapeOptions>, question?: string) => {
    const { tape } = await run({ tapes: [other], ...change }, question)
    return tape.unused.map(({ step: { name } }) => name)
  }
  expect(await unused(fork('weather'))).toEqual([])
  expect(await unused({ lane: 'live' })).toEqual([])
  expect(await unused({ lane: 'live-tools' })).toEqual(['gpt-4o'])
  expect(await unused({}, 'And in Bergen?')).toHaveLength(recorded.steps.length - 1)
})

test('a fork follows its own session only, whatever other tapes have', async () => {
  const other = await record('And in Rome?')
  const { tape } = await run({ ...fork('weather'), tapes: [other] }, 'And in Rome?')
  expect(tape.misses).toMatchObject([{ kind: 'action', field: 'argument question' }])
})

test('a fork that is never reached says so', async () => {
  const { tape } = await run(fork('weather'), 'What do I wear in Rome?')
  expect(tape.misses).toMatchObject([{ kind: 'action', field: 'argument question' }])
  const { tape: other } = await run({ lane: 'fork', fork: { stepId: 'unknown' } })
  expect(other.reason).toBe('The session has no model call or action from step unknown on.')
})

test('after a miss nothing more is asked, and only the first miss counts', async () => {
  const { tape } = await run({}, 'What do I wear in Rome?')
  expect([ran, asked]).toEqual([[], []])
  expect(tape.misses).toHaveLength(1)
})

test('on a miss, a run may go on live, and its session says so', async () => {
  let leftTape = 0
  const { tape, session } = await run({ onMiss: 'live', onLive: () => (leftTape += 1) }, 'And in Rome?')
  expect(asked[0]!.userText).toBe('And in Rome?')
  expect(leftTape).toBe(1)
  expect(tape.reason).toBeUndefined()
  expect(session.session.metadata?.rerun).toMatch(/^Live from the first miss on\. find_city was called with/)
  expect(tape.notes).toEqual([
    'From there on, the run was live.',
    "shorten was not run: its nearest recorded result stood in. Nothing declares that it only reads; if it does, add effects: { shorten: 'read' } to the agent in playhead.config.ts.",
    'send_mail was not run: its nearest recorded result stood in.',
    'archive was not run: its nearest recorded result stood in.',
  ])
})

test('a tool that no wrapper can stop ends the run before it is asked for', async () => {
  const [call] = recorded.steps.filter(({ kind }) => kind === 'llm')
  const part = { type: 'tool-call' as const, id: 'call_1', name: 'format_disk', arguments: {} }
  const asking = {
    ...recorded,
    steps: recorded.steps.flatMap((step) =>
      step === call
        ? [
            { ...step, messages: [...step.messages!, { role: 'assistant', isOutput: true, parts: [part] }] },
            { ...step, id: 'inferred', kind: 'action' as const, name: 'format_disk', isInferred: true },
          ]
        : [step],
    ),
  }
  const { tape } = await run({ parent: asking })
  expect(tape.reason).toBe(
    "Step 3 asks for the tool format_disk, which is not wrapped: it would run for real. Wrap it with recordTool('format_disk', …) and run again.",
  )
  playhead.recordTool('format_disk', () => 'never')
  const { tape: wrapped } = await run({ parent: asking })
  expect(wrapped.reason).toBeUndefined()
})

test('with a budget, a call that could pass it is not made', async () => {
  const reserved: number[] = []
  const settled: [number, number][] = []
  const budget = {
    reserve: (usd: number) => reserved.push(usd) <= 1,
    settle: (...amounts: [number, number]) => void settled.push(amounts),
  }
  const { tape } = await run({ lane: 'live-model', budget })
  expect(asked).toHaveLength(1)
  expect(reserved).toHaveLength(2)
  expect(settled).toEqual([[reserved[0], tape.costUsd]])
  expect(tape.costUsd).toBeLessThan(reserved[0]!)
  expect(tape.reason).toMatch(/^A call to gpt-4o was not made: it could cost up to \$0\.00\d, which is more/)
})

test('with a budget, a model without a known price is not called', async () => {
  const budget = { reserve: () => true, settle: () => undefined }
  const { tape } = await run({ lane: 'live-model', model: 'tidewater-7b', budget })
  expect(asked).toEqual([])
  expect(tape.reason).toMatch(/^tidewater-7b has no known price/)
})

test('a request that is no model call leaves the process only while the tools are live', async () => {
  const open = async (lane: RunTapeOptions['lane']) => {
    const tape = createRunTape({ ...strict, parent: recorded, lane })
    const at = (url: string) =>
      tape.respond({ method: 'GET', url: new URL(url), headers: {}, body: new Uint8Array() })
    const [other, token] = [
      await at('https://billing.invalid/'),
      await at('https://oauth2.googleapis.com/token'),
    ]
    return [other.kind, token.kind]
  }
  expect(await open('tape')).toEqual(['response', 'response'])
  expect(await open('live-model')).toEqual(['response', 'live'])
  expect(await open('live-tools')).toEqual(['live', 'live'])
})
