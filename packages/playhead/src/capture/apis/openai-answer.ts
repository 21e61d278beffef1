import { toText, type JsonObject } from '../json-value.ts'
import type { Answer } from './model-api.ts'
import { openAiUsage, providerError } from './openai-usage.ts'
import { attributesFrom } from './request-attributes.ts'

/** What an answer of any of OpenAI's APIs says beside its messages. */
export function answerFacts(body: JsonObject): Omit<Answer, 'messages' | 'finishReasons'> {
  const id = toText(body.id)
  const model = toText(body.model)
  const usage = openAiUsage(body.usage)
  const error = body.error === undefined || body.error === null ? undefined : providerError(body)
  return {
    ...(id !== undefined && { id }),
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    attributes: attributesFrom(body, {
      service_tier: 'openai.response.service_tier',
      system_fingerprint: 'openai.response.system_fingerprint',
    }),
    ...(error !== undefined && { error }),
  }
}
