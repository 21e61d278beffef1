import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const { text: redact, isSecretKey } = createRedactor()

describe('secrets are masked, and nothing around them', () => {
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
    ['a Groq key', `gsk_${'aB3'.repeat(17)}`, '[redacted]'],
    ['a Tavily key', `tvly-dev-${'aB3'.repeat(10)}`, '[redacted]'],
    ['a Google token', `ya29.${'aB3'.repeat(30)}`, '[redacted]'],
    ['an encrypted JWT', 'eyJhbGciOiJkaXIifQ..abcdefghijkl.abcdefghijkl.abcdefghijklmnop', '[redacted]'],
    [
      'a PGP key',
      '-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIE\n-----END PGP PRIVATE KEY BLOCK-----',
      '[redacted]',
    ],
    [
      'a cut private key in JSON',
      '{"a":"-----BEGIN PRIVATE KEY-----\\nMI","b":1}',
      '{"a":"[redacted]","b":1}',
    ],
    ['a key that begins a line of JSON', '{"a":"b\\nghp_0123456789abcdefghij"}', '{"a":"b\\n[redacted]"}'],
    ['a key after an escape of Python', '"gr\\u00fcsk-Ab12Cd34Ef56Gh78"', '"gr\\u00fc[redacted]"'],
    ['a card that ends a sentence', 'It is 4111 1111 1111 1111.', 'It is [redacted].'],
    ['a card and its date', '4111 1111 1111 1111 12/27 123', '[redacted] 12/27 123'],
    ['a card after another number', 'order 42 5555555555554444', 'order 42 [redacted]'],
    ['a card with other blanks', '4111\u00a01111\u00a01111\u00a01111', '[redacted]'],
    ['an American Express card', '3782 822463 10005', '[redacted]'],
    ['a card that is a number', '{"card":4111111111111111}', '{"card":"[redacted]"}'],
    ['a shouted bearer token', 'BEARER abcdefghijklmnop1234', 'BEARER [redacted]'],
    ['a password with an @ in a URL', 'mysql://ada:p@ss@db/app', 'mysql://ada:[redacted]@db/app'],
    ['a URL of PHP', '"mysql:\\/\\/ada:s3cret@db"', '"mysql:\\/\\/ada:[redacted]@db"'],
    ['settings in JSON', '"PORT=1\\nDB_PASSWORD=hunter2\\nA=1"', '"PORT=1\\nDB_PASSWORD=[redacted]\\nA=1"'],
    ['quoted settings', `API_KEY="a b" SECRET='c d'`, `API_KEY="[redacted]" SECRET='[redacted]'`],
    ['settings with blanks', 'aws_secret_access_key = wJal1/K7+x', 'aws_secret_access_key = [redacted]'],
    ['YAML', 'db:\n  password: hunter2\n  port: 1', 'db:\n  password: [redacted]\n  port: 1'],
    ['a printed object', `{ apiKey: 'abc', n: 1 }`, `{ apiKey: '[redacted]', n: 1 }`],
    ['a printed dictionary', `{'password': 'abc', 'n': 1}`, `{'password': '[redacted]', 'n': 1}`],
    ['an argument in code', 'connect(api_key=abc, n=1)', 'connect(api_key=[redacted], n=1)'],
    ['a key that is only a key', '{"token":"abc","pwd":"d"}', '{"token":"[redacted]","pwd":"[redacted]"}'],
    ['a number under such a key', '{"cvv":123,"n":1}', '{"cvv":"[redacted]","n":1}'],
    ['a list of cookies', '{"set-cookie":["a=b","c=d"]}', '{"set-cookie":["[redacted]","[redacted]"]}'],
    ['headers in pairs', '["cookie","a=b"]', '["cookie","[redacted]"]'],
    ['a password that was cut', '{"password":"abc', '{"password":"[redacted]'],
    [
      'a quote inside a secret in JSON in JSON',
      String.raw`{\"password\":\"a\\\"b\",\"n\":1}`,
      String.raw`{\"password\":\"[redacted]\",\"n\":1}`,
    ],
  ])('%s', (_, text, expected) => {
    expect(redact(text, 'text')).toBe(expected)
    // Recordings and cassettes are masked again when they are copied, and compared with what is masked once.
    expect(redact(expected, 'text')).toBe(expected)
  })
})

describe('text without secrets stays unchanged', () => {
  test.each([
    'I was charged twice for my subscription',
    '{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"max_tokens":100}',
    'order 4111111111111112 of 2026-11-15T10:00:00.000Z',
    '1716239022123456789',
    'a risk-assessment-of-the-whole-plan, and the task-0123456789abcdefghij',
    'the secret of good coffee: fresh beans',
    'fetch_customer_data_for_the_support_agent',
    '{"cookie_consent":true}',
    'sk-learn, sk-fading-circle-wrapper',
    'const apiKey = process.env.OPENAI_API_KEY_2, password = readPassword(1)',
    'if (password === undefined || apiKey == key2) return',
    'Password: must have 8 characters. Basic understanding-of-everything',
    '{"password":{"type":"string","description":"at least 8"},"token":null,"secret":true}',
    'trace 4f4111111111111111ab, 0.4111111111111111, 4111111111111111.5',
    'http://localhost:4318/?mail=ada@example.com',
    'eyJ-eyJ-eyJ',
    '{"required":["authorization","body"]}',
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

const hostileParts = [
  'eyJ-',
  'eyJaaaaaaaa.',
  '\\\\',
  'sk-',
  '4 ',
  '4111 1111 1111 1112 ',
  '-----BEGIN PRIVATE KEY-----"',
  'password:',
  '"password":"',
  '\\"password\\":\\"',
  '"password":["a",',
  'password = ',
  '"token":\'"',
  '://a:',
]

// A search whose cost grows with the square of the length takes minutes here, and fails by the timeout.
test.each(hostileParts)(
  'a million characters of %j do not keep the secret behind them from being masked',
  (part) => {
    const secret = 'sk-proj-Ab12Cd34Ef56Gh78Ij90'
    const redacted = redact(`${part.repeat(1_000_000 / part.length)}\n\n${secret}`, 'text')
    expect(redacted).toMatch(/\[redacted\]$/)
    expect(redacted).not.toContain(secret)
  },
)

describe('custom rules', () => {
  test('a name also masks values inside JSON', () => {
    const redactor = createRedactor(['ssn', 'customer_name'])
    const text = String.raw`It said {"ssn":"1 2","n":1} and {\"customerName\":\"Ada\"}`
    expect(redactor.text(text, 'text')).toBe(
      String.raw`It said {"ssn":"[redacted]","n":1} and {\"customerName\":\"[redacted]\"}`,
    )
  })

  test('a regular expression finds a word that begins a line of a text in JSON', () => {
    const redactor = createRedactor([/\bINV-\d+\b/])
    const text = JSON.stringify({ a: 'one\nINV-1', b: JSON.stringify({ c: '\tINV-2' }), n: 1 })
    expect(redactor.text(text, 'text')).toBe(
      JSON.stringify({ a: 'one\n[redacted]', b: JSON.stringify({ c: '\t[redacted]' }), n: 1 }),
    )
  })

  test('a name masks values under that key in any case style', () => {
    const redactor = createRedactor(['ssn', 'customer_name'])
    expect(['SSN', 's_s_n', 'customerName', 'name'].map(redactor.isSecretKey)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('a regular expression masks all its matches', () => {
    expect(createRedactor([/\bINV-\d+/]).text('INV-1 and INV-2', 'text')).toBe('[redacted] and [redacted]')
  })

  test('a function runs last and gets the key', () => {
    const redactor = createRedactor([(text, key) => (key === 'email' ? 'someone' : text.toUpperCase())])
    expect([redactor.text('a@b.c', 'email'), redactor.text('key sk-aaaaaaaaaaaaaaaaaaaa', 'note')]).toEqual([
      'someone',
      'KEY [REDACTED]',
    ])
  })

  test('a function that throws masks the whole text', () => {
    const failing = createRedactor([
      () => {
        throw new Error('a bug')
      },
    ])
    expect(failing.text('anything', 'note')).toBe('[redacted]')
  })
})
