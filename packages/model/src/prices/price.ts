import type { StepOutline } from '../session/step-draft.ts'

/** US dollars and where the figure comes from. */
export type Price = { cost: number; source: 'reported' | 'computed' }

/** Knows what a call costs; null when neither the sender nor any price list says. Made by `createPricer` of `@playhead/model/prices`. */
export type Pricer = { price(outline: StepOutline): Price | null }

/** Sets `cost` and `costSource` on the outline it is given, or removes them where the price is not known. */
export function priceStep<Outline extends StepOutline>(outline: Outline, pricer: Pricer): Outline {
  const price = pricer.price(outline)
  if (price === null) {
    delete outline.cost
    delete outline.costSource
  } else {
    outline.cost = price.cost
    outline.costSource = price.source
  }
  return outline
}

/** Dollars to the twelfth decimal: what lies beyond is the noise of adding floating point numbers. */
export function roundDollars(dollars: number): number {
  return Math.round(dollars * 1e12) / 1e12
}

/** The sender's own figure. A reported 0 for a call with tokens, or for a model call without any, is no report. */
export function reportedPrice(outline: StepOutline): Price | null {
  const { reportedCost, usage, kind } = outline
  if (reportedCost === undefined || !Number.isFinite(reportedCost) || reportedCost < 0) return null
  if (reportedCost === 0) {
    const tokens = (usage?.input ?? 0) + (usage?.output ?? 0) + (usage?.total ?? 0)
    if (tokens > 0 || kind === 'llm' || kind === 'embedding') return null
  }
  return { cost: reportedCost, source: 'reported' }
}
