import type { Attributes, Context, Span } from '@opentelemetry/api'
import type { ForkEdit, Lane } from '@playhead/model'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { Recorder } from './recorder.ts'
import type { SessionRecord } from './session-record.ts'

/** Which session is run again, and how. */
export type RunIdentity = {
  parentId: string
  lane: Lane
  fork?: { stepId: string; edit?: ForkEdit | undefined } | undefined
}

/**
 * A recorded session that this process runs again. The first session that it opens is the re-run. Further ones name that
 * one as their parent, so that nobody takes them for a run of their own.
 */
export class ActiveRun {
  readonly roots: SessionRecord[] = []
  readonly #identity: RunIdentity
  readonly #onStart: (sessionId: string) => void
  readonly #openSession: ((recorder: Recorder) => Context) | undefined
  #context: Context | undefined

  constructor(
    identity: RunIdentity,
    options: {
      onStart: (sessionId: string) => void
      /** Opens a session for the steps of an agent that opens none. */
      openSession?: ((recorder: Recorder) => Context) | undefined
    },
  ) {
    this.#identity = identity
    this.#onStart = options.onStart
    this.#openSession = options.openSession
  }

  addRoot(span: Span, record: SessionRecord): void {
    const [first] = this.roots
    this.roots.push(record)
    const { parentId, lane, fork } = this.#identity
    const { attributes } = span as unknown as RecordedSpan
    const known = attributes['playhead.session.tags']
    const tags = [...(Array.isArray(known) ? (known as string[]) : []), 'rerun']
    const marks: Attributes = {
      'playhead.session.tags': [...new Set(tags)],
      'playhead.rerun.parent': first?.id ?? parentId,
      'playhead.rerun.lane': lane,
    }
    if (first === undefined && fork !== undefined) {
      marks['playhead.rerun.step'] = fork.stepId
      if (fork.edit !== undefined) marks['playhead.rerun.edit'] = JSON.stringify(fork.edit)
    }
    span.setAttributes(marks)
    if (first === undefined) this.#onStart(record.id)
  }

  /** The context of the run's own session; undefined if steps stand on their own. */
  openSession(recorder: Recorder): Context | undefined {
    if (this.roots.length === 0) this.#context ??= this.#openSession?.(recorder)
    return this.#context
  }
}

/** Shared by the ES module and the CommonJS copy of this package. */
const KEY = Symbol.for('playhead.run.0')

const holder = globalThis as { [KEY]?: ActiveRun | undefined }

/** Undefined unless this process runs a recorded session again. */
export function activeRun(): ActiveRun | undefined {
  return holder[KEY]
}

export function setRun(run: ActiveRun | undefined): void {
  holder[KEY] = run
}
