import { status } from '@grpc/grpc-js'
import { errorStatus, KnownError } from '../../errors/known-error.ts'
import type { Diagnostics } from '../counters.ts'

/** The gRPC status for each of our HTTP statuses. Of these, senders retry only on UNAVAILABLE. */
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

/** The status for an error. An unexpected one is reported with its stack. */
export function toGrpcStatus(
  error: unknown,
  { counters, report }: Diagnostics,
): { code: status; details: string } {
  if (error instanceof KnownError) {
    counters.requestsRefused += 1
    return { code: codes[errorStatus[error.code]], details: error.message }
  }
  counters.failures += 1
  report(`gRPC call failed: ${error instanceof Error ? error.stack : String(error)}`)
  return {
    code: status.INTERNAL,
    details: 'Internal error; see the output of the server. No part of this batch was acknowledged.',
  }
}
