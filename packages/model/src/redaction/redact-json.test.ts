import { expect, test } from 'vitest'
import { createRedactor } from './redact.ts'
import { redactJson, redactJsonText } from './redact-json.ts'

const redactor = createRedactor([])
// Made of two pieces, so that no scanner takes it for a real one.
const key = `sk-${'a1B2c3D4'.repeat(6)}`

test('secrets are masked as values, below secret keys, and where they are keys or numbers themselves', () => {
  expect(
    redactJson(
      {
        text: `key ${key}`,
        password: 'hunter2hunter2',
        owners: { [key]: 'Ada' },
        card: 4111111111111111,
        n: 42,
      },
      redactor,
    ),
  ).toEqual({
    text: 'key [redacted]',
    password: '[redacted]',
    owners: { '[redacted]': 'Ada' },
    card: '[redacted]',
    n: 42,
  })
})

test('JSON in text is masked as the value that it holds, also where characters are escaped', () => {
  const escaped = `{"note":"\\u0061 ${key.replace('s', '\\u0073')}"}`
  expect(redactJsonText(escaped, (value) => redactJson(value, redactor))).toBe('{"note":"a [redacted]"}')
  expect(redactJsonText('{ "n": 42 }', (value) => redactJson(value, redactor))).toBe('{ "n": 42 }')
})
