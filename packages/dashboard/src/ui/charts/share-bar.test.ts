import { expect, test } from 'vitest'
import { formatShare } from './share-bar.tsx'

test.each([
  [0, '0%'],
  [0.0001, '0.1%'],
  [0.0042, '0.4%'],
  [0.153, '15%'],
  [0.9999, '99.9%'],
  [1, '100%'],
])('%f is %s', (share, text) => {
  expect(formatShare(share)).toBe(text)
})
