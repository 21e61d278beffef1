import { expect, test } from 'vitest'
import { pathBack } from './login-page.tsx'

test('returns to the requested page', () => {
  expect(pathBack('/sessions/abc?step=2&project=shop')).toBe('/sessions/abc?step=2&project=shop')
})

test.each([
  undefined,
  '',
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  'javascript:alert(1)',
  '/login?back=/login',
])('%s goes to the sessions', (back) => {
  expect(pathBack(back)).toBe('/sessions')
})
