import { expect, test } from 'vitest'
import { draftOf, isComplete, newDraft, toChange, toDestination } from './destination-draft.ts'

test('a draft becomes what the API takes', () => {
  expect(toDestination({ ...newDraft, url: ' https://a.example/x ' })).toEqual({
    kind: 'webhook',
    name: 'Webhook',
    includesText: false,
    url: 'https://a.example/x',
  })
  const email = { ...newDraft, kind: 'email', to: 'a@b.c, d@e.f', from: 'p@q.r', host: 'm.example' } as const
  expect(toDestination(email)).toEqual({
    kind: 'email',
    name: 'a@b.c, d@e.f',
    includesText: false,
    to: ['a@b.c', 'd@e.f'],
    from: 'p@q.r',
    host: 'm.example',
    port: 587,
    security: 'starttls',
  })
})

test('a new destination needs its secrets, a saved one keeps those that nobody types again', () => {
  const slack = { ...newDraft, kind: 'slack' } as const
  expect([isComplete(slack, true), isComplete(slack, false)]).toEqual([false, true])
  const saved = draftOf({
    id: 'mail',
    kind: 'email',
    name: 'Mail',
    isEnabled: true,
    includesText: true,
    target: '',
    settings: { host: 'm.example', port: 25, security: 'none', user: 'u', from: 'p@q.r', to: ['a@b.c'] },
    secrets: ['password'],
  })
  expect(toChange({ ...saved, user: '' })).toEqual({
    name: 'Mail',
    includesText: true,
    host: 'm.example',
    port: 25,
    security: 'none',
    user: null,
    from: 'p@q.r',
    to: ['a@b.c'],
  })
})
