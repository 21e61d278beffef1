import { expect, test } from 'vitest'
import { addView, isSameView, readViews } from './views-menu.tsx'

const failing = { name: 'Failing', search: { q: 'status:fail' } }

test('reads views and ignores anything else', () => {
  expect(readViews(JSON.stringify([failing, { name: 5 }, null, 'x']))).toEqual([failing])
  expect(readViews(null)).toEqual([])
  expect(readViews('{broken')).toEqual([])
  expect(readViews('{}')).toEqual([])
})

test('replaces a view with the same name', () => {
  const newer = { name: 'Failing', search: { q: 'status:fail', from: '24h' } }
  expect(addView([failing], newer)).toEqual([newer])
})

test('two views are equal if they show the same', () => {
  expect(isSameView({ q: 'a' }, { q: 'a' })).toBe(true)
  expect(isSameView({ q: 'a' }, { q: 'a', from: '7d' })).toBe(false)
})
