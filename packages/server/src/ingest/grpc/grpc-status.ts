import { errorStatus, KnownError } from '../../errors/known-error.ts'
import type { Diagnostics } from '../counters.ts'

export type GrpcStatus = { code: number; details: string }

export const GRPC_OK = 0
export const GRPC_UNIMPLEMENTED = 12

const INVALID_ARGUMENT = 3
const NOT_FOUND = 5
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const FAILED_PRECONDITION = 9
const INTERNAL = 13
const UNAVAILABLE = 14
const UNAUTHENTICATED = 16

/** The gRPC status for each of our HTTP statuses. Of these, senders retry only on UNAVAILABLE. */
const codes: Record<(typeof errorStatus)[keyof typeof errorStatus], number> = {
  400: INVALID_ARGUMENT,
  401: UNAUTHENTICATED,
  403: PERMISSION_DENIED,
  404: NOT_FOUND,
  405: GRPC_UNIMPLEMENTED,
  408: UNAVAILABLE,
  409: FAILED_PRECONDITION,
  410: FAILED_PRECONDITION,
  413: INVALID_ARGUMENT,
  415: GRPC_UNIMPLEMENTED,
  429: RESOURCE_EXHAUSTED,
  503: UNAVAILABLE,
}

/** The status for an error. An unexpected one is reported with its stack. */
export function toGrpcStatus(error: unknown, { counters, report }: Diagnostics): GrpcStatus {
  if (error instanceof KnownError) {
    counters.requestsRefused += 1
    return { code: codes[errorStatus[error.code]], details: error.message }
  }
  counters.failures += 1
  report(`gRPC call failed: ${error instanceof Error ? error.stack : String(error)}`)
  return {
    code: INTERNAL,
    details: 'Internal error; see the output of the server. No part of this batch was acknowledged.',
  }
}
