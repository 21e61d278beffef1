import { status } from '@grpc/grpc-js'
import { errorStatus, KnownError } from '../../errors/known-error.ts'
import type { Services } from '../../process/services.ts'

/** gRPC's word for each of our HTTP statuses. Senders try again on UNAVAILABLE and on nothing else of these. */
const codes: Record<(typeof errorStatus)[keyof typeof errorStatus], status> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  405: status.UNIMPLEMENTED,
  408: status.UNAVAILABLE,
  409: status.FAILED_PRECONDITION,
  413: status.INVALID_ARGUMENT,
  415: status.UNIMPLEMENTED,
  429: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
}

/** What goes over the wire for an error; one that we did not expect is written down whole. */
export function grpcStatus(error: unknown, services: Services): { code: status; details: string } {
  if (error instanceof KnownError) {
    services.counters.requestsRefused += 1
    return { code: codes[errorStatus[error.code]], details: error.message }
  }
  services.counters.failures += 1
  services.report(`a gRPC call failed: ${error instanceof Error ? error.stack : String(error)}`)
  return {
    code: status.INTERNAL,
    details: 'The server failed; its output says why. Nothing of this batch was acknowledged.',
  }
}
