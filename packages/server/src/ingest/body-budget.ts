import { KnownError } from '../errors/known-error.ts'
import { LARGE_BODY_BYTES, MAX_BYTES_IN_FLIGHT, SHARE_OF_LARGE_BODIES } from './limits.ts'

/** Request bytes that all requests together may hold. Memory stays bounded however many large bodies come at once. */
export type BodyBudget = { readonly maxBytes: number; bytesInFlight: number }

export function createBodyBudget(maxBytes: number = MAX_BYTES_IN_FLIGHT): BodyBudget {
  return { maxBytes, bytesInFlight: 0 }
}

/** What one request holds of the budget. */
export type BudgetShare = { take: (bytes: number) => void; release: () => void }

export function openBudgetShare(budget: BodyBudget): BudgetShare {
  let taken = 0
  return {
    take(bytes) {
      const share = taken + bytes > LARGE_BODY_BYTES ? SHARE_OF_LARGE_BODIES : 1
      if (budget.bytesInFlight + bytes > budget.maxBytes * share) {
        throw new KnownError(
          'SERVER_BUSY',
          `Requests in progress already hold ${budget.bytesInFlight} of ${budget.maxBytes} bytes: send this one again shortly.`,
        )
      }
      budget.bytesInFlight += bytes
      taken += bytes
    },
    release() {
      budget.bytesInFlight -= taken
      taken = 0
    },
  }
}
