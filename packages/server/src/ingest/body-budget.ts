import { KnownError } from '../errors/known-error.ts'
import { LARGE_BODY_BYTES, MAX_BYTES_IN_FLIGHT, SHARE_OF_LARGE_BODIES } from './limits.ts'

/** Bounds the memory of all request bodies together, however many large ones arrive at once. */
export type BodyBudget = { readonly maxBytes: number; bytesInFlight: number }

export function createBodyBudget(maxBytes: number = MAX_BYTES_IN_FLIGHT): BodyBudget {
  return { maxBytes, bytesInFlight: 0 }
}

export type BodyLimits = {
  /** Limit for the body as sent. */
  maxBytes: number
  /** Limit after decompression. */
  maxInflatedBytes: number
  budget: BodyBudget
}

/** One request's share of the budget. */
export type BudgetShare = { reserve: (bytes: number) => void; release: () => void }

export function openBudgetShare(budget: BodyBudget): BudgetShare {
  let reserved = 0
  return {
    reserve(bytes) {
      const share = reserved + bytes > LARGE_BODY_BYTES ? SHARE_OF_LARGE_BODIES : 1
      if (budget.bytesInFlight + bytes > budget.maxBytes * share) {
        throw new KnownError(
          'SERVER_BUSY',
          `Requests in progress already hold ${budget.bytesInFlight} of ${budget.maxBytes} bytes: retry shortly.`,
        )
      }
      budget.bytesInFlight += bytes
      reserved += bytes
    },
    release() {
      budget.bytesInFlight -= reserved
      reserved = 0
    },
  }
}
