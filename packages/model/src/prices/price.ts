import type { StepOutline } from '../session/step-draft.ts'

export type Price =
  | { cost: number; source: 'reported' | 'computed' }
  /** Nobody knows the rates of the model. */
  | { cost?: undefined; source: 'no-price' }

/** Prices a call by the tokens that are known; null if none are, or for a step that costs nothing. Created by `createPricer` of `@playhead/model/prices`. */
export type Pricer = { price(outline: StepOutline): Price | null }

/** Sets `cost` and `costSource` on the outline, or removes what is unknown. */
export function priceStep<Outline extends StepOutline>(outline: Outline, pricer: Pricer): Outline {
  const price = pricer.price(outline)
  // Checked first, because deleting what is not there takes longer than looking for it.
  if (price?.cost !== undefined) outline.cost = price.cost
  else if (outline.cost !== undefined) delete outline.cost
  if (price !== null) outline.costSource = price.source
  else if (outline.costSource !== undefined) delete outline.costSource
  return outline
}

/** Rounds to twelve decimals, which removes floating point noise. */
export function roundDollars(dollars: number): number {
  return Math.round(dollars * 1e12) / 1e12
}

/** The price that the sender reported. Ignores a 0 for a call with tokens and for a model call without any. */
export function reportedPrice(outline: StepOutline): Price | null {
  const { reportedCost, usage, kind } = outline
  if (reportedCost === undefined || !Number.isFinite(reportedCost) || reportedCost < 0) return null
  if (reportedCost === 0) {
    const tokens = (usage?.input ?? 0) + (usage?.output ?? 0) + (usage?.total ?? 0)
    if (tokens > 0 || kind === 'llm' || kind === 'embedding') return null
  }
  return { cost: reportedCost, source: 'reported' }
}
