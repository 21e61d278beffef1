import type { IncomingMessage } from 'node:http'
import { KnownError } from '../../errors/known-error.ts'
import { openBudgetShare, type BodyLimits, type BudgetShare } from '../body-budget.ts'
import { findInflater, inflateBody, joinChunks } from './inflate-body.ts'
import { MAX_DISCARDED_BYTES } from '../limits.ts'

/** Reads and decompresses a body. Its bytes count against the budget while it is read. */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return withBody(request, limits, (body) => body)
}

/** Reads a body. Its bytes count against the budget until `use` resolves. */
export async function withBody<Result>(
  request: IncomingMessage,
  limits: BodyLimits,
  use: (body: Buffer) => Result | Promise<Result>,
): Promise<Result> {
  const share = openBudgetShare(limits.budget)
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
): Promise<Buffer> {
  try {
    const inflater = findInflater(request.headers['content-encoding'])
    if (Number(request.headers['content-length']) > limits.maxBytes) refuseLength(limits.maxBytes)
    const bytes = await receiveBytes(request, limits.maxBytes, share)
    return inflater === null ? bytes : await inflateBody(bytes, inflater, { ...limits, share })
  } catch (error) {
    discardRest(request)
    throw error
  }
}

async function receiveBytes(request: IncomingMessage, maxBytes: number, share: BudgetShare): Promise<Buffer> {
  const received: Buffer[] = []
  let bytes = 0
  // Destroying the request would close the socket before the client sees our response.
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
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
  return joinChunks(received)
}

function refuseLength(maxBytes: number): never {
  throw new KnownError(
    'BODY_TOO_LARGE',
    `The body is larger than the limit of ${maxBytes} bytes: send smaller batches.`,
  )
}

/** Most clients read the response only after they have sent everything, so the rest is read and dropped, up to a limit. */
function discardRest(request: IncomingMessage): void {
  let discarded = 0
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > MAX_DISCARDED_BYTES) request.destroy()
  })
  request.resume()
}
