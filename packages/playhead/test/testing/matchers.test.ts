import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as playhead from 'playhead'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../../../server/test/test-server.ts'
import { anyOrder, before, directlyBefore, neverBoth, type SessionSubject } from '@playhead/model'
import { costsLessThan } from '../../src/testing/matchers/checks.ts'
import { expectSession, extendedMatchers, type SessionMatchers } from '../../src/testing/matchers/matchers.ts'
import { fetchSession, openRecording } from '../../src/testing/sessions/load-session.ts'
import { classify, fetchCustomer, runBilling } from './sample-session.ts'

expect.extend(extendedMatchers as never)

let server: TestServer
let folder: string
const subjects: Record<string, SessionSubject> = {}

beforeAll(async () => {
  server = await startTestServer()
  folder = await mkdtemp(join(tmpdir(), 'playhead-matchers-'))
  playhead.init({ endpoint: server.url, dir: folder, silent: true, capture: false })
  subjects.live = await playhead.withSession({ name: 'billing' }, async (session) => {
    await runBilling()
    return session
  })
  await playhead.flush()
  const [file] = await readdir(folder)
  subjects.file = await openRecording(join(folder, file!))
  subjects.fetched = await fetchSession((subjects.live as playhead.SessionView).url)
})
afterAll(async () => {
  await playhead.shutdown()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

type Case = [
  matcher: Exclude<keyof SessionMatchers, 'toBeJudged'>,
  what: string,
  passing: readonly unknown[],
  failing: readonly unknown[],
]

const all = [
  'classify_intent',
  'fetch_customer_data',
  'search_docs',
  'search_docs',
  'issue_refund',
  'session_complete',
]
const backwards = all.toReversed()

const cases: Case[] = [
  ['toHaveCalled', 'by name', ['issue_refund'], ['delete_account']],
  ['toHaveCalled', 'with a number of calls', ['search_docs', { times: 2 }], ['search_docs', { times: 1 }]],
  [
    'toHaveCalled',
    'with arguments in order',
    ['fetch_customer_data', { args: ['c_42'] }],
    ['fetch_customer_data', { args: ['c_43'] }],
  ],
  [
    'toHaveCalled',
    'with arguments by name',
    ['fetch_customer_data', { args: { customerId: /^c_/ } }],
    ['fetch_customer_data', { args: { customerId: null } }],
  ],
  [
    'toHaveCalled',
    'with arguments by position',
    ['fetch_customer_data', { args: { 0: 'c_42' }, mode: 'exact' }],
    ['fetch_customer_data', { args: { 1: 'c_42' } }],
  ],
  [
    'toHaveCalled',
    'with an asymmetric matcher',
    ['fetch_customer_data', { args: [expect.any(String)] }],
    ['fetch_customer_data', { args: [expect.any(Number)] }],
  ],
  [
    'toHaveCalled',
    'with a predicate',
    ['issue_refund', { args: (args: { order: { amount: number } }) => args.order.amount < 20 }],
    ['issue_refund', { args: () => false }],
  ],
  [
    'toHaveCalled',
    'with a partial object',
    ['issue_refund', { args: [{ invoice: 'INV-7' }] }],
    ['issue_refund', { args: [{ invoice: 'INV-7' }], mode: 'exact' }],
  ],
  [
    'toHaveCalled',
    'exactly, except for what is ignored',
    [
      'issue_refund',
      { args: [{ invoice: 'INV-7', currency: 'usd' }], mode: 'exact', ignore: ['*.key', 'am*'] },
    ],
    ['issue_refund', { args: [{ invoice: 'INV-7', currency: 'usd' }], mode: 'exact', ignore: ['*.key'] }],
  ],
  [
    'toHaveCalled',
    'exactly, with defaults',
    [
      'issue_refund',
      {
        args: [{ invoice: 'INV-7', amount: 12.5, key: 'k-1' }],
        mode: 'exact',
        defaults: { '0.currency': 'usd' },
      },
    ],
    [
      'issue_refund',
      {
        args: [{ invoice: 'INV-7', amount: 12.5, key: 'k-1' }],
        mode: 'exact',
        defaults: { '0.currency': 'eur' },
      },
    ],
  ],
  [
    'toHaveCalled',
    'inside a sub-agent',
    ['search_docs', { agent: 'researcher' }],
    ['issue_refund', { agent: 'researcher' }],
  ],
  [
    'toHaveCalledInOrder',
    'with gaps',
    [['classify_intent', 'issue_refund']],
    [['issue_refund', 'classify_intent']],
  ],
  [
    'toHaveCalledInOrder',
    'without gaps',
    [all, { exact: true }],
    [['classify_intent', 'issue_refund'], { exact: true }],
  ],
  [
    'toSatisfyOrder',
    'before',
    [before('fetch_customer_data', 'issue_refund'), before('a', 'never')],
    [before('issue_refund', 'fetch_customer_data')],
  ],
  [
    'toSatisfyOrder',
    'directly before',
    [directlyBefore('classify_intent', 'fetch_customer_data')],
    [directlyBefore('classify_intent', 'issue_refund')],
  ],
  [
    'toSatisfyOrder',
    'never both',
    [neverBoth('issue_refund', 'delete_account')],
    [neverBoth('issue_refund', 'classify_intent')],
  ],
  ['toMatchTrajectory', 'exact', [all], [all.slice(1)]],
  [
    'toMatchTrajectory',
    'with a group',
    [
      [
        'classify_intent',
        anyOrder(['search_docs', 'fetch_customer_data', 'search_docs']),
        'issue_refund',
        'session_complete',
      ],
    ],
    [
      [
        'classify_intent',
        anyOrder(['fetch_customer_data', 'search_docs']),
        'issue_refund',
        'session_complete',
      ],
    ],
  ],
  [
    'toMatchTrajectory',
    'containsInOrder',
    [['classify_intent', anyOrder(['issue_refund', 'fetch_customer_data'])], { mode: 'containsInOrder' }],
    [['session_complete', 'classify_intent'], { mode: 'containsInOrder' }],
  ],
  [
    'toMatchTrajectory',
    'sameTools',
    [backwards, { mode: 'sameTools' }],
    [backwards.slice(1), { mode: 'sameTools' }],
  ],
  [
    'toMatchTrajectory',
    'onlyTheseTools',
    [[...new Set(all), 'delete_account'], { mode: 'onlyTheseTools' }],
    [all.slice(1), { mode: 'onlyTheseTools' }],
  ],
  [
    'toMatchTrajectory',
    'effectsOnly',
    [[{ tool: 'issue_refund', args: [{ invoice: 'INV-7' }] }], { mode: 'effectsOnly' }],
    [[], { mode: 'effectsOnly' }],
  ],
  [
    'toMatchTrajectory',
    'with the calls of a sub-agent',
    [
      [
        'fetch_customer_data',
        { agent: 'researcher', steps: ['search_docs', 'search_docs'], mode: 'exact' },
        'issue_refund',
      ],
      { mode: 'containsInOrder' },
    ],
    [[{ agent: 'researcher', steps: ['search_docs'], mode: 'exact' }], { mode: 'containsInOrder' }],
  ],
  ['toHaveEffects', 'by name', [['issue_refund']], [[]]],
  [
    'toHaveEffects',
    'with arguments',
    [[{ tool: 'issue_refund', args: [{ amount: 12.5 }] }], { inOrder: true }],
    [[{ tool: 'issue_refund', args: [{ amount: 13 }] }]],
  ],
  ['toCostLessThan', 'in dollars', [0.01], [0.0001]],
  [
    'toCostLessThan',
    'in tokens and model calls',
    [{ tokens: 2000, llmCalls: 2 }],
    [{ tokens: 2000, llmCalls: 1 }],
  ],
  ['toFinishWithin', 'in total', ['8s'], [0]],
  [
    'toFinishWithin',
    'for a tool',
    ['8s', { perTool: { fetch_customer_data: '2s' } }],
    ['8s', { perTool: { fetch_customer_data: 0 } }],
  ],
  ['toHaveNoLoops', 'at all', [], [{ max: 0 }]],
  [
    'toHaveNoLoops',
    'of the same call',
    [{ max: 0, allow: [...new Set(all)] }],
    [{ max: 0, allow: ['classify_intent'] }],
  ],
]

type AnyMatchers = Record<string, (...args: readonly unknown[]) => void>
type Expectation = AnyMatchers & { not: AnyMatchers }

describe.each(['live', 'file', 'fetched'])('of a %s session', (kind) => {
  test.each(cases)('%s %s', (matcher, _what, passing, failing) => {
    const subject = subjects[kind]!
    const makers = [
      // oxlint-disable-next-line vitest/valid-expect
      () => expect(subject),
      () => expectSession(subject),
    ] as unknown as (() => Expectation)[]
    for (const expectation of makers) {
      expectation()[matcher]!(...passing)
      expectation().not[matcher]!(...failing)
      expect(() => expectation()[matcher]!(...failing)).toThrow(/Expected|expected/)
      expect(() => expectation().not[matcher]!(...passing)).toThrow(/Expected|expected/)
    }
  })
})

test('an error is reported once, at the step that threw it', async () => {
  const session = await playhead.withSession(async (view) => {
    await fetchCustomer(null).catch(() => undefined)
    return view
  })
  const message = messageOf(() => expectSession(session).toHaveNoErrors())
  expect(message).toContain('1 error:\n  #2 fetch_customer_data: TypeError: customerId cannot be null')
  expectSession(session).not.toHaveNoErrors()
  expectSession(subjects.live!).toHaveNoErrors()
  expect(() => expectSession(subjects.live!).not.toHaveNoErrors()).toThrow('has none')
})

test('a failure shows expected and actual calls side by side, with a link to the replay', () => {
  const message = messageOf(() =>
    expectSession(subjects.live!).toHaveCalledInOrder(['classify_intent', 'verify_identity', 'issue_refund']),
  )
  const { steps, url } = subjects.live as playhead.SessionView
  expect(message.split('\n')).toEqual([
    'Wrong tool sequence: verify_identity is missing. Expected these calls in this order, with others allowed in between:',
    '',
    '  expected          actual',
    '  classify_intent = #2 classify_intent {"message":"I was charged twice"}',
    '▶ verify_identity - –   ← first difference',
    expect.stringMatching(/#4 fetch_customer_data/),
    expect.stringMatching(/#6 search_docs/),
    expect.stringMatching(/#7 search_docs/),
    expect.stringMatching(/^ {2}issue_refund {4}= #8 issue_refund/),
    '                    #9 session_complete {"intent":"billing"}',
    '',
    `Replay: ${url}?step=${steps[1]!.id}`,
  ])
})

test('a failure names the argument that differs', () => {
  const message = messageOf(() =>
    expectSession(subjects.live!).toMatchTrajectory(
      ['classify_intent', { tool: 'fetch_customer_data', args: ['c_43'] }],
      { mode: 'containsInOrder' },
    ),
  )
  expect(message).toMatch(
    /▶ fetch_customer_data \["c_43"\] ≠ #4 fetch_customer_data .*first difference\n.*customerId: expected "c_43", got "c_42"/,
  )
})

test('a missing call is reported with the calls that were made', () => {
  expect(messageOf(() => expectSession(subjects.live!).toHaveCalled('delete_account'))).toContain(
    'it did not.\n  It called: classify_intent, fetch_customer_data, search_docs, issue_refund, session_complete.',
  )
})

test('an unknown price fails the matcher and its negation', async () => {
  const session = playhead.withSession((view) => {
    playhead.record(new playhead.LLMEvent({ model: 'house-model', usage: { input: 10, output: 1 } }))
    return view
  })
  for (const check of [expectSession(session), expectSession(session).not])
    expect(() => check.toCostLessThan(0.01)).toThrow(/its cost is unknown.*no price for house-model/)
  expectSession(session).toCostLessThan({ tokens: 100 })
  await playhead.withSession(async (view) => {
    await classify('hello')
    expectSession(view).not.toCostLessThan(0.001)
    expectSession(view).toFinishWithin('5s')
  })
})

test('a value that is not a session is rejected with a hint', () => {
  expect(() => expectSession({} as SessionSubject).toHaveNoErrors()).toThrow(/not a session.*openRecording/)
})

function messageOf(check: () => void): string {
  try {
    check()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}

test('a call without usage leaves the cost undecided, and no price is asked for', () => {
  const session = playhead.withSession((view) => {
    playhead.record(new playhead.LLMEvent({ model: 'gpt-4o' }))
    return view
  })

  expect([session.cost, session.unpricedModels, session.modelsWithoutUsage]).toEqual([null, [], ['gpt-4o']])
  for (const check of [expectSession(session), expectSession(session).not])
    expect(messageOf(() => check.toCostLessThan(0.01))).toContain(
      'its cost is unknown: unknown, no usage reported (OpenAI: stream_options.include_usage). Ask for the usage, or limit { llmCalls } instead.',
    )
})

test('a cost limit lists everything that it counts, and what has no price', () => {
  const session = playhead.withSession((view) => {
    playhead.record(new playhead.LLMEvent({ model: 'gpt-4o', usage: { input: 1000, output: 100 } }))
    playhead.record(new playhead.LLMEvent({ model: 'house-model', usage: { input: 10, output: 5 } }))
    playhead.record(new playhead.LLMEvent({ model: 'gpt-4o' }))
    return view
  })
  const partsOf = (limit: Parameters<SessionMatchers['toCostLessThan']>[0]) =>
    messageOf(() => expectSession(session).toCostLessThan(limit))
      .replaceAll(/\d\d:\d\d\.\d{3}/g, '00:00.000')
      .split('\n\n')
  const counted = [
    'Counted:',
    '  #2 00:00.000 gpt-4o: 1,100 tokens, $0.0035',
    '  #3 00:00.000 house-model: 15 tokens, no price',
    '  #4 00:00.000 gpt-4o: no usage reported',
  ].join('\n')

  expect(partsOf({ tokens: 1000, llmCalls: 3 })).toEqual([
    'Expected the session to stay below its limits:\n  ✗ 1,115 tokens, limit 1,000\n  ✗ 3 model calls, limit 3',
    counted,
    expect.stringMatching(/^Replay: /),
  ])
  expect(partsOf(1)[1]).toBe(counted)
})

test('a long list of model calls ends with the sum of the rest', () => {
  const session = playhead.withSession((view) => {
    for (let call = 0; call < 25; call += 1)
      playhead.record(new playhead.LLMEvent({ model: 'gpt-4o', usage: { input: 1000, output: 100 } }))
    return view
  })
  const { message } = costsLessThan(session, { llmCalls: 2 })
  expect(message).toContain('\n  and 6 more: 6,600 tokens, $0.021\n')
})
