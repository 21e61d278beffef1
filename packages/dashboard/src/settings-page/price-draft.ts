import type { PriceOverride } from '@playhead/model'

/** A price as it is being typed. */
export type PriceDraft = { model: string; provider: string; from: string } & Record<PriceField, string>

export type PriceField =
  | 'inputPerMillion'
  | 'outputPerMillion'
  | 'cacheReadPerMillion'
  | 'cacheWritePerMillion'
  | 'perRequest'

export const priceFields: readonly { field: PriceField; label: string; isRequired: boolean }[] = [
  { field: 'inputPerMillion', label: 'Input', isRequired: true },
  { field: 'outputPerMillion', label: 'Output', isRequired: true },
  { field: 'cacheReadPerMillion', label: 'Cache read', isRequired: false },
  { field: 'cacheWritePerMillion', label: 'Cache write', isRequired: false },
  { field: 'perRequest', label: 'Per request', isRequired: false },
]

export const emptyDraft: PriceDraft = {
  model: '',
  provider: '',
  from: '',
  inputPerMillion: '',
  outputPerMillion: '',
  cacheReadPerMillion: '',
  cacheWritePerMillion: '',
  perRequest: '',
}

export function toDraft(price: PriceOverride): PriceDraft {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    model: price.model,
    provider: price.provider ?? '',
    from: price.from ?? '',
    inputPerMillion: text(price.inputPerMillion),
    outputPerMillion: text(price.outputPerMillion),
    cacheReadPerMillion: text(price.cacheReadPerMillion),
    cacheWritePerMillion: text(price.cacheWritePerMillion),
    perRequest: text(price.perRequest),
  }
}

export type DraftProblems = Partial<Record<keyof PriceDraft, string>>

/** What keeps a draft from being a price; nothing when it is one. */
export function checkDraft(draft: PriceDraft): DraftProblems {
  const problems: DraftProblems = {}
  if (draft.model.trim() === '') problems.model = 'Which model? A * at the end matches any ending.'
  for (const { field, isRequired } of priceFields) {
    const text = draft[field].trim()
    if (text === '' ? isRequired : !isAmount(text)) problems[field] = 'In US dollars, 0 or more: 2.50'
  }
  if (draft.from.trim() !== '' && Number.isNaN(Date.parse(draft.from))) problems.from = 'A day: 2026-01-31'
  return problems
}

/** The price that a checked draft says. What the form does not show (`base`) stays as it was. */
export function toPrice(draft: PriceDraft, base: PriceOverride | undefined): PriceOverride {
  const shown = new Set<string>(['model', 'provider', 'from', ...priceFields.map(({ field }) => field)])
  const kept = Object.fromEntries(Object.entries(base ?? {}).filter(([name]) => !shown.has(name)))
  const amounts = priceFields.flatMap(({ field }) => {
    const text = draft[field].trim()
    return text === '' ? [] : [[field, Number(text.replace(',', '.'))]]
  })
  return {
    ...kept,
    model: draft.model.trim(),
    ...(draft.provider.trim() !== '' && { provider: draft.provider.trim() }),
    ...(draft.from.trim() !== '' && { from: draft.from.trim() }),
    ...(Object.fromEntries(amounts) as Pick<PriceOverride, 'inputPerMillion' | 'outputPerMillion'>),
  }
}

function isAmount(text: string): boolean {
  const amount = Number(text.replace(',', '.'))
  return Number.isFinite(amount) && amount >= 0
}
