import { ServerInterceptingCall, type Metadata, type ServerInterceptor } from '@grpc/grpc-js'
import { KnownError } from '../../errors/known-error.ts'
import type { Diagnostics } from '../counters.ts'
import { toGrpcStatus } from './grpc-status.ts'

/** Messages count against the body budget only once they have arrived; this bounds those still arriving. */
const MAX_ARRIVING = 32

/** As over HTTP: enough for 64 MB at 2 Mbit/s. */
const MAX_ARRIVAL_MS = 300_000

/** Refuses a call before its body is read if the caller is not authorized or too many bodies are arriving. */
export function admitCalls(
  authorize: (metadata: Metadata) => unknown,
  diagnostics: Diagnostics,
): ServerInterceptor {
  let arriving = 0
  return (_method, call) => {
    let release = () => {}
    const admit = () => {
      if (arriving >= MAX_ARRIVING) {
        throw new KnownError('SERVER_BUSY', `${arriving} gRPC requests are already arriving: retry shortly.`)
      }
      arriving += 1
      const timer = setTimeout(() => refuse(tooSlow()), MAX_ARRIVAL_MS).unref()
      release = () => {
        arriving -= 1
        clearTimeout(timer)
        release = () => {}
      }
    }
    const refuse = (error: unknown) => {
      release()
      call.sendStatus(toGrpcStatus(error, diagnostics))
    }
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, nextMetadata) {
            try {
              authorize(metadata)
              admit()
            } catch (error) {
              return refuse(error)
            }
            nextMetadata(metadata)
          },
          onReceiveMessage(message, nextMessage) {
            release()
            nextMessage(message)
          },
          // Also called if the message is too large.
          onCancel: () => release(),
        }),
    })
  }
}

function tooSlow(): KnownError {
  return new KnownError(
    'REQUEST_TOO_SLOW',
    `The request did not arrive within ${MAX_ARRIVAL_MS / 1_000} seconds: send smaller batches.`,
  )
}
