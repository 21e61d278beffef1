import type { Pricer } from '../prices/price.ts'
import { toObject, type JsonObject } from '../json/attribute-value.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi, ModelRequest } from '../providers/model-api.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiCompletions } from '../providers/openai-completions.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import type { StepOutline } from '../session/step-draft.ts'
import type { Usage } from '../session/usage.ts'

/** A model call to be priced, before or after it was made. */
export type PricedCall = { model: string | undefined; provider: string; usage: Usage }

/** Money for live calls. Each call reserves the most that it can cost, and gives back what it did not need. */
export class Budget {
  readonly limitUsd: number
  #spentUsd = 0
  #reservedUsd = 0
  #openCount = 0
  /** Calls that fit as soon as others are over and did not cost the most. */
  #waiting: { estimateUsd: number; decide: (isGranted: boolean) => void }[] = []

  constructor(limitUsd: number) {
    this.limitUsd = limitUsd
  }

  get spentUsd(): number {
    return this.#spentUsd
  }

  /**
   * False if the call could pass the limit; then it must not be made. While other calls are open, which rarely cost the
   * most, it waits for them.
   */
  reserve(estimateUsd: number): Promise<boolean> {
    return new Promise((decide) => {
      this.#waiting.push({ estimateUsd, decide })
      this.#grant()
    })
  }

  /** Every reservation that was granted has to be settled once. */
  settle(reservedUsd: number, actualUsd: number): void {
    this.#openCount -= 1
    this.#reservedUsd = this.#openCount === 0 ? 0 : Math.max(0, this.#reservedUsd - reservedUsd)
    this.#spentUsd += actualUsd
    this.#grant()
  }

  #grant(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const call of waiting) {
      const leftUsd = this.limitUsd - this.#spentUsd
      if (!(call.estimateUsd <= leftUsd)) call.decide(false)
      else if (call.estimateUsd > leftUsd - this.#reservedUsd) this.#waiting.push(call)
      else {
        this.#openCount += 1
        this.#reservedUsd += call.estimateUsd
        call.decide(true)
      }
    }
  }
}

/** The most tokens that a call can use. Three bytes a token is less than text, code and JSON have on average. */
export function worstUsage(request: ModelRequest, body: string): Usage {
  const input = Math.ceil(new TextEncoder().encode(body).length / 3)
  if (request.operation === 'embeddings') return { input, output: 0 }
  const { 'gen_ai.request.max_tokens': limit, 'gen_ai.request.choice.count': choices } = request.attributes
  const output = typeof limit === 'number' && limit > 0 ? limit : outputLimit(request.model ?? '')
  return {
    input,
    output: output * (typeof choices === 'number' && choices > 1 ? choices : 1),
    ...cacheWrites(body, input),
  }
}

/** Enough for any answer of an agent that is not stuck. */
export const SAFE_OUTPUT = 16_384

/** The same request with a limit to its output. Undefined if it has one, or if that would change nothing. */
export function limitOutput(
  api: ModelApi,
  request: ModelRequest,
  call: { body: JsonObject; provider: string },
): JsonObject | undefined {
  const { body, provider } = call
  const hasLimit = request.attributes['gen_ai.request.max_tokens'] !== undefined
  if (hasLimit || outputLimit(request.model ?? '') <= SAFE_OUTPUT) return undefined
  if (api === openAiResponses) return { ...body, max_output_tokens: SAFE_OUTPUT }
  if (api === geminiGenerate)
    return { ...body, generationConfig: { ...toObject(body.generationConfig), maxOutputTokens: SAFE_OUTPUT } }
  if (api !== openAiChat && api !== openAiCompletions) return undefined
  const isOpenAis =
    api === openAiChat && /^(?:openai|azure)/.test(provider) && provider !== 'openai_compatible'
  return { ...body, [isOpenAis ? 'max_completion_tokens' : 'max_tokens']: SAFE_OUTPUT }
}

/** Writing a prompt to the cache costs more than sending it. */
function cacheWrites(body: string, input: number): Usage {
  if (!body.includes('"cache_control"')) return {}
  return body.includes('"1h"') ? { cacheWrite: input, cacheWrite1h: input } : { cacheWrite: input }
}

/** US dollars; undefined if the model has no known price. */
export function priceCall({ model, provider, usage }: PricedCall, pricer: Pricer): number | undefined {
  if (model === undefined) return undefined
  const outline: StepOutline = {
    sessionId: '',
    id: '',
    parentId: null,
    isParentRemote: false,
    startedAtMs: 0,
    endedAtMs: null,
    kind: 'llm',
    name: model,
    dialect: 'playhead',
    status: 'ok',
    model,
    provider,
    usage,
  }
  return pricer.price(outline)?.cost
}

/** What a model writes at most if the request does not say: the providers' documented limits, in tokens. */
const outputLimits: [RegExp, number][] = [
  [/gpt-4o|gpt-4o-mini/, 16_384],
  [/gpt-4\.1/, 32_768],
  [/gpt-4-turbo|gpt-4-(?:1106|0125)|gpt-3\.5/, 4_096],
  [/gpt-4(?:-0613|-32k)?$/, 8_192],
  [/(?:^|\/)o[1-4]\b/, 100_000],
  [/gemini-(?:1\.5|2\.0)/, 8_192],
  [/gemini/, 65_536],
]
const LARGEST_OUTPUT = 128_000

function outputLimit(model: string): number {
  const name = model.toLowerCase()
  return outputLimits.find(([pattern]) => pattern.test(name))?.[1] ?? LARGEST_OUTPUT
}
