import { KnownError } from '../errors/known-error.ts'
import {
  LARGE_BODY_BYTES,
  MAX_BYTES_IN_FLIGHT,
  SHARE_OF_LARGE_BODIES,
  SHARE_OF_ONE_CALLER,
} from './body-limits.ts'

/** Bounds the memory of all request bodies together, however many large ones arrive at once. */
export type BodyBudget = {
  readonly maxBytes: number
  bytesInFlight: number
  /** Of these, the bytes of each project and of each address. */
  readonly held: Map<string, number>
}

export function createBodyBudget(maxBytes: number = MAX_BYTES_IN_FLIGHT): BodyBudget {
  return { maxBytes, bytesInFlight: 0, held: new Map() }
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

/** `holders` are the project and the address that the body counts for. */
export function openBudgetShare(budget: BodyBudget, holders: readonly string[] = []): BudgetShare {
  let reserved = 0
  const add = (bytes: number) => {
    budget.bytesInFlight += bytes
    reserved += bytes
    for (const holder of holders) {
      const held = (budget.held.get(holder) ?? 0) + bytes
      if (held > 0) budget.held.set(holder, held)
      else budget.held.delete(holder)
    }
  }
  return {
    reserve(bytes) {
      const share = reserved + bytes > LARGE_BODY_BYTES ? SHARE_OF_LARGE_BODIES : 1
      if (budget.bytesInFlight + bytes > budget.maxBytes * share) {
        throw new KnownError(
          'SERVER_BUSY',
          `Requests in progress already hold ${budget.bytesInFlight} of ${budget.maxBytes} bytes: retry shortly.`,
        )
      }
      for (const holder of holders) {
        const held = budget.held.get(holder) ?? 0
        if (held + bytes > budget.maxBytes * SHARE_OF_ONE_CALLER) {
          throw new KnownError(
            'SERVER_BUSY',
            `Requests in progress for ${holder} already hold ${held} bytes, the most for one caller: retry shortly.`,
          )
        }
      }
      add(bytes)
    },
    release: () => add(-reserved),
  }
}
