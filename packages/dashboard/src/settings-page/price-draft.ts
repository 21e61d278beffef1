import type { PriceOverride } from '@playhead/model'

/** The text in the fields of the price form. */
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

/** The errors of a draft, by field. */
export function checkDraft(draft: PriceDraft): DraftProblems {
  const problems: DraftProblems = {}
  if (draft.model.trim() === '') problems.model = 'Enter a model; a trailing * matches any suffix.'
  for (const { field, isRequired } of priceFields) {
    const text = draft[field].trim()
    if (text === '' ? isRequired : !isAmount(text))
      problems[field] = 'Enter an amount in US dollars, for example 2.50.'
  }
  if (draft.from.trim() !== '' && Number.isNaN(Date.parse(draft.from)))
    problems.from = 'Enter a date, for example 2026-01-31.'
  return problems
}

/** The price of a valid draft. Fields that the form does not show are kept from `base`. */
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
