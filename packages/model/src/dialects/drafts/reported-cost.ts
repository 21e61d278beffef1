import { isRecord, toCount } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { parseJson } from '../../json/json-text.ts'

/** US dollars as the sender reported them. A 0 for a call with tokens means that the sender knew no price. */
export function reportedCost({ fields }: SpanReading, hasTokens: boolean): number | undefined {
  const cost =
    costOfObject(parseJson(fields.costObject)) ?? fields.cost ?? sumOf(fields.inputCost, fields.outputCost)
  return cost === 0 && hasTokens ? undefined : cost
}

function costOfObject(value: unknown): number | undefined {
  if (!isRecord(value)) return toCount(value)
  const total = toCount(value.total) ?? toCount(value.total_cost)
  if (total !== undefined) return total
  let sum: number | undefined
  for (const part of Object.values(value)) sum = sumOf(sum, toCount(part))
  return sum
}

function sumOf(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : left + (right ?? 0)
}
