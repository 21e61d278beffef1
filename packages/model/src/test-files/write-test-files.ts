import { shapeOfText } from '../align/text-shape.ts'
import { visibleText } from '../format/visible-text.ts'
import { readAgentInput } from '../session/agent-input.ts'
import { nullArguments } from '../session/null-arguments.ts'
import { argumentsOf } from '../session/problem.ts'
import { shortSessionId, type Session } from '../session/session.ts'
import { stepName } from '../session/step.ts'
import { cassetteFileName } from '../tape/cassette.ts'
import { writeCassette } from '../tape/write-cassette.ts'
import { joinSessions } from './join-sessions.ts'
import { writeJavaScriptTest, writePythonTest, type TestFacts } from './test-templates.ts'

export const testRunners = ['vitest', 'jest', 'node-test', 'pytest'] as const

export type TestRunner = (typeof testRunners)[number]

export type TestFilesOptions = {
  runner: TestRunner
  /** The name of the agent in the config. */
  agent: string
  /** A session that did what the first one should have done. */
  other?: { session: Session; why: 'passed' | 'fork' | 'recorded' } | undefined
  /** The version of Playhead. */
  version: string
  recordedAt: string
  /** Where the test goes; `test/<input>.test.ts` by default. */
  testPath?: string | undefined
  /** `ts` by default. */
  extension?: string | undefined
  /** The test is CommonJS, without a compiler before it. */
  isCommonJs?: boolean | undefined
  /** See `JoinOptions`. */
  runsReads?: boolean | undefined
}

export type TestFiles = {
  title: string
  test: { path: string; text: string }
  cassette: { path: string; text: string }
  /** The actions that run in the test although they were recorded. */
  suspects: string[]
}

/** A test and its cassette: the session runs again without a network, and must do what it should have done. */
export function writeTestFiles(session: Session, options: TestFilesOptions): TestFiles {
  const { runner, agent, other, version, recordedAt, isCommonJs, runsReads } = options
  const facts = readFacts(session, options)
  const isPython = runner === 'pytest'
  const slug = slugOf(facts, agent)
  const test = options.testPath ?? defaultPath(slug, options)
  const python = `test_${slug.replaceAll('-', '_')}`
  const meta = {
    name: isPython ? python : facts.title,
    agent,
    input: facts.input,
    recordedAt,
    playhead: version,
  }
  const { cassette, suspects } = joinSessions(session, other?.session, { meta, runsReads })
  return {
    title: meta.name,
    suspects,
    test: {
      path: test,
      text: isPython ? writePythonTest(facts, python) : writeJavaScriptTest(facts, { runner, isCommonJs }),
    },
    cassette: {
      path: cassettePath(test, isPython, meta.name),
      text: writeCassette(cassette),
    },
  }
}

function defaultPath(slug: string, { runner, extension = 'ts' }: TestFilesOptions): string {
  return runner === 'pytest' ? `tests/test_${slug.replaceAll('-', '_')}.py` : `test/${slug}.test.${extension}`
}

/** Beside the test, in the folder of its name. */
function cassettePath(test: string, isPython: boolean, name: string): string {
  const [, folder = '', file = ''] = /^(.*[/\\])?([^/\\]+)$/.exec(test) ?? []
  const base = isPython ? file.replace(/\.py$/, '') : file
  return `${folder}__cassettes__/${base}/${cassetteFileName(name)}.jsonl`
}

const MAX_TITLE_LENGTH = 70

function readFacts(session: Session, { agent, other, runner }: TestFilesOptions): TestFacts {
  const { text, value, args, from } = readAgentInput(session)
  const goal = other?.session ?? (session.session.endState === 'fail' ? undefined : session)
  const shown = visibleText(text.split('\n', 1)[0]!.trim())
  const short = shown.length > MAX_TITLE_LENGTH ? `${shown.slice(0, MAX_TITLE_LENGTH - 1)}…` : shown
  const isText = value === undefined || value === text
  const input =
    runner === 'pytest' ? (value ?? text) : isText ? { text } : { text, value, ...(args && { args }) }
  return {
    title: short === '' ? `${agent} ${shortSessionId(session.session.id)}` : `${agent}: ${short}`,
    agent,
    input,
    comment: [
      ...describeSource(session, other),
      ...(from === 'message'
        ? ['The input is what the model was told. Record it: withSession({ input }, …).']
        : []),
    ],
    effects: goal === undefined ? undefined : effectsOf(goal),
    hasHandledErrors: goal?.steps.some(({ error }) => error !== undefined) ?? false,
    nulls: goal === undefined ? [] : nullArguments(goal.steps),
  }
}

function describeSource({ session }: Session, other: TestFilesOptions['other']): string[] {
  const id = shortSessionId(session.id)
  if (session.endState !== 'fail') return [`From session ${id}.`]
  const reason = session.endStateReason === undefined ? '' : `: ${oneLine(session.endStateReason)}`
  const failed = `From session ${id}, which failed${reason}`
  if (other === undefined)
    return [failed, 'No session of this input has passed yet, so this only says that nothing fails.']
  const by = { passed: 'which passed', fork: 'the fork that passed', recorded: 'recorded for this test' }[
    other.why
  ]
  return [failed, `What should happen is from ${shortSessionId(other.session.session.id)}, ${by}.`]
}

function oneLine(text: string): string {
  const line = visibleText(text.split('\n', 1)[0]!.trim())
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}

/** Writes in their order. Arguments with ids or times of the run are left out: they differ in the next one. */
function effectsOf({ steps }: Session): { tool: string; args?: unknown }[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'action' || step.effect !== 'write' || step.isInferred === true) return []
    const args = argumentsOf(step)
    const text = JSON.stringify(args ?? null)
    const isStable = args !== undefined && text === shapeOfText(text) && !text.includes('[redacted]')
    return [{ tool: stepName(step), ...(isStable && { args }) }]
  })
}

const MAX_SLUG_LENGTH = 50

function slugOf({ title }: TestFacts, agent: string): string {
  const words =
    title
      .slice(agent.length)
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  let slug = ''
  for (const word of words) {
    if (slug.length + word.length > MAX_SLUG_LENGTH) break
    slug += slug === '' ? word : `-${word}`
  }
  return slug === '' ? (agent.toLowerCase().match(/[a-z0-9]+/g) ?? ['agent']).join('-') : slug
}
