import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import {
  findOtherSession,
  shortSessionId,
  testRunners,
  type Session,
  type SessionSummary,
  type TestRunner,
} from '@playhead/model'
import { findConfigFile } from '../../rerun/config-file.ts'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { isRecordingFile, readSession } from '../client/read-session.ts'
import type { SessionPage } from '../client/sessions.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { throwNoResult } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findPythonAgent, findPythonProject } from './python-project.ts'
import { prepareRun, requireWhole } from './run-spec.ts'
import { detectRunner, type TestOutcome } from './run-test.ts'
import { TestWriter, type OtherSession, type TestProject, type WrittenTest } from './test-writer.ts'

export const toTestCommand = defineCommand({
  name: 'to-test',
  arguments: ['session'],
  summary: 'Write a test that runs a session again without a network, and run it',
  details: `<session> is an id or its first digits, "last", "last-failed", or a recording (*.json).
The test states the input, the writes and their order, no errors and no null arguments. A failed session is joined
with the last one of the same input that passed, or with the fork that proved the fix: the test is red with the bug
and green with the fix. Without either, --fill records what is missing in one live run, which calls models and tools.`,
  options: {
    runner: {
      type: 'text',
      value: 'runner',
      summary: `${testRunners.join(', ')} (default: what the project has)`,
    },
    out: { type: 'text', value: 'file', summary: 'The test file (default test/<input>.test.ts)' },
    with: { type: 'text', value: 'session', summary: 'The session that shows what should happen' },
    fill: { type: 'flag', summary: 'Record what is missing in one live run, without asking' },
    config: {
      type: 'text',
      value: 'file',
      summary: 'The config, if it is not playhead.config.ts in this folder or above',
    },
    force: {
      type: 'flag',
      summary: 'Replace a test that is there, and use a session that was not recorded whole',
    },
    json: {
      type: 'flag',
      summary: 'Print JSON: { "test": …, "cassette": …, "joined": …, "isPassed": …, "output": … }',
    },
  },
  examples: [
    ['playhead to-test last-failed', 'A test of the last failure'],
    ['playhead to-test s_1a2b3c4d --with s_5e6f7a8b --runner jest', 'Both sessions and the runner by name'],
    ['playhead to-test last --out test/refunds.test.ts', 'A test of what works, in this file'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    if (options.runner !== undefined) checkChoice('runner', options.runner, testRunners)
    const project = await prepareProject(positionals[0]!, {
      runner: options.runner as TestRunner | undefined,
      configFile: options.config,
      isForced: options.force === true,
      terminal,
      settings,
    }).catch(throwNoResult)
    const { parent } = project
    const other = await findOther(project, { named: options.with, settings, terminal })
    const isFilled =
      other === undefined && hasFailed(parent) && (await mayFill(options.fill === true, terminal))
    const files = new TestWriter(project, { other, out: options.out, isForced: options.force === true })
    if (isFilled) terminal.note('Recording what is missing: the test runs once with real models and tools.')
    const { written, outcome } = await files.writeAndRun(isFilled ? 'fill' : 'strict')
    if (options.json === true)
      terminal.print(printableJson({ ...written, joined: other?.session.session.id ?? null, ...outcome }))
    else
      terminal.print([describeFiles(written, { parent, other }), describeOutcome(outcome, parent)].join('\n'))
  },
})

type ProjectOptions = {
  runner: TestRunner | undefined
  configFile: string | undefined
  isForced: boolean
  terminal: Terminal
  settings: Settings
}

async function prepareProject(typed: string, options: ProjectOptions): Promise<TestProject> {
  const { runner, settings, terminal, isForced } = options
  const python = runner === 'pytest' || runner === undefined ? findPythonProject('.') : undefined
  const isPython = runner === 'pytest' || (python !== undefined && !hasConfig(options.configFile))
  if (!isPython) {
    const { config, agent, parent, endpoint } = await prepareRun({ ...options, typed })
    const { folder, file: configFile } = config
    return { parent, agent, runner: runner ?? detectRunner(folder), folder, configFile, endpoint }
  }
  const project = python ?? { folder: resolve('.'), agents: [], cassettes: undefined }
  const whole = { errorsOnly: false, isJson: true }
  const parent = await readSession(typed, whole, { terminal, settings, isRerunLeftOut: true })
  const agent = findPythonAgent(project, parent.session.name)
  if (!isForced) requireWhole(parent)
  const endpoint = typed === '-' || isRecordingFile(typed) ? undefined : settings.endpoint
  return { parent, agent, runner: 'pytest', folder: project.folder, endpoint, python: project }
}

function hasConfig(explicit: string | undefined): boolean {
  try {
    return findConfigFile('.', explicit) !== ''
  } catch {
    return false
  }
}

function hasFailed({ session }: Session): boolean {
  return session.endState === 'fail'
}

/** The session to join: the one that is named, or what the server knows. */
async function findOther(
  { parent, endpoint }: TestProject,
  { named, settings, terminal }: { named: string | undefined; settings: Settings; terminal: Terminal },
): Promise<OtherSession | undefined> {
  const whole = { errorsOnly: false, isJson: true }
  if (named !== undefined)
    return { session: await readSession(named, whole, { terminal, settings }), why: 'passed' }
  if (!hasFailed(parent) || endpoint === undefined) return undefined
  const api = await Api.connect(settings, 'read')
  const { session } = parent
  const query = { name: session.name, status: 'success', reruns: 'exclude', limit: '100' }
  const { sessions } = await api.json<SessionPage>('/api/sessions', { query })
  const { reruns } = await api.json<{ reruns: SessionSummary[] }>(`/api/sessions/${session.id}/reruns`)
  return findOtherSession(parent, sessions, reruns, (id) =>
    api.json<Session>(`/api/sessions/${id}`, { query: { payloads: 'all' } }),
  )
}

async function mayFill(isAgreed: boolean, terminal: Terminal): Promise<boolean> {
  if (isAgreed) return true
  const why = 'No session of the same input has passed, so the test cannot show what should happen.'
  if (terminal.stdin.isTTY !== true || !terminal.isInteractive) {
    terminal.note(`${why} With --fill, what is missing is recorded in one live run.`)
    return false
  }
  terminal.note(why)
  const prompt = createInterface({ input: terminal.stdin, output: terminal.stderr })
  const question = 'Record it now in one live run? It calls your models and tools, and may cost money. [y/N] '
  const answer = await prompt.question(question).finally(() => prompt.close())
  return /^y(?:es)?$/i.test(answer.trim())
}

function describeFiles(
  { test, cassette, suspects }: WrittenTest,
  { parent, other }: { parent: Session; other: OtherSession | undefined },
): string {
  const id = shortSessionId(parent.session.id)
  const joined =
    other === undefined
      ? `with what ${id} did`
      : `${id} joined with ${shortSessionId(other.session.session.id)}, ${other.why === 'fork' ? 'the fork that passed' : 'which passed with the same input'}`
  const runs =
    suspects.length === 0
      ? ''
      : `\nIn the test, ${suspects.map(plainLine).join(', ')} ${suspects.length === 1 ? 'runs' : 'run'} again: what was returned differs between the two sessions.`
  return `Wrote ${plainLine(test)}\nWrote ${plainLine(cassette)}: ${joined}${runs}`
}

function describeOutcome({ isPassed, isRun, output, durationMs }: TestOutcome, parent: Session): string {
  if (!isRun) return `The test was not run. ${output}`
  const took = `${(durationMs / 1000).toFixed(1)} s with the start of the runner`
  if (isPassed) return `The test passes (${took}).`
  if (isUnloaded.test(output))
    return `The test was written, but the runner can't load it (${took}).\n\n${output}`
  // The agent no longer does what was recorded: it asks for what neither session holds.
  const isMiss = output.includes('CassetteMissError')
  const why = isMiss
    ? 'The agent asks for something that the cassette lacks. Run the test once with PLAYHEAD_CASSETTE=fill to record it.'
    : hasFailed(parent)
      ? 'It is red until the agent is fixed.'
      : 'It should pass.'
  return `The test fails (${took}). ${why}\n\n${output}`
}

/** How jest, vitest and pytest say that a file could not be loaded. */
const isUnloaded = /Test suite failed to run|Failed Suites \d|errors? during collection/
