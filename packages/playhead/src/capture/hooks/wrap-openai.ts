import type { ModelApi } from '../apis/model-api.ts'
import { openAiChat } from '../apis/openai-chat.ts'
import { openAiCompletions } from '../apis/openai-completions.ts'
import { openAiEmbeddings } from '../apis/openai-embeddings.ts'
import { openAiResponses } from '../apis/openai-responses.ts'
import { baseUrlOf, rewrapCopies } from './client-parts.ts'
import { toObject } from '../json-value.ts'
import { wrapMethod } from './wrap-method.ts'

/**
 * Records the calls of one client of OpenAI, for the rare one that can't be seen on the wire: it has a dispatcher of its
 * own that is too old, or a `fetch` that is no HTTP. A call that is seen there too is counted once.
 *
 * @example
 * const client = playhead.wrapOpenAI(new OpenAI({ fetch: myOwnTransport }))
 */
export function wrapOpenAI<Client extends object>(client: Client): Client {
  const url = baseUrlOf(client, 'https://api.openai.com/v1')
  const { chat, responses, embeddings, completions } = toObject(client)
  wrapCreate(toObject(chat).completions, openAiChat, url)
  wrapCreate(responses, openAiResponses, url)
  wrapCreate(embeddings, openAiEmbeddings, url)
  wrapCreate(completions, openAiCompletions, url)
  rewrapCopies(client, wrapOpenAI)
  return client
}

/** The other methods of these resources (parse, stream, runTools) end up in this one. */
function wrapCreate(resource: unknown, api: ModelApi, url: URL): void {
  wrapMethod(resource, 'create', ([body]) => ({ api, body: toObject(body), url }))
}
