import { Buffer } from 'node:buffer'
import {
  isMiss,
  isRecord,
  missResponse,
  nameApi,
  parseJson,
  readEntries,
  respondFromEntry,
  Tape,
  toCassetteAction,
  visibleText,
  whyNotServable,
  type Cassette,
  type CassetteEntry,
  type CassetteModelCall,
  type Replay,
  type Session,
  type TapeEntry,
  type TapeMiss,
  type TapeOptions,
} from '@playhead/model'
import { recognizeRequest } from '../capture/calls/recognize-request.ts'
import type {
  ActionCall,
  ActiveTape,
  TapeAnswer,
  TapedAction,
  TapeRequest,
} from '../record/session/active-tape.ts'
import { AnswerRecorder } from './answer-recorder.ts'
import { readAskedStep, type ContentOptions } from './asked-step.ts'
import { explainOther, serveTokenizer } from './other-request.ts'
import { reviveResult } from './revive-result.ts'
import { TapeMissError } from './run-actions.ts'

/** What happens to a call that the cassette does not have: `strict` fails it, `fill` makes and records it. */
export type FillMode = 'strict' | 'fill'

type LiveCall =
  | { kind: 'model'; entry: Omit<CassetteModelCall, 'answer'>; recorder: AnswerRecorder }
  | { kind: 'action'; key: string; replay?: Replay | undefined; /** The cassette has it. */ isKept: boolean }

export type CassetteTapeOptions = TapeOptions & {
  mode: FillMode
  content: ContentOptions
}

export type CassetteRules = {
  replay?: Readonly<Record<string, Replay>> | undefined
  volatile?: readonly RegExp[] | undefined
}

/** Answers the run of a test from its cassette, and records what the cassette lacks. */
export class CassetteTape implements ActiveTape {
  readonly isStrict: boolean
  readonly misses: TapeMiss[] = []
  /** Called when the run makes something anew. */
  onLive: () => void = () => {}
  #tape: Tape
  #replay: Readonly<Record<string, Replay>> = {}
  readonly #volatile: readonly RegExp[]
  readonly #sources: readonly Cassette[]
  readonly #content: ContentOptions
  /** Actions that were served and calls that were made, in the order in which they were asked for. */
  readonly #log: LiveCall[] = []
  #runningActions = 0

  constructor(cassette: Cassette | undefined, { mode, content, ...options }: CassetteTapeOptions) {
    this.isStrict = mode === 'strict'
    this.#sources = cassette === undefined ? [] : [cassette]
    this.#tape = new Tape(this.#sources, options)
    this.#content = content
    this.#volatile = options.volatile ?? []
  }

  /** What the config says about the agent that is about to run. */
  setRules({ replay = {}, volatile = [] }: CassetteRules): void {
    this.#replay = replay
    const isUnused = this.#tape.entries.every(({ isUsed }) => !isUsed)
    if (volatile.length > 0 && isUnused)
      this.#tape = new Tape(this.#sources, { volatile: [...this.#volatile, ...volatile] })
  }

  /** What the cassette has and the run did not ask for. */
  get unused(): TapeEntry[] {
    return this.#tape.unused
  }

  respond(request: TapeRequest): TapeAnswer {
    const { url, body } = request
    const json = parseJson(Buffer.from(body).toString())
    const api = isRecord(json) ? recognizeRequest(url, json) : undefined
    if (!isRecord(json) || api === undefined) return this.#respondToOther(request)
    const question = api.readRequest(json, url)
    const asked = readAskedStep(question, this.#content)
    const found = this.#tape.takeModelCall(asked)
    if (!isMiss(found)) {
      const response = respondFromEntry(found, api, { url, body: json, isStream: question.isStream })
      return response ?? missResponse(this.#miss(missAt(found)(otherForm(found))), api)
    }
    if (this.isStrict) return missResponse(this.#miss(found), api)
    const named = nameApi(api)
    const { model, parameters, toolDefinitions, messages = [] } = asked
    const recorder = new AnswerRecorder(named)
    const entry = {
      kind: 'model' as const,
      api: named.name,
      path: url.pathname,
      asked: {
        ...(model !== undefined && { model }),
        ...(parameters !== undefined && { parameters }),
        ...(toolDefinitions !== undefined && { tools: toolDefinitions }),
        messages,
      },
    }
    this.#log.push({ kind: 'model', entry, recorder })
    this.onLive()
    return { kind: 'live', tap: recorder }
  }

  act(call: ActionCall): TapedAction {
    const { name, arguments: given, fn, revive } = call
    if (this.#replayOf(call) === 'run') return { kind: 'run' }
    const found = this.#tape.takeAction(name, given)
    if (isMiss(found)) return this.#actLive(call, found)
    if (found.isContainer) {
      this.#log.push({ kind: 'action', key: keyOf(name, given), isKept: true })
      return { kind: 'run' }
    }
    const missed = missAt(found)
    const reason = found.notServable ?? whyNotServable(found.step)
    if (reason !== undefined) return this.#actLive(call, missed(reason), true)
    this.#log.push({ kind: 'action', key: keyOf(name, given), isKept: true })
    return reviveResult(found.step, fn, { revive, onMiss: (sentence) => void this.#miss(missed(sentence)) })
  }

  /** The wall refused something that is no request. */
  onRefused(sentence: string): void {
    this.#miss({ kind: 'action', sentence })
  }

  /** Waits for responses that are still on their way. */
  async settle(timeoutMs: number): Promise<void> {
    const waiting = this.#log.flatMap((call) => (call.kind === 'model' ? [call.recorder.ended] : []))
    const timer = Promise.withResolvers<void>()
    const timeout = setTimeout(timer.resolve, timeoutMs)
    await Promise.race([Promise.all(waiting), timer.promise])
    clearTimeout(timeout)
  }

  /** What was made live, in the order in which it was asked for. `session` is the run's: it has the results of actions. */
  recorded(session: Session): CassetteEntry[] {
    const actions = Map.groupBy(
      readEntries(session).filter((entry) => entry.kind === 'action'),
      (entry) => keyOf(entry.name, entry.arguments),
    )
    return this.#log.flatMap((call): CassetteEntry[] => {
      if (call.kind === 'model') {
        const { answer } = call.recorder
        return answer === undefined ? [] : [{ ...call.entry, answer }]
      }
      const entry = actions.get(call.key)?.shift()
      return entry === undefined || call.isKept ? [] : [toCassetteAction(entry, call.replay)]
    })
  }

  #replayOf({ name, replay }: ActionCall): Replay | undefined {
    return this.#replay[name] ?? replay
  }

  #actLive(call: ActionCall, miss: TapeMiss, isKept = false): TapedAction {
    const { name, arguments: given } = call
    if (this.isStrict) return { kind: 'error', error: new TapeMissError(this.#miss(miss)) }
    this.#log.push({ kind: 'action', key: keyOf(name, given), isKept, replay: this.#replayOf(call) })
    this.#runningActions += 1
    this.onLive()
    return {
      kind: 'run',
      source: 'live',
      onResult: () => {
        this.#runningActions -= 1
      },
    }
  }

  /** Tools may ask other servers while they run; the cassette has their result. Anything else could not be repeated. */
  #respondToOther(request: TapeRequest): TapeAnswer {
    if (this.#runningActions > 0) return { kind: 'live' }
    const tokenizer = serveTokenizer(request)
    if (tokenizer !== undefined) return tokenizer
    const sentence = explainOther(
      request,
      (what) =>
        `The test made a request that no cassette can answer: ${what}. Record the function that makes it with recordTool.`,
    )
    return missResponse(this.#miss({ kind: 'action', sentence }), undefined)
  }

  /** Only the first miss counts: what follows it is asked in a state that was never recorded. */
  #miss(miss: TapeMiss): string {
    this.misses.push(miss)
    return this.misses[0]!.sentence
  }
}

function otherForm({ step, number }: TapeEntry): string {
  return `The answer of step ${number} ${visibleText(step.name)} can't be served in the form that is asked for.`
}

function missAt({ kind, step, number }: TapeEntry): (sentence: string) => TapeMiss {
  return (sentence) => ({ kind, stepId: step.id, step: number, sentence })
}

function keyOf(name: string, given: unknown): string {
  return JSON.stringify([name, given])
}
