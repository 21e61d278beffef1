import { anthropicMessages } from '../apis/anthropic-messages.ts'
import { baseUrlOf, rewrapCopies } from './client-parts.ts'
import { toObject } from '../json-value.ts'
import { wrapMethod } from './wrap-method.ts'

/**
 * Records the calls of one client of Anthropic, for the rare one that can't be seen on the wire: it has a dispatcher of
 * its own that is too old, or a `fetch` that is no HTTP. A call that is seen there too is counted once.
 *
 * @example
 * const client = playhead.wrapAnthropic(new Anthropic({ fetch: myOwnTransport }))
 */
export function wrapAnthropic<Client extends object>(client: Client): Client {
  const url = baseUrlOf(client, 'https://api.anthropic.com')
  const { messages, beta } = toObject(client)
  for (const resource of [messages, toObject(beta).messages])
    wrapMethod(resource, 'create', ([body]) => ({ api: anthropicMessages, body: toObject(body), url }))
  rewrapCopies(client, wrapAnthropic)
  return client
}
