import { Buffer } from 'node:buffer'
import {
  findForkPoint,
  isMiss,
  isRecord,
  missResponse,
  parseJson,
  REDACTED,
  RequestEditor,
  respondFromEntry,
  Tape,
  visibleText,
  withAnswer,
  withModel,
  type ForkEdit,
  type JsonObject,
  type Lane,
  type ModelApi,
  type ModelEntry,
  type ModelRequest,
  type Session,
  type Step,
  type TapedResponse,
  type TapeEntry,
  type TapeMiss,
} from '@playhead/model'
import { recognizeRequest } from '../capture/calls/recognize-request.ts'
import type {
  ActionCall,
  ActiveTape,
  TapeAnswer,
  TapedAction,
  TapeRequest,
} from '../record/session/active-tape.ts'
import { readAskedStep, type ContentOptions } from './asked-step.ts'
import { LiveCalls, type RunBudget } from './live-calls.ts'
import { explainOther, serveTokenizer } from './other-request.ts'
import { RunActions, type AgentRules } from './run-actions.ts'
import { RunState, type RunCounts } from './run-state.ts'
import { findUnwrappedTool, notRebuildable, unwrappedTools } from './unservable-answer.ts'

/** What is run again, and what may be live. */
export type RunPlan = {
  /** The session that is run again. */
  parent: Session
  /** Further sessions that fill what it lacks, in this order. */
  tapes: readonly Session[]
  lane: Lane
  /** Where a fork leaves the tape, and what it changes there. */
  fork?: { stepId: string; edit?: ForkEdit | undefined } | undefined
  /** The model that answers instead of the recorded one. */
  model?: string | undefined
  onMiss: 'fail' | 'live'
  /** The writes that are carried out, in live runs. */
  allowWrites: readonly string[]
}

export type RunTapeOptions = RunPlan & {
  agent: AgentRules
  budget?: RunBudget | undefined
  content: () => ContentOptions
  /** Called once when the run leaves the tape. */
  onLive?: (() => void) | undefined
  /** Called once when the run has missed something, and can only end. */
  onLost?: (() => void) | undefined
}

/** Answers a run: from the tape, live, or with stubs, as its lane says. */
export function createRunTape(options: RunTapeOptions): RunTape {
  return new RunTape(options)
}

type ModelCall = { api: ModelApi; request: ModelRequest; url: URL; body: JsonObject }

export class RunTape implements ActiveTape {
  readonly #options: RunTapeOptions
  readonly #tape: Tape
  /** The steps of the session itself; further tapes have others. */
  readonly #own: ReadonlySet<Step>
  readonly #state: RunState
  readonly #actions: RunActions
  readonly #calls: LiveCalls
  readonly #forkPoint: TapeEntry | undefined
  /** Of calls in parallel, one that was recorded before the step of the fork may be asked for after it. */
  readonly #isBeforeFork: (entry: TapeEntry) => boolean
  /** A fork follows its own session, and live tools are compared with it; further tapes are only for stubs there. */
  readonly #mayAnswer: (entry: TapeEntry) => boolean
  readonly #editor: RequestEditor | undefined
  readonly #unwrapped: ReadonlySet<string>
  readonly #responseIds: ReadonlySet<unknown>
  #hasEdited = false

  constructor(options: RunTapeOptions) {
    const { parent, tapes, lane, onMiss, onLive, onLost, fork, agent, allowWrites, budget } = options
    const sessions = [parent, ...tapes]
    this.#options = options
    this.#tape = new Tape(sessions, agent.volatile === undefined ? {} : { volatile: agent.volatile })
    this.#state = new RunState({ lane, onMiss, onLive, onLost })
    this.#calls = new LiveCalls(budget, (sentence) => this.#state.note(sentence))
    const point = fork === undefined ? undefined : findForkPoint(parent, fork.stepId)
    this.#forkPoint = this.#tape.entries.find(({ step }) => step === point?.step)
    this.#editor = fork?.edit === undefined ? undefined : new RequestEditor(fork.edit)
    this.#unwrapped = unwrappedTools(sessions)
    this.#responseIds = new Set(parent.steps.flatMap(({ responseId }) => responseId ?? []))
    this.#own = new Set(parent.steps)
    const { number = 0 } = this.#forkPoint ?? {}
    this.#isBeforeFork = (entry) => this.#own.has(entry.step) && entry.number < number
    this.#mayAnswer = (entry) => lane === 'tape' || lane === 'live-model' || this.#own.has(entry.step)
    this.#actions = new RunActions({
      tape: this.#tape,
      state: this.#state,
      sessions,
      lane,
      agent,
      allowWrites,
      forkPoint: this.#forkPoint,
      isBeforeFork: this.#isBeforeFork,
      mayAnswer: this.#mayAnswer,
      edit: fork?.edit ?? {},
    })
  }

  get isStrict(): boolean {
    return this.#options.lane === 'tape' && this.#options.onMiss === 'fail'
  }

  get counts(): RunCounts {
    return this.#state.counts
  }

  /** The first is the one that counts. */
  get misses(): TapeMiss[] {
    return [...this.#state.misses, ...this.#unreached()]
  }

  get reason(): string | undefined {
    return this.#state.stop ?? this.#unreached()[0]?.sentence
  }

  get notes(): string[] {
    return this.#state.notes
  }

  /** What the session recorded and this run was meant to ask for: not what is live, and nothing after a fork. */
  get unused(): TapeEntry[] {
    const { lane } = this.#options
    const { model, tools } = this.#state.sides
    const own = this.#tape.unused.filter(({ step }) => this.#own.has(step))
    if (lane === 'fork') return own.filter(this.#isBeforeFork)
    return own.filter(({ kind }) => (kind === 'model' ? !model : !tools))
  }

  get mapped(): Tape['mapped'] {
    return this.#tape.mapped
  }

  /** What the live calls cost so far. */
  get costUsd(): number {
    return this.#calls.costUsd
  }

  act(call: ActionCall): TapedAction {
    return this.#actions.act(call)
  }

  /** The wall refused something that is no request. */
  onRefused(sentence: string): void {
    this.#state.addMiss({ kind: 'action', sentence })
  }

  respond(request: TapeRequest): TapeAnswer | Promise<TapeAnswer> {
    const call = readModelCall(request)
    if (call === undefined) return this.#respondToOther(request)
    const { stop, sides, isForked } = this.#state
    if (stop !== undefined) return missResponse(stop, call.api)
    const asked = readAskedStep(call.request, this.#options.content())
    if (sides.model) {
      const early = isForked ? this.#tape.findModelCall(asked, this.#isBeforeFork) : undefined
      return early === undefined ? this.#goLive(call) : this.#serve(early, call)
    }
    const found = this.#tape.takeModelCall(asked, this.#mayAnswer)
    if (isMiss(found)) return this.#miss(found, call)
    return found === this.#forkPoint ? this.#fork(found, call) : this.#serve(found, call)
  }

  #serve(entry: ModelEntry, call: ModelCall): TapeAnswer | Promise<TapeAnswer> {
    const unwrapped = findUnwrappedTool(entry, this.#unwrapped)
    if (unwrapped !== undefined) return this.#halt(unwrapped, call.api)
    const { url, body, api, request } = call
    const response = respondFromEntry(entry, api, { url, body, isStream: request.isStream })
    if (response === undefined) return this.#miss(notRebuildable(entry), call)
    this.#state.counts.taped += 1
    return response
  }

  /** The call of the fork itself. What it was asked is known to match the tape. */
  #fork(entry: ModelEntry, call: ModelCall): TapeAnswer | Promise<TapeAnswer> {
    this.#state.fork()
    const { edit = {} } = this.#options.fork ?? {}
    if (!('result' in edit)) return this.#goLive(call)
    const { exact: _exact, ...rest } = entry
    const { url, body, api, request } = call
    const answered = { ...rest, step: withAnswer(entry.step, edit.result) }
    const response = respondFromEntry(answered, api, { url, body, isStream: request.isStream })
    if (response?.kind !== 'response') return this.#miss(notRebuildable(entry), call)
    this.#state.counts.stubbed += 1
    return { ...response, headers: { ...response.headers, 'x-playhead-source': 'stub' } }
  }

  #miss(miss: TapeMiss, call: ModelCall): TapeAnswer | Promise<TapeAnswer> {
    return this.#state.miss(miss) ? this.#goLive(call) : missResponse(this.#state.stop!, call.api)
  }

  async #goLive(call: ModelCall): Promise<TapeAnswer> {
    this.#state.leaveTape()
    const edited = this.#edit(call)
    if (typeof edited === 'string') return this.#halt({ kind: 'model', sentence: edited }, call.api)
    const started = await this.#calls.start({ api: call.api, ...edited })
    if (typeof started === 'string') return this.#halt({ kind: 'model', sentence: started }, call.api)
    const { body, tap } = started
    const text = JSON.stringify(body)
    this.#state.counts.live += 1
    this.#state.sendRedacted(text.split(REDACTED).length - 1)
    if (this.#responseIds.has(body.previous_response_id))
      this.#state.note(
        'The agent continued a response of the provider that was answered from the tape. The provider may not know it any more.',
      )
    return {
      kind: 'live',
      tap,
      ...(body !== call.body && { body: Buffer.from(text) }),
      ...(edited.url !== call.url && { url: edited.url }),
    }
  }

  #halt(miss: TapeMiss, api: ModelApi): TapedResponse {
    this.#state.halt(miss)
    return missResponse(miss.sentence, api)
  }

  /** The request as it is sent: with the edit of the fork, which stays, or to another model. */
  #edit({ api, request, url, body }: ModelCall): { url: URL; body: JsonObject } | string {
    const { model } = this.#options
    const isChat = request.operation !== 'embeddings'
    if (model !== undefined && isChat) return withModel({ url, body }, model)
    if (this.#editor === undefined || !isChat) return { url, body }
    if (this.#hasEdited) return this.#editor.editLater(api, { url, body })
    this.#hasEdited = true
    return this.#editor.editFirst(api, { url, body })
  }

  /** A live model may need a token first; nothing else leaves the process while the tools are on the tape. */
  #respondToOther(request: TapeRequest): TapeAnswer {
    const { sides } = this.#state
    if (sides.tools || (sides.model && credentialHosts.test(request.url.hostname))) return { kind: 'live' }
    const tokenizer = serveTokenizer(request)
    if (tokenizer !== undefined) return tokenizer
    const sentence = explainOther(
      request,
      (what) =>
        `The run made a request that is not on the tape: ${what}. Record what makes it with recordTool.`,
    )
    const miss: TapeMiss = { kind: 'action', sentence }
    if (this.#options.onMiss === 'live' && this.#state.miss(miss)) return { kind: 'live' }
    this.#state.addMiss(miss)
    return missResponse(sentence, undefined)
  }

  #unreached(): TapeMiss[] {
    const { lane, fork } = this.#options
    if (lane !== 'fork' || this.#state.isForked || this.#state.misses.length > 0) return []
    const point = this.#forkPoint
    const kind = point?.kind ?? 'action'
    if (point === undefined)
      return [{ kind, sentence: `The session has no model call or action from step ${fork?.stepId} on.` }]
    const where = `step ${point.number} ${visibleText(point.step.name)}`
    return [{ kind, step: point.number, sentence: `The run ended before it came to ${where}.` }]
  }
}

/** Where SDKs of Google, Azure and AWS get their access tokens. */
const credentialHosts =
  /^(?:oauth2\.googleapis\.com|metadata\.google\.internal|169\.254\.169\.254|login\.microsoftonline\.(?:com|us)|sts\..*amazonaws\.com)$/

function readModelCall({ url, body }: TapeRequest): ModelCall | undefined {
  const json = parseJson(Buffer.from(body).toString())
  if (!isRecord(json)) return undefined
  const api = recognizeRequest(url, json)
  return api === undefined ? undefined : { api, request: api.readRequest(json, url), url, body: json }
}
