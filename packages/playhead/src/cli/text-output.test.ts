import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ReportTest, TestReport } from '@playhead/model'
import { renderAnnotations, renderSummary } from '../report/render-github.ts'
import { renderReportJunit } from '../report/render-junit.ts'
import { expectSession } from '../testing/matchers/matchers.ts'
import { runCli } from './run-cli.ts'
import { sendError, startFakeServer } from './test/fake-server.ts'
import { recordedPage, recordedSession, recording } from './test/recorded.ts'

/** What an agent, a user or a web page may have put into names, messages and results. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n::error::owned',
        '\r\n  ::set-output name=x::y',
        '\n\t::add-mask::a',
        '\n\u00A0\u2003::debug::x',
        '::ERROR file=a::b',
        '\n##[error]owned',
        'x ##[set-env name=A]b',
        '##vso[task.setvariable variable=A]b',
        '###teamcity[buildStatus]',
        '\u001B[2J\u001B[H',
        '\u001B]0;title\u0007',
        '\u001B]8;;http://evil\u001B\\link\u001B]8;;\u001B\\',
        '\u001B[31m::error::coloured',
        '\u009B2J\u009D0;x\u009C',
        '\u0000\b\u007F\u000B\f\u0085',
        '\u2028::error::x\u2029',
        '\u202Egnirts\u202C\u2066x\u2069\u200F\u061C\uFEFF',
        '```\n::error::x\n```',
        ']]>&#27;<b>',
      ),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))

// oxlint-disable-next-line no-control-regex
const ownColours = /\u001B\[(?:1|2|22|31|32|33|36|39)m/g
/** Line breaks and tabs are allowed. */
const control = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF]/u

/** What a text would do to a terminal or a build service. */
function effectsOf(output: string, isColoured = false): string[] {
  const plain = output.replaceAll(ownColours, '')
  return [
    ...(control.test(isColoured ? plain : output) ? ['control characters'] : []),
    ...plain.split('\n').filter((line) => /^\s*::[a-z]/i.test(line)),
    ...plain.split('\n').filter((line) => /##[\w.-]*\[/.test(line)),
  ]
}

test('the check would notice each of them', () => {
  for (const bad of ['\u001B[2J', ' ::error::', 'a ##[x]', '##vso[x]', '\u202E', 'a\rb'])
    expect([bad, effectsOf(bad).length > 0]).toEqual([bad, true])
  expect(effectsOf('a :: b\n\t#\\#[x]\n\\::error')).toEqual([])
})

/** Values that a server would not send otherwise. */
const kept = new Set(
  'id sessionId parentId startedAt endedAt createdAt exportedAt kind status endState url dialect type at'.split(
    ' ',
  ),
)

/** Puts the text into every field that someone else may have written. */
function poison<Value>(value: Value, hostile: string, name = ''): Value {
  if (typeof value === 'string') return (kept.has(name) && name !== 'type' ? value : hostile + value) as Value
  if (Array.isArray(value)) return value.map((item) => poison(item, hostile, name)) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, poison(field, hostile, key)]),
  ) as Value
}

// A progress bar, which moves the cursor, appears after a while: on a busy machine sooner or later.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

type Look = { isTTY: boolean; isColoured: boolean }
const looks: Look[] = [
  { isTTY: true, isColoured: true },
  { isTTY: true, isColoured: false },
  { isTTY: false, isColoured: false },
]

async function run(args: readonly string[], endpoint: string, { isTTY, isColoured }: Look): Promise<string> {
  const stream = () => Object.assign(new PassThrough(), { isTTY, columns: 100 })
  const [stdin, stdout, stderr] = [stream(), stream(), stream()]
  const outputs = Promise.all([text(stdout), text(stderr)])
  const environment = { PLAYHEAD_ENDPOINT: endpoint, [isColoured ? 'FORCE_COLOR' : 'NO_COLOR']: '1' }
  await runCli(args, { stdin, stdout, stderr, environment })
  stdout.end()
  stderr.end()
  return (await outputs).join('\n')
}

const { id } = recordedSession.session
const at = '2026-11-15T09:41:25.831Z'
const commands = [
  ['ls'],
  ['ls', '--json'],
  ['show', id],
  ['show', id, '--json'],
  ['show', id, '--step', '2'],
  ['show', id, '--errors-only'],
  ['diff', id, id],
  ['export', id, '-o', '-'],
  ['keys', 'list'],
  ['keys', 'list', '--json'],
  ['keys', 'create'],
  ['keys', 'revoke', 'x'],
  ['projects', 'list'],
  ['prices', 'list'],
  ['retention'],
  ['logins', 'list'],
  ['audit'],
  ['audit', '--json'],
  ['reprice'],
  ['doctor'],
  ...['text', 'json', 'junit', 'markdown'].map((format) => [
    'check',
    '--max-failure-rate',
    '0',
    '--format',
    format,
  ]),
]

let hostile = ''
const answer = (value: object) => (response: { end(text: string): void }) => {
  response.end(JSON.stringify(poison(value, hostile)))
}
const key = {
  id: 'k',
  project: 'p',
  name: 'n',
  hint: 'h',
  scopes: ['read'],
  createdAt: at,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
}
const project = {
  id: 'default',
  name: 'n',
  createdAt: at,
  retentionDays: 3,
  dailySpans: 10,
  dailyBytes: null,
  priceOverrides: [{ model: 'm', provider: 'o', inputPerMillion: 1, outputPerMillion: 2 }],
}

test('no command lets recorded text control the terminal or the build service', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/me': { kind: 'anyone', isAuthOn: false },
    'GET /api/sessions': answer({ sessions: recordedPage.sessions }),
    [`GET /api/sessions/${id}`]: answer(recordedSession),
    ...Object.fromEntries(
      recordedSession.steps.map((step) => [`GET /api/sessions/${id}/steps/${step.id}`, answer(step)]),
    ),
    [`GET /api/sessions/${id}/recording`]: answer(recording),
    'GET /api/keys': answer({ keys: [key] }),
    'POST /api/keys': answer({ key, secret: 's' }),
    'DELETE /api/keys/x': (response) => sendError(response, 404, 'NOT_FOUND', hostile),
    'GET /api/projects': answer({ projects: [project] }),
    'GET /api/logins': answer({
      logins: [
        {
          id: 'l',
          createdAt: at,
          expiresAt: at,
          lastUsedAt: at,
          address: 'a',
          device: 'd',
          isCurrent: false,
        },
      ],
    }),
    'GET /api/audit': answer({
      entries: [
        {
          id: 'e',
          at,
          action: 'a',
          project: 'p',
          caller: { kind: 'k', id: 'i', name: 'n', address: 'a' },
          subject: 's',
          detail: 'd',
        },
      ],
    }),
    'POST /api/reprice': answer({
      result: {
        project: 'p',
        sessions: 1,
        steps: 1,
        models: [{ model: 'm', steps: 1, before: 1, after: 2 }],
        unpricedModels: ['u'],
      },
    }),
  })
  await fc.assert(
    fc.asyncProperty(hostileText, async (generated) => {
      hostile = generated
      for (const look of looks) {
        for (const command of commands) {
          const output = await run(command, endpoint, look)
          expect(output).not.toMatch(/Unknown option|no project|must be/)
          expect({ command, look, effects: effectsOf(output, look.isColoured) }).toEqual({
            command,
            look,
            effects: [],
          })
        }
      }
    }),
    { numRuns: 12 },
  )
})

test('JSON output still has the values of the server', async () => {
  const page = { sessions: recordedPage.sessions }
  const { endpoint } = await startFakeServer({
    'GET /api/sessions': answer(page),
    [`GET /api/sessions/${id}/recording`]: answer(recording),
  })
  await fc.assert(
    fc.asyncProperty(hostileText, async (generated) => {
      hostile = generated
      const look = { isTTY: false, isColoured: false }
      expect(JSON.parse(await run(['ls', '--json'], endpoint, look))).toEqual(poison(page, hostile))
      expect(JSON.parse(await run(['export', id, '-o', '-'], endpoint, look))).toEqual(
        poison(recording, hostile),
      )
    }),
    { numRuns: 30 },
  )
})

test('JUnit, summary, annotations and matchers are as harmless', () => {
  fc.assert(
    fc.property(hostileText, (generated) => {
      const report = poisonedReport(generated)
      expect(effectsOf(renderReportJunit(report))).toEqual([])
      expect(effectsOf(renderSummary(report))).toEqual([])
      for (const annotation of renderAnnotations(report)) {
        expect(annotation).toMatch(/^::(?:error|warning) [^\n]*::[^\n]*$/)
        expect(effectsOf(annotation.slice(2))).toEqual([])
      }
      const session = poison(recordedSession, generated)
      for (const check of [
        () => expectSession(session).toHaveNoErrors(),
        () => expectSession(session).toHaveCalled(generated),
        () => expectSession(session).toCostLessThan(0),
      ]) {
        let message = ''
        try {
          check()
        } catch (error) {
          ;({ message } = error as Error)
        }
        expect(effectsOf(message)).toEqual([])
      }
    }),
    { numRuns: 100 },
  )
})

function poisonedReport(text: string): TestReport {
  const sessions = [false, true].map((isPassed) => ({
    id,
    isPassed,
    attempt: 1,
    durationMs: 1,
    message: text,
    variant: text,
    url: `http://x/${id}`,
  }))
  const one = (verdict: ReportTest['verdict']) =>
    ({
      file: text,
      suite: text,
      name: text,
      verdict,
      passed: 1,
      total: 2,
      interval: { low: 0, high: 1 },
      cost: 1,
      durationMs: 1,
      sessions,
      note: text,
      location: { path: text, line: 3 },
    }) as unknown as ReportTest
  return {
    madeAt: at,
    tests: [one('fail'), one('inconclusive')],
    others: { sessionCount: 0, cost: null },
  }
}
