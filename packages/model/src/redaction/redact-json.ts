import { parseJson } from '../json/json-text.ts'
import type { Redactor } from './redact.ts'
import { REDACTED } from './secret-keys.ts'

/** Nothing that is recorded is deeper. */
const MAX_DEPTH = 100

/** Masks secrets in every text of a value, and everything below a secret key. */
export function redactJson(value: unknown, redactor: Redactor, key = ''): unknown {
  return redact(value, { redactor, isKeyed: true, isResponse: false }, { key, depth: 0 })
}

/** Masks secrets in every text of a value; its keys are fixed words, such as `token` in log probabilities. */
export function redactTexts(value: unknown, redactor: Redactor, key = ''): unknown {
  return redact(value, { redactor, isKeyed: false, isResponse: false }, { key, depth: 0 })
}

/**
 * Masks secrets in a provider's response: keys count only inside the arguments of tool calls, and what the provider
 * has signed stays as it is.
 */
export function redactResponse(value: unknown, redactor: Redactor): unknown {
  return redact(value, { redactor, isKeyed: false, isResponse: true }, { key: '', depth: 0 })
}

type Rules = { redactor: Redactor; isKeyed: boolean; isResponse: boolean }

function redact(value: unknown, rules: Rules, { key, depth }: { key: string; depth: number }): unknown {
  const { redactor, isKeyed, isResponse } = rules
  if (typeof value === 'string') return redactor.text(value, key)
  if (typeof value === 'number') return redactNumber(value, redactor, key)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return REDACTED
  if (Array.isArray(value)) return value.map((item) => redact(item, rules, { key, depth: depth + 1 }))
  const entries = Object.entries(value).map(([name, item]: [string, unknown]) => {
    if (isResponse && isOpaque(name, item)) return [name, item]
    if (isKeyed && needsRedaction(item) && redactor.isSecretKey(name)) return [name, REDACTED]
    const inner =
      isResponse && argumentFields.has(name) ? { ...rules, isKeyed: true, isResponse: false } : rules
    // A key may be data too, such as a token that points to its owner.
    return [redactor.text(name, ''), redact(item, inner, { key: name, depth: depth + 1 })]
  })
  return Object.fromEntries(entries)
}

/** The number of a card may be a number. */
function redactNumber(value: number, redactor: Redactor, key: string): unknown {
  const text = String(value)
  const redacted = redactor.text(text, key)
  return redacted === text ? value : redacted
}

/** An empty secret may be shown. */
function needsRedaction(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && typeof value !== 'boolean'
}

/** Where the providers have the arguments of tool calls. */
const argumentFields: ReadonlySet<string> = new Set(['input', 'args', 'arguments'])

/** Signed by the provider, which refuses them in the next request if a character is changed. */
const opaqueFields: ReadonlySet<string> = new Set([
  'signature',
  'data',
  'encrypted_content',
  'thoughtSignature',
])

function isOpaque(name: string, value: unknown): boolean {
  return opaqueFields.has(name) && typeof value === 'string' && /^[A-Za-z0-9+/_=-]*$/.test(value)
}

/** A text that may be JSON: redacted as the value that it holds, and unchanged if there is nothing to mask. */
export function redactJsonText(text: string, redactValue: (value: unknown) => unknown): string {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return String(redactValue(text))
  const redacted = JSON.stringify(redactValue(value))
  return redacted === JSON.stringify(value) ? text : redacted
}
