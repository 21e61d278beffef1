import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const { text: redact, isSecretKey } = createRedactor()

describe('what looks like a secret is masked, and nothing around it', () => {
  test.each([
    ['an OpenAI key', 'use sk-proj-Ab12Cd34Ef56Gh78Ij90 for it', 'use [redacted] for it'],
    ['an Anthropic key', 'sk-ant-api03-AAAAbbbbCCCCddddEEEE', '[redacted]'],
    ['a Stripe key', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc', '[redacted]'],
    ['a GitHub token', 'token ghp_0123456789abcdefghijABCDEFGHIJ012345', 'token [redacted]'],
    ['a fine-grained GitHub token', `github_pat_${'1A'.repeat(11)}_${'b2'.repeat(29)}`, '[redacted]'],
    ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['a Google key', `AIza${'Sy'.repeat(17)}A`, '[redacted]'],
    ['a Slack token', 'xoxb-123456789012-abcdefghijkl', '[redacted]'],
    ['a key of ours', `ph_${'a1'.repeat(20)}`, '[redacted]'],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N', '[redacted]'],
    [
      'a private key',
      'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb',
      'a\n[redacted]\nb',
    ],
    ['a private key that was cut', '-----BEGIN PRIVATE KEY-----\\nMIIEvQ', '[redacted]'],
    ['a card with spaces', 'card 4111 1111 1111 1111, please', 'card [redacted], please'],
    ['a card without', '5555555555554444', '[redacted]'],
    ['a bearer token', 'Bearer abcdefghijklmnop1234', 'Bearer [redacted]'],
    ['a header', 'authorization: Basic dXNlcjpwYXNz', 'authorization: [redacted]'],
    ['a password in a URL', 'postgres://ada:s3cret@db/app', 'postgres://ada:[redacted]@db/app'],
    ['a key in a query', 'https://x.test/?api_key=abc123&q=1', 'https://x.test/?api_key=[redacted]&q=1'],
    ['a password in JSON', '{"password":"a\\"b","user":"ada"}', '{"password":"[redacted]","user":"ada"}'],
    [
      'a secret in JSON in JSON',
      '"{\\"client_secret\\":\\"x y\\"}"',
      '"{\\"client_secret\\":\\"[redacted]\\"}"',
    ],
  ])('%s', (_, text, expected) => {
    expect(redact(text, 'text')).toBe(expected)
  })
})

describe('what is no secret stays', () => {
  test.each([
    'I was charged twice for my subscription',
    '{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"max_tokens":100}',
    'order 4111111111111112 of 2026-11-15T10:00:00.000Z',
    '1716239022123456789',
    'a risk-assessment-of-the-whole-plan, and the task-0123456789abcdefghij',
    'the secret of good coffee: fresh beans',
    'fetch_customer_data_for_the_support_agent',
    '{"cookie_consent":true}',
  ])('%s', (text) => {
    expect(redact(text, 'text')).toBe(text)
  })
})

test.each([
  'apiKey',
  'OPENAI_API_KEY',
  'x-api-key',
  'dbPassword',
  'http.request.header.authorization',
  'Set-Cookie',
  'token',
])('%s holds a secret', (key) => {
  expect(isSecretKey(key)).toBe(true)
})

test.each(['tokens', 'max_tokens', 'author', 'monkey', 'keyword', 'name', 'next_page_token'])(
  '%s holds none',
  (key) => {
    expect(isSecretKey(key)).toBe(false)
  },
)

describe('rules of the user', () => {
  test('a name masks what is recorded under it, however it is written', () => {
    const redactor = createRedactor(['ssn', 'customer_name'])
    expect(['SSN', 's_s_n', 'customerName', 'name'].map(redactor.isSecretKey)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('a regular expression masks all that it matches', () => {
    expect(createRedactor([/\bINV-\d+/]).text('INV-1 and INV-2', 'text')).toBe('[redacted] and [redacted]')
  })

  test('a function has the last word, and knows the key', () => {
    const redactor = createRedactor([(text, key) => (key === 'email' ? 'someone' : text.toUpperCase())])
    expect([redactor.text('a@b.c', 'email'), redactor.text('key sk-aaaaaaaaaaaaaaaaaaaa', 'note')]).toEqual([
      'someone',
      'KEY [REDACTED]',
    ])
  })

  test('a function that fails hides everything', () => {
    const failing = createRedactor([
      () => {
        throw new Error('a bug')
      },
    ])
    expect(failing.text('anything', 'note')).toBe('[redacted]')
  })
})
