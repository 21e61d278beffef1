import { Budget, type Session } from '@playhead/model'
import { expect, test } from 'vitest'
import type { RerunLine } from '../../rerun/messages.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { startFakeServer } from '../test/fake-server.ts'
import { playheadOnTerminal } from '../test/run-playhead.ts'
import { readLane, readLiveOptions } from './live-options.ts'
import { describeTries, renderRuns } from './rerun-table.ts'
import { renderRerun } from './rerun-text.ts'
import { exitCodeOfAll, triesOfLines } from './run-many.ts'
import { findPassing, parseWhere } from './select-sessions.ts'

test('which side is live', () => {
  expect([undefined, ['model'], ['tools'], ['model,tools'], ['model', 'tools']].map(readLane)).toEqual([
    'tape',
    'live-model',
    'live-tools',
    'live',
    'live',
  ])
  expect(() => readLane(['everything'])).toThrow(
    '--live can\'t be "everything". Allowed values: model, tools, or model,tools',
  )
})

test('budgets in dollars, and names of writes', () => {
  const limits = ['1usd', '0.50', '$2', '.5 USD'].map(
    (budget) => readLiveOptions({ budget }).budget?.limitUsd,
  )
  expect(limits).toEqual([1, 0.5, 2, 0.5])
  expect(() => readLiveOptions({ budget: '1eur' })).toThrow('Use US dollars: 1usd, 0.50, $2')
  expect(readLiveOptions({ 'allow-writes': ['a, b', 'c'] })).toEqual({
    times: 1,
    concurrency: 2,
    budget: undefined,
    allowWrites: ['a', 'b', 'c'],
  })
})

test('the filter of ls as one text', () => {
  expect(
    parseWhere('status:fail tag:support tag:vip since:7d failedTool:refund "charged twice" now'),
  ).toEqual({
    status: ['fail'],
    tag: ['support', 'vip'],
    failedTool: ['refund'],
    from: '7d',
    to: undefined,
    text: 'charged twice now',
  })
  expect(parseWhere('name:"order \\"o_1\\""').name).toBe('order "o_1"')
  expect(() => parseWhere('stats:fail')).toThrow('--where can\'t use "stats:". Did you mean "status"?')
  expect(() => parseWhere('status:broken')).toThrow('--status can\'t be "broken".')
})

const line: RerunLine = {
  parent: 'a'.repeat(32),
  session: 'b'.repeat(32),
  lane: 'live-model',
  verdict: 'diverged',
  endState: 'success',
  parentEndState: 'fail',
  calls: { taped: 2, live: 3, stubbed: 1 },
  divergence: { step: 4, sentence: 'step 4 chat answered something else.' },
  misses: [],
  costUsd: 0.0021,
  notes: ['refund was not run: its stub answered.'],
}
const stopped = 'A call to gpt-4o was not made.'
const lines: RerunLine[] = [
  line,
  { ...line, endState: 'fail', divergence: null },
  {
    ...line,
    parent: 'c'.repeat(32),
    endState: 'fail',
    verdict: 'missed',
    reason: stopped,
    misses: [{ step: null, message: null, field: null, sentence: stopped }],
  },
]
const onTerminal = (width: number) =>
  ({ width, isInteractive: true, paint: (_style: string, text: string) => text }) as never

test('many runs are a table with what would pass now, its interval and its cost', () => {
  const terminal = onTerminal(120)
  const rows = lines.map((each) => ({ line: each, label: 'charged twice' }))
  expect(renderRuns(rows, { terminal, budget: new Budget(1), title: 'INPUT' })).toBe(`\
SESSION     RE-RUN      INPUT          WAS   NOW        LIVE  STUBBED     COST  FIRST DIVERGENCE
s_aaaaaaaa  s_bbbbbbbb  charged twice  Fail  Success       3        1  $0.0021  step 4 chat answered something else.
s_aaaaaaaa  s_bbbbbbbb  charged twice  Fail  Fail          3        1  $0.0021  none
s_cccccccc  s_bbbbbbbb  charged twice  Fail  no result     3        1  $0.0021  A call to gpt-4o was not made.

1 of 2 (50%, between 9% and 91%) would pass now; 0 passed when they were recorded.
Cost: $0.0063 of a budget of $1.00.
1 without a result: A call to gpt-4o was not made.
refund was not run: its stub answered.`)
})

test('runs of one session are named by their own ids', () => {
  const rows = [{ line, label: 'result = "c_42"' }]
  const [head, first] = renderRuns(rows, {
    terminal: onTerminal(110),
    budget: undefined,
    title: 'CHANGE',
  }).split('\n')
  expect([head, first]).toEqual([
    'RE-RUN      CHANGE           WAS   NOW      LIVE  STUBBED     COST  FIRST DIVERGENCE',
    's_bbbbbbbb  result = "c_42"  Fail  Success     3        1  $0.0021  step 4 chat answered something else.',
  ])
})

test('of a run with a change, its end counts; of one with a miss, the miss', () => {
  const parent = { session: { id: line.parent } } as Session
  const paint = (_style: string, text: string) => text
  const render = (change: Partial<RerunLine>) =>
    renderRerun(
      { ...line, notes: [], ...change },
      { parent, endpoint: undefined, paint, change: 'result = "c_42"' },
    )
  expect(render({})).toBe(`\
✓ Success with result = "c_42", recorded was Fail.

Divergence  step 4 chat answered something else.
Calls       2 from the tape, 3 live, 1 stubbed, $0.0021 spent
End state   Success, recorded was Fail
Session     s_bbbbbbbb`)
  const missed = render({
    verdict: 'missed',
    endState: 'fail',
    misses: [{ step: null, message: null, field: null, sentence: stopped }],
    costUsd: 0,
  })
  expect(missed).toBe(`\
✗ A call to gpt-4o was not made.

Calls      2 from the tape, 3 live, 1 stubbed
End state  Fail after the miss, recorded was Fail
Session    s_bbbbbbbb`)
})

test('a run that was stopped has no result, and the worst one decides the exit code', () => {
  expect(triesOfLines(lines)).toEqual({ passed: 1, total: 2 })
  expect(describeTries({ passed: 5, total: 5 })).toBe('5 of 5 (100%, between 57% and 100%)')
  const same: RerunLine = { ...line, verdict: 'same' }
  const nothing: RerunLine = { ...line, session: null }
  expect([[same, same], [same, line], [nothing], [nothing, same]].map(exitCodeOfAll)).toEqual([0, 1, 2, 1])
})

test.each([
  [['fork', 'aaaa'], 'Name the step to fork at: --at 5. See playhead show.'],
  [['fork', 'aaaa', '--at', '0'], '--at must be a whole number of at least 1, not "0".'],
  [['fork', 'aaaa', '--at', '1', '--result', '{"a":'], '--result is not JSON: {"a":'],
  [['fork', 'aaaa', '--at', '1', '--args', 'c_42'], '--args must be a JSON object or list'],
  [['rerun', 'aaaa', '--model', 'gpt-5'], '--model needs a live model: add --live model.'],
  [['rerun', 'aaaa', '--times', '2'], 'Every run from the same recording is the same.'],
  [['rerun', 'aaaa', '--where', 'status:fail'], 'Use either <session> or --where and --last, not both.'],
  [['rerun'], 'Name a session, or select some: --where "status:fail" --last 20'],
  [['rerun', 'aaaa', '--on-miss', 'stop'], '--on-miss can\'t be "stop".'],
])('%j is refused before anything runs', async (args, sentence) => {
  const { stderr, exitCode } = await playheadOnTerminal(args)
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`playhead: ${sentence}`)
})

test('stubs come from passed sessions of the session and of the agent, one with the same input first', async () => {
  const summary = (id: string, name: string, inputPreview: string, stepCount = 3) => ({
    id: id.repeat(32),
    name,
    inputPreview,
    stepCount,
  })
  const listed = [
    summary('a', 'support', 'Hi'),
    summary('b', 'support', 'Bye'),
    summary('c', 'support desk', 'Hi'),
    summary('d', 'support', 'Hi', 9000),
  ]
  const session = (id: string) => ({ session: { id: id.repeat(32) }, steps: [] })
  const { endpoint } = await startFakeServer({
    'GET /api/sessions': { sessions: listed },
    [`GET /api/sessions/${'a'.repeat(32)}`]: session('a'),
    [`GET /api/sessions/${'b'.repeat(32)}`]: session('b'),
  })
  const api = await Api.connect(readSettings({ endpoint }, {}), 'read')
  const parent = {
    session: { id: 'f', name: 'a test', inputPreview: 'Bye' },
    steps: [],
  } as unknown as Session
  const found = await findPassing(api, { parent, agent: 'support' })
  expect(found).toEqual([session('b'), session('a')])
})
