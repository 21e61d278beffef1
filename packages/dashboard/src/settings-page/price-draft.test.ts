import { expect, test } from 'vitest'
import { checkDraft, emptyDraft, toDraft, toPrice } from './price-draft.ts'

const typed = { ...emptyDraft, model: ' house-llama* ', inputPerMillion: '2,5', outputPerMillion: '10' }

test('parses a price, with a decimal point or comma', () => {
  expect(checkDraft(typed)).toEqual({})
  expect(toPrice(typed, undefined)).toEqual({
    model: 'house-llama*',
    inputPerMillion: 2.5,
    outputPerMillion: 10,
  })
})

test('reports missing and invalid fields', () => {
  expect(Object.keys(checkDraft(emptyDraft))).toEqual(['model', 'inputPerMillion', 'outputPerMillion'])
  expect(Object.keys(checkDraft({ ...typed, perRequest: 'cheap', cacheReadPerMillion: '-1' }))).toEqual([
    'cacheReadPerMillion',
    'perRequest',
  ])
  expect(Object.keys(checkDraft({ ...typed, from: 'soon' }))).toEqual(['from'])
})

test('editing a price keeps the fields that the form does not show', () => {
  const price = {
    model: 'a',
    inputPerMillion: 1,
    outputPerMillion: 2,
    audioInputPerMillion: 7,
    from: '2026-01-01',
  }
  expect(toPrice(toDraft(price), price)).toEqual(price)
  expect(toPrice({ ...toDraft(price), from: '' }, price)).toEqual({
    model: 'a',
    inputPerMillion: 1,
    outputPerMillion: 2,
    audioInputPerMillion: 7,
  })
})
