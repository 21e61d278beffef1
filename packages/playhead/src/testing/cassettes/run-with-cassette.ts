import {
  countOf,
  formatCost,
  safeForLog,
  visibleText,
  writeCassette,
  type CassetteEntry,
  type Session,
  type Step,
  type TapeMiss,
} from '@playhead/model'
import type { SessionView } from 'playhead'
import { VERSION } from '../../record/opentelemetry/resource-attributes.ts'
import { activeRecorder } from '../../record/session/active-recorder.ts'
import { withTape } from '../../record/session/active-tape.ts'
import type { Recorder } from '../../record/session/recorder.ts'
import { placeholderKeys } from '../../rerun/placeholder-keys.ts'
import { contentOptionsOf } from '../../tape/asked-step.ts'
import { CassetteTape } from '../../tape/cassette-tape.ts'
import { playTape } from '../../tape/play-tape.ts'
import { locateCassette, openCassette, saveCassette, showPath, type CassetteOwner } from './cassette-file.ts'
import { cassetteMode, type CassetteMode, type CassetteSettings } from './cassette-option.ts'
import { noteUse } from './cassette-use.ts'

export type CassetteTest = CassetteOwner & { settings: CassetteSettings }

/** How long a finished test waits for the end of responses that its cassette needs. */
const SETTLE_TIMEOUT_MS = 2000

const tapes = new WeakMap<SessionView, { tape: CassetteTape; path: string }>()

/**
 * Runs a test with its cassette: what it asks is answered from the file, and what the file lacks is recorded into it,
 * unless the mode is strict. `run` returns why the test failed, if it did.
 */
export async function runWithCassette<Failure extends object | undefined>(
  { settings, ...owner }: CassetteTest,
  session: SessionView,
  run: () => Promise<Failure>,
): Promise<Failure> {
  const mode = cassetteMode()
  if (mode === 'live') return withTape(null, run)
  const path = locateCassette(owner, settings)
  claim(path, owner, settings)
  const recorder = requireContent()
  const existing = mode === 'record' ? undefined : openCassette(path)
  if (mode === 'strict' && existing === undefined) throw new Error(noCassette(path))
  const { volatile = [] } = settings
  const tape = new CassetteTape(existing, {
    mode: mode === 'strict' ? 'strict' : 'fill',
    content: contentOptionsOf(recorder),
    volatile,
  })
  tapes.set(session, { tape, path })
  const failure = await playCassette(tape, { recordedAt: existing?.meta.recordedAt, settings }, run)
  if (mode !== 'strict') {
    await tape.settle(SETTLE_TIMEOUT_MS)
    const made = session.toJSON()
    const recording = { path, owner, mode, entries: tape.recorded(made), isNew: existing === undefined }
    save(recording, { session: made, recorder, isFailed: failure !== undefined || tape.misses.length > 0 })
  }
  noteUse({ path, unused: tape.unused.map(({ number }) => number) })
  return failure
}

/** Until something is made live, `Date` begins when the cassette was recorded: prompts often contain the date. */
async function playCassette<Result>(
  tape: CassetteTape,
  { recordedAt, settings }: { recordedAt: string | undefined; settings: CassetteSettings },
  run: () => Promise<Result>,
): Promise<Result> {
  if (tape.isStrict) Object.assign(process.env, placeholderKeys())
  const playing = playTape(tape, {
    allowSpawn: settings.allowSpawn,
    ...(recordedAt !== undefined && { clockAt: Date.parse(recordedAt) }),
  })
  tape.onLive = () => playing.unpinClock()
  try {
    return await withTape(tape, run)
  } finally {
    playing.stop()
  }
}

/** Fails a test whose cassette had no answer, even if the agent caught the error that it got. */
export async function failOnMiss<Result>(session: SessionView, body: () => Result): Promise<Awaited<Result>> {
  let thrown: { error: unknown } | undefined
  let result: Awaited<Result> | undefined
  try {
    result = await body()
  } catch (error) {
    thrown = { error }
  }
  const { tape, path } = tapes.get(session) ?? {}
  const [miss] = tape?.misses ?? []
  if (miss !== undefined && path !== undefined)
    throw new CassetteMissError(describeMiss(miss, showPath(path), tape?.isStrict === true), {
      ...(thrown !== undefined && { cause: thrown.error }),
    })
  if (thrown !== undefined) throw thrown.error
  return result as Awaited<Result>
}

/** A test asked for something that its cassette does not have. */
export class CassetteMissError extends Error {
  override readonly name = 'CassetteMissError'
}

const owners = new Map<string, string>()

/** Two tests that would share a file by accident. */
function claim(path: string, { testFile, title, variant }: CassetteOwner, { file }: CassetteSettings): void {
  if (file !== undefined) return
  const owner = JSON.stringify([testFile, title, variant])
  const other = owners.get(path) ?? owner
  owners.set(path, other)
  if (other !== owner)
    throw new Error(
      `Two tests have the cassette ${showPath(path)}. Name the file of one: { cassette: 'other.jsonl' }.`,
    )
}

function requireContent(): Recorder {
  const recorder = activeRecorder()
  if (recorder === undefined)
    throw new Error('A cassette needs recording, which is switched off. Does the test call shutdown()?')
  if (!recorder.serializeOptions.isContentKept)
    throw new Error(
      'A cassette needs what models and tools are asked and answer. Record it: leave out init({ capture: { content: false } }).',
    )
  return recorder
}

function noCassette(path: string): string {
  return `There is no cassette ${showPath(path)}. Record it with PLAYHEAD_CASSETTE=fill and commit the file.`
}

type Recording = {
  path: string
  owner: CassetteOwner
  mode: CassetteMode
  entries: CassetteEntry[]
  isNew: boolean
}

/** What each test of this process recorded anew, by file: a test that is retried replaces its own share. */
const recordedAnew = new Map<string, Map<string, CassetteEntry[]>>()

function save(
  { path, owner, mode, entries, isNew }: Recording,
  { session, recorder, isFailed }: { session: Session; recorder: Recorder; isFailed: boolean },
): void {
  if (entries.length === 0 && !isNew) return
  const refused = isFailed ? entries.map(failureOf).find((failure) => failure !== undefined) : undefined
  if (refused !== undefined)
    return announce(path, `not written, because the test failed and a model call ended with ${refused}.`)
  const meta = {
    name: owner.title,
    recordedAt: session.session.startedAt,
    playhead: VERSION,
    sessions: [session.session.id],
  }
  const before = mode === 'record' ? undefined : openCassette(path)
  const all = mode === 'record' ? shareOf(path, owner, entries) : [...(before?.entries ?? []), ...entries]
  saveCassette(path, writeCassette({ meta: before?.meta ?? meta, entries: all }, recorder.redactor))
  const models = entries.filter(({ kind }) => kind === 'model').length
  const what = [countOf(models, 'model call'), countOf(entries.length - models, 'action')].join(' and ')
  const how = mode === 'record' ? 'recorded anew' : 'added'
  announce(path, `${how}: ${what}, ${describeSpending(session.steps)}.`)
  for (const entry of entries)
    if (entry.kind === 'action' && entry.notServable !== undefined)
      announce(path, `can't answer for ${visibleText(entry.notServable)}.`)
}

function shareOf(path: string, owner: CassetteOwner, entries: CassetteEntry[]): CassetteEntry[] {
  const shares = recordedAnew.get(path) ?? new Map<string, CassetteEntry[]>()
  recordedAnew.set(path, shares)
  shares.set(JSON.stringify([owner.title, owner.variant]), entries)
  return [...shares.values()].flat()
}

/** A failure that is nothing to keep, if the test failed because of it. */
function failureOf(entry: CassetteEntry): string | undefined {
  if (entry.kind !== 'model') return undefined
  const { answer } = entry
  if ('error' in answer) return visibleText(answer.error.code)
  return answer.status >= 400 ? `status ${answer.status}` : undefined
}

function describeSpending(steps: readonly Step[]): string {
  const live = steps.filter(({ kind, source }) => kind === 'llm' && source === 'live')
  const known = live.flatMap(({ cost }) => (cost === null ? [] : [cost]))
  const spent = formatCost(known.reduce((sum, cost) => sum + cost, 0))
  const unknown = live.length - known.length
  return `for ${spent}${unknown === 0 ? '' : ` and what ${countOf(unknown, 'call')} of unknown cost came to`}`
}

function announce(path: string, sentence: string): void {
  process.stderr.write(`playhead: ${safeForLog(`cassette ${showPath(path)} ${sentence}`)}\n`)
}

/** The sentence of a miss, the words that differ, and what to do about it. */
function describeMiss(miss: TapeMiss, path: string, isStrict: boolean): string {
  const lines = [`The cassette ${path} has no answer. ${miss.sentence}`, ...diffOf(miss)]
  if (isStrict)
    lines.push(
      'If the change is meant, record what is missing with PLAYHEAD_CASSETTE=fill, or all of it with PLAYHEAD_CASSETTE=record.',
    )
  return lines.join('\n\n')
}

function diffOf({ words }: TapeMiss): string[] {
  if (words === undefined) return []
  const side = (kind: 'a' | 'b') =>
    words
      .filter((word) => word.kind === 'same' || word.kind === kind)
      .map(({ kind: of, text }) => (of === 'same' ? shorten(text) : visibleText(text)))
      .join('')
  return [`- recorded: ${side('a')}\n+ asked:    ${side('b')}`]
}

const KEPT = 40

/** What both sides share, without its middle. */
function shorten(text: string): string {
  const shown = text.length > 3 * KEPT ? `${text.slice(0, KEPT)} … ${text.slice(-KEPT)}` : text
  return visibleText(shown)
}
