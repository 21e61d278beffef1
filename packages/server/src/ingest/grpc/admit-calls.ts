import { ServerInterceptingCall, type Metadata, type ServerInterceptor } from '@grpc/grpc-js'
import { KnownError } from '../../errors/known-error.ts'
import type { Services } from '../../process/services.ts'
import { grpcStatus } from './grpc-status.ts'

/** A message is counted once it is whole, so that this many of the largest are the most that nobody has counted yet. */
const MAX_ARRIVING = 32

/** As over HTTP: 64 MB over a line of 2 Mbit/s arrive in this time. */
const MAX_ARRIVAL_MS = 300_000

/** Answers, before a body is read, whoever may not send, and whoever sends while too much is arriving. */
export function admitCalls(
  authorize: (metadata: Metadata) => unknown,
  services: Services,
): ServerInterceptor {
  let arriving = 0
  return (_method, call) => {
    let release = () => {}
    const admit = () => {
      if (arriving >= MAX_ARRIVING) {
        throw new KnownError(
          'SERVER_BUSY',
          `${arriving} gRPC requests are arriving already: send this one again shortly.`,
        )
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
      call.sendStatus(grpcStatus(error, services))
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
          // Also where the call ended because its message can't be taken.
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
