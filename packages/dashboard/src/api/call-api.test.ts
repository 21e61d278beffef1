import { expect, test } from 'vitest'
import { apiPath, inPageProject } from './call-api.ts'

test('leaves out parameters without a value and repeats lists', () => {
  expect(apiPath('/api/sessions', { tag: ['a', 'b&c'], name: undefined, limit: 5, demo: false })).toBe(
    '/api/sessions?tag=a&tag=b%26c&limit=5&demo=false',
  )
  expect(apiPath('/api/me')).toBe('/api/me')
})

test('requests go to the project of the page', () => {
  expect(inPageProject('/api/sessions?limit=1', '?project=shop&q=x')).toBe(
    '/api/sessions?limit=1&project=shop',
  )
  expect(inPageProject('/api/projects', '?project=shop')).toBe('/api/projects?project=shop')
  expect(inPageProject('/api/stats?project=other', '?project=shop')).toBe('/api/stats?project=other')
  expect(inPageProject('/api/stats', '')).toBe('/api/stats')
})
