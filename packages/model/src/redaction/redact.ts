import { createNamedMask } from './named-secrets.ts'
import { createKeyTest, normalizeKey, REDACTED } from './secret-keys.ts'
import { maskSecrets } from './secret-patterns.ts'

/**
 * A custom redaction rule.
 * - a string: the name of a key or argument, in any case style (`"ssn"` also masks `SSN` and `s_s_n`)
 * - a regular expression: masks its matches in any recorded text
 * - a function: returns the text to keep; `key` is the attribute or argument that holds it
 */
export type RedactRule = string | RegExp | ((text: string, key: string) => string)

export type Redactor = {
  /** Masks secrets in a text. `key` is the name that it was recorded under. */
  text(text: string, key: string): string
  /** True when every value under this key is secret. */
  isSecretKey: (key: string) => boolean
}

/**
 * Creates a redactor for API keys, tokens, private keys and card numbers. The rules run after the built-in patterns.
 */
export function createRedactor(rules: readonly RedactRule[] = []): Redactor {
  const names = rules.filter((rule) => typeof rule === 'string')
  const isSecretKey = createKeyTest(names)
  const own = rules.filter((rule) => typeof rule !== 'string').map(toReplacement)
  if (names.length > 0) own.unshift(createNamedMask(names.map(normalizeKey)))
  if (own.length === 0) return { text: maskSecrets, isSecretKey }
  return {
    isSecretKey,
    text(text, key) {
      let kept = maskSecrets(text)
      for (const replace of own) kept = replace(kept, key)
      return kept
    },
  }
}

function toReplacement(rule: Exclude<RedactRule, string>): (text: string, key: string) => string {
  if (typeof rule === 'function') return (text, key) => applyRule(rule, text, key)
  const pattern = new RegExp(rule.source, `${rule.flags.replaceAll(/[gy]/g, '')}g`)
  const mask = (text: string) => text.replace(pattern, REDACTED)
  return (text) => maskEscaped(mask(text), mask)
}

/** Applies a rule to each string inside JSON as well, since rules are written for unescaped text. */
function maskEscaped(text: string, mask: (text: string) => string): string {
  if (!/^\s*["[{]/.test(text) || !text.includes('\\')) return text
  try {
    let isChanged = false
    const masked: unknown = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== 'string') return value
      const kept = maskEscaped(mask(value), mask)
      isChanged ||= kept !== value
      return kept
    })
    return isChanged ? JSON.stringify(masked) : text
  } catch {
    return text
  }
}

/** A rule that throws masks the whole text, since what it should hide is unknown. */
function applyRule(rule: (text: string, key: string) => string, text: string, key: string): string {
  try {
    const kept = rule(text, key)
    return typeof kept === 'string' ? kept : REDACTED
  } catch {
    return REDACTED
  }
}
