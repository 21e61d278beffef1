import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { KnownError } from '../errors/known-error.ts'
import { openBudgetShare, type BodyLimits, type BudgetShare } from './body-budget.ts'
import { findInflater, inflateBody } from './inflate-body.ts'
import { ReceivedBody } from './received-body.ts'

/** Reads and decompresses a body. Its bytes count against the budget, for `holders`, until `use` resolves. */
export async function withBody<Result>(
  request: IncomingMessage,
  { holders, ...limits }: BodyLimits & { holders?: readonly string[] },
  use: (body: ReceivedBody) => Result | Promise<Result>,
): Promise<Result> {
  const share = openBudgetShare(limits.budget, holders)
  try {
    return await use(await receiveBody(request, limits, share))
  } finally {
    share.release()
  }
}

async function receiveBody(
  request: IncomingMessage,
  limits: BodyLimits,
  share: BudgetShare,
): Promise<ReceivedBody> {
  const inflater = findInflater(request.headers['content-encoding'])
  if (Number(request.headers['content-length']) > limits.maxBytes) refuseLength(limits.maxBytes)
  const bytes = await receiveBytes(request, limits.maxBytes, share)
  if (inflater === null) return bytes
  return new ReceivedBody([await inflateBody(bytes.whole(), inflater, { ...limits, share })])
}

/** Passes a body on, up to the limit. */
export async function* limitBytes(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) refuseLength(maxBytes)
    yield chunk
  }
}

/** Every chunk counts against the budget as it arrives. */
export async function receiveBytes(
  request: Readable,
  maxBytes: number,
  share: BudgetShare,
): Promise<ReceivedBody> {
  const received: Buffer[] = []
  let bytes = 0
  // Destroying the request would close the socket before the client sees our response.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > maxBytes) refuseLength(maxBytes)
      share.reserve(chunk.length)
      received.push(chunk)
    }
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError(
      'BAD_REQUEST',
      `The client closed the connection after ${bytes} bytes of its body.`,
      {
        cause: error,
      },
    )
  }
  return new ReceivedBody(received)
}

export function refuseLength(maxBytes: number): never {
  throw new KnownError(
    'BODY_TOO_LARGE',
    `The body is larger than the limit of ${maxBytes} bytes: send smaller batches.`,
  )
}
