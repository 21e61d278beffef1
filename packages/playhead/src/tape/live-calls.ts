import {
  formatCount,
  isRecord,
  limitOutput,
  parseJson,
  priceCall,
  SAFE_OUTPUT,
  worstUsage,
  type JsonObject,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type Usage,
} from '@playhead/model'
import { providerOfCall } from '../capture/calls/provider-of-call.ts'
import { ResponseBody } from '../capture/streams/response-body.ts'
import type { ResponseTap } from '../record/session/active-tape.ts'
import { loadPrices } from '../record/session/read-session.ts'

/** The budget of the command that started the run; it may live in another process. */
export type RunBudget = {
  reserve(estimateUsd: number): Promise<boolean> | boolean
  settle(reservedUsd: number, actualUsd: number): void
}

export type LiveCall = { api: ModelApi; url: URL; body: JsonObject }

/** A call that may be made, perhaps with a limit to its output. */
export type StartedCall = { body: JsonObject; tap: ResponseTap }

/** The model calls of a run that cost money. */
export class LiveCalls {
  readonly #budget: RunBudget | undefined
  readonly #note: (sentence: string) => void
  #costUsd = 0

  constructor(budget: RunBudget | undefined, note: (sentence: string) => void) {
    this.#budget = budget
    this.#note = note
  }

  /** What the finished calls cost. */
  get costUsd(): number {
    return this.#costUsd
  }

  /** Reserves the most that the call can cost. Returns a sentence if it must not be made. */
  async start(call: LiveCall): Promise<StartedCall | string> {
    if (this.#budget === undefined) return { body: call.body, tap: this.#tap(call, 0) }
    const { model = 'the model' } = requestOf(call)
    const worstUsd = this.#worstPriceOf(call)
    if (worstUsd === undefined)
      return `${model} has no known price, so a run with a budget can’t call it. Run without --budget, or choose another model.`
    const started = (await this.#reserve(call)) ?? (await this.#reserveLimited(call))
    return (
      started ??
      `A call to ${model} was not made: it could cost up to ${formatUsd(worstUsd)}, which is more than what is left of the budget.`
    )
  }

  async #reserve(call: LiveCall): Promise<StartedCall | undefined> {
    const worstUsd = this.#worstPriceOf(call)
    if (worstUsd === undefined || !(await this.#budget!.reserve(worstUsd))) return undefined
    return { body: call.body, tap: this.#tap(call, worstUsd) }
  }

  /** Some models may write more than most budgets allow, and hardly ever do. */
  async #reserveLimited({ api, url, body }: LiveCall): Promise<StartedCall | undefined> {
    const request = api.readRequest(body, url)
    const limited = limitOutput(api, request, { body, provider: providerOfCall(url, api, request.model) })
    const started = limited && (await this.#reserve({ api, url, body: limited }))
    if (started !== undefined)
      this.#note(
        `Calls to ${request.model} were limited to ${formatCount(SAFE_OUTPUT)} tokens of output, so that the budget covers them.`,
      )
    return started
  }

  #tap(call: LiveCall, reservedUsd: number): ResponseTap {
    return new UsageTap(call, (outcome) => {
      const actualUsd = this.#actualUsd(call, outcome, reservedUsd)
      this.#costUsd += actualUsd
      this.#budget?.settle(reservedUsd, actualUsd)
    })
  }

  /** Nobody is charged for an error. A response that does not say what it used is counted as the worst case. */
  #actualUsd(call: LiveCall, { usage, hasFailed }: Outcome, reservedUsd: number): number {
    if (hasFailed) return 0
    const priceUsd = usage === undefined ? undefined : (usage.cost ?? this.#priceOf(call, usage))
    if (priceUsd === undefined && usage === undefined)
      this.#note('A live call did not report its usage, so its cost is not known exactly.')
    return priceUsd ?? reservedUsd
  }

  #worstPriceOf(call: LiveCall): number | undefined {
    return this.#priceOf(call, worstUsage(requestOf(call), JSON.stringify(call.body)))
  }

  #priceOf(call: LiveCall, usage: Usage): number | undefined {
    const pricer = loadPrices()
    const { model } = requestOf(call)
    if (pricer === null) return undefined
    return priceCall({ model, provider: providerOfCall(call.url, call.api, model), usage }, pricer)
  }
}

function requestOf({ api, url, body }: LiveCall): ModelRequest {
  return api.readRequest(body, url)
}

function formatUsd(dollars: number): string {
  return `$${dollars < 0.01 ? dollars.toPrecision(1) : dollars.toFixed(2)}`
}

type Outcome = { usage: ModelResponse['usage']; hasFailed: boolean }

/** Reads what a response says about its tokens, whole or streamed. */
class UsageTap implements ResponseTap {
  readonly #call: LiveCall
  readonly #onOutcome: (outcome: Outcome) => void
  readonly #assembler: ReturnType<ModelApi['createAssembler']>
  #body: ResponseBody | undefined
  #status = 0
  #isOver = false

  constructor(call: LiveCall, onOutcome: (outcome: Outcome) => void) {
    this.#call = call
    this.#onOutcome = onOutcome
    this.#assembler = call.api.createAssembler()
  }

  onHead(status: number, headers: Record<string, string>): void {
    this.#status = status
    this.#body = new ResponseBody({
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      isStream: requestOf(this.#call).isStream && status < 300,
      onEvent: (data) => this.#add(parseJson(data)),
    })
  }

  onChunk(bytes: Uint8Array): void {
    this.#body?.add(bytes, 0)
  }

  onEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    const hasFailed = this.#body === undefined || this.#status >= 400
    let usage: ModelResponse['usage']
    try {
      usage = hasFailed ? undefined : this.#readUsage()
    } finally {
      this.#onOutcome({ usage, hasFailed })
    }
  }

  #readUsage(): ModelResponse['usage'] {
    this.#body!.end(0)
    if (!this.#body!.isEvents) {
      const whole = parseJson(this.#body!.text)
      if (isRecord(whole)) return this.#call.api.readResponse(whole).usage
      // Gemini streams a JSON list if the request does not ask for events.
      if (Array.isArray(whole)) whole.forEach((item) => this.#add(item))
    }
    return this.#call.api.readResponse(this.#assembler.response()).usage
  }

  #add(event: unknown): void {
    if (isRecord(event)) this.#assembler.add(event)
  }
}
