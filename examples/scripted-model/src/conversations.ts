import { asText } from './json.ts'
import { emptyMessage, type ModelRequest, type RequestMessage, type RequestParts } from './model-request.ts'
import type { PreparedReply } from './prepare-reply.ts'

/** What was said so far, for requests that only name the answer they go on from. */
export class Conversations {
  readonly #messages = new Map<string, RequestMessage[]>()

  continue(parts: RequestParts): RequestParts {
    const before = this.#messages.get(asText(parts.body.previous_response_id))
    return before === undefined ? parts : { ...parts, messages: [...before, ...parts.messages] }
  }

  remember(request: ModelRequest, reply: PreparedReply): void {
    if (request.api !== 'openai.responses') return
    const answer = emptyMessage('assistant', reply.text)
    answer.toolCalls.push(...reply.toolCalls)
    this.#messages.set(reply.id, [...request.messages, answer])
  }
}
